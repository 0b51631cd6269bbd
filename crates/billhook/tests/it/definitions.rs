//! Compiled definitions: a version with a schema, and that what is accepted can be served.

use billhook::{
    CrdOptions, CrdVersion, CustomResourceDefinition, DecodeOptions, Definition, Dialect, Verdict,
};
use billhook_testing::definitions::definition;
use proptest::prelude::*;
use serde_json::{Value, json};

/// The version of a definition with the given schema.
pub(crate) fn version_with(schema: &Value, dialect: Dialect, preserve: bool) -> CrdVersion {
    let definition = billhook_testing::definition_with(schema, preserve);
    let options = CrdOptions::default().dialect(dialect);
    let crd = CustomResourceDefinition::with_options(&definition, &options).unwrap();
    crd.version("v1").unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 500,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// An accepted definition can be served.
    #[test]
    fn accepted_definitions_compile(definition in definition()) {
        if Definition::from_value(&definition).unwrap().validate_create().verdict() == Verdict::Invalid {
            return Ok(());
        }
        let crd = match CustomResourceDefinition::from_value(&definition) {
            Ok(crd) => crd,
            Err(error) => {
                // A root without a type passes the checks, but its default is of no use (DF-31).
                prop_assert!(error.to_string().contains("object root default value"), "{}", error);
                return Ok(());
            }
        };
        let version = crd.version("v1").unwrap();
        prop_assert!(version.structural_errors().is_empty());
        let body = json!({"apiVersion": "example.com/v1", "kind": "Foo"}).to_string();
        prop_assert!(version.decode(body.as_bytes(), &DecodeOptions::default()).is_ok());
    }
}

/// CV-32: it could not be told which of two versions an object is of.
#[test]
fn versions_have_names_of_their_own() {
    let mut definition = billhook_testing::definition_with(&json!({"type": "object"}), false);
    let versions = definition["spec"]["versions"].as_array_mut().unwrap();
    versions.push(versions[0].clone());
    let error = CustomResourceDefinition::from_value(&definition).unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"spec.versions: Invalid value: ["v1","v1"]: must contain unique version names"#
    );
}
