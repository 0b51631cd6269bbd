//! Suites that are made of definitions.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use billhook_findings::{Place, Source};
use billhook_suite::{FoundDefinition, GenerateError, Plan, PlanOptions, generate};

fn definition(path: &Path) -> FoundDefinition {
    let text = std::fs::read(path).unwrap();
    let value = billhook::read_manifests(&text).unwrap().remove(0).into_value();
    let source = Arc::new(Source::new(path.to_string_lossy(), text));
    FoundDefinition::new(Place::document(source, 0), value)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn a_generated_suite() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/coverage/crd.yaml");
    insta::assert_snapshot!("generated", generate(&definition(&path), "crd.yaml").unwrap());
}

#[test]
fn generated_suites_pass() {
    let directory = std::env::temp_dir().join(format!("billhook-generated-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let crds = std::fs::read_dir(root().join("fixtures/crds")).unwrap();
    let own = root().join("crates/billhook-suite/tests/coverage/crd.yaml");
    for path in crds.map(|file| file.unwrap().path()).chain([own]) {
        let definition = definition(&path);
        let text = generate(&definition, path.to_str().unwrap()).unwrap();
        assert_eq!(text, generate(&definition, path.to_str().unwrap()).unwrap());
        let suite = directory.join("suite.yaml");
        std::fs::write(&suite, text).unwrap();
        let plan = Plan::load(&suite, &PlanOptions::default()).unwrap();
        assert!(plan.runs().len() > 3, "{}", path.display());
        for run in plan.runs() {
            run.run().unwrap_or_else(|failure| panic!("{}: {failure}", run.name()));
        }
    }
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn rules_that_nothing_keeps() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/coverage/crd.yaml");
    let text = std::fs::read_to_string(path).unwrap();
    let text = text.replace("self.end <= 24", "self.end < 0 && self.end > 0");
    let source = Arc::new(Source::new("crd.yaml", text.as_str()));
    let value = billhook::read_manifests(text.as_bytes()).unwrap().remove(0).into_value();
    let mut definition = FoundDefinition::new(Place::document(source, 0), value);
    definition.value["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["required"] =
        serde_json::json!(["spec"]);
    let error = generate(&definition, "crd.yaml").unwrap_err();
    assert!(matches!(error, GenerateError::NoValidObject(_)), "{error}");
    definition.value["spec"]["versions"][0]["served"] = false.into();
    assert_eq!(generate(&definition, "crd.yaml").unwrap_err(), GenerateError::NoVersion);
}
