//! Compiled definitions: a version with a schema, and that what is accepted can be served.

use billhook::{
    CrdOptions, CrdVersion, CustomResourceDefinition, DecodeOptions, Definition, Dialect,
    FieldValidation, Verdict,
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

/// CV-32: which of two versions an object is of would be unknown.
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

/// RP-12: a reader of the type of a body counts each `apiVersion` and `kind`, in any case.
#[test]
fn the_type_of_a_body_is_read_from_all_its_members() {
    let version = version_with(&json!({"type": "object"}), Dialect::Kubernetes, false);
    let wrong = |what: &str, name: &str| {
        format!("cannot unmarshal {what} into Go struct field .{name} of type string")
    };
    for (members, expected) in [
        (r#""apiVersion": "example.com/v1", "kind": "Foo""#, None),
        (
            r#""apiVersion": {}, "apiVersion": "example.com/v1", "kind": "Foo""#,
            Some(wrong("object", "apiVersion")),
        ),
        (
            r#""apiVersion": "example.com/v1", "kind": [], "kind": "Foo""#,
            Some(wrong("array", "kind")),
        ),
        (
            r#""apiVersion": "example.com/v1", "kind": "Foo", "Kind": 1"#,
            Some(wrong("number", "kind")),
        ),
        (
            r#""APIVersion": true, "apiVersion": "example.com/v1", "kind": "Foo""#,
            Some(wrong("bool", "apiVersion")),
        ),
        (
            r#""apiVersion": "example.com/v1", "\u212aind": 1, "kind": "Foo""#,
            Some(wrong("number", "kind")),
        ),
        (
            r#""apiVersion": "example.com/v1", "kind": "Foo", "a": 1, "a": 2, "kind": 1, "kind": "Foo""#,
            Some(wrong("number", "kind")),
        ),
        (
            r#""apiVersion": "example.com/v1", "APIVERSION": "a/b/c", "kind": "Foo""#,
            Some("unexpected GroupVersion string: a/b/c".to_owned()),
        ),
        (
            r#""apiVersion": "example.com/v1", "kind": "Foo", "Kind": "Bar", "kind": null, "kind": "Foo""#,
            None,
        ),
    ] {
        let body = format!(r#"{{{members}, "metadata": {{"name": "x"}}}}"#);
        for validation in [FieldValidation::Ignore, FieldValidation::Warn] {
            let options = DecodeOptions::default().field_validation(validation);
            let decoded = version.decode(body.as_bytes(), &options).map(|_| ());
            let text = version.decode_text(body.as_bytes(), &options).map(|_| ());
            for error in [decoded, text].map(Result::err) {
                let error = error.map(|error| error.to_string());
                match (&error, &expected) {
                    (None, None) => {}
                    (Some(error), Some(expected)) if error.contains(expected) => {}
                    _ => panic!("{body}: {error:?}"),
                }
            }
        }
    }
}
