//! The policies of `fixtures/policies`, whose suites `billhook-suite` runs.

use std::path::Path;

use billhook::{CustomResourceDefinition, KubernetesVersion};
use billhook_apimachinery::value::DeepValue;
use billhook_policy::{PolicyDocument, lint_policies_together};

/// A server accepts them, and nothing is to be said against them.
#[test]
fn examples_are_valid() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/policies");
    let entries = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    let directories: Vec<_> = entries.filter(|path| path.is_dir()).collect();
    assert!(directories.len() >= 10);
    for directory in directories {
        let name = directory.display();
        let text = std::fs::read(directory.join("policy.yaml")).unwrap();
        let (mut documents, mut definitions, mut objects) = (Vec::new(), Vec::new(), Vec::new());
        for manifest in billhook::read_manifests(&text).unwrap() {
            let value = manifest.value();
            if PolicyDocument::kind_of(value).is_some() {
                documents.push(PolicyDocument::from_value(value).unwrap());
            } else if CustomResourceDefinition::is_definition(value) {
                definitions.push(CustomResourceDefinition::from_value(value).unwrap());
            } else {
                objects.push(DeepValue::from(value.clone()));
            }
        }
        for document in &documents {
            assert_eq!(document.validate(), [], "{name}");
            let lints = document.lints_for(KubernetesVersion::default(), definitions.as_slice());
            assert_eq!(lints, [], "{name}");
        }
        assert_eq!(lint_policies_together(&documents, &objects), [], "{name}");
    }
}
