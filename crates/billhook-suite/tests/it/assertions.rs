//! Assertions and their messages.

use billhook_suite::testing::{ErrorType, check_invalid, check_structural, check_valid};
use billhook_suite::{assert_invalid, assert_structural, assert_valid};
use serde_json::{Value, json};

use crate::failures::definition;

fn backup(spec: &Value) -> Value {
    json!({
        "apiVersion": "example.com/v1",
        "kind": "Backup",
        "metadata": {"name": "nightly"},
        "spec": spec,
    })
}

#[test]
fn they_hold() {
    assert_structural!(definition());
    assert_valid!(definition(), backup(&json!({"keep": 7})));
    assert_invalid!(definition(), backup(&json!({"keep": 0})), "spec.keep", Invalid);
    assert_invalid!(definition(), backup(&json!({"keep": "x"})), "spec.keep", TypeInvalid);
}

#[test]
#[should_panic(expected = "a server refuses the object:")]
fn they_panic() {
    assert_valid!(definition(), backup(&json!({"keep": 0})));
}

#[test]
fn messages_are_findings() {
    let invalid = backup(&json!({"keep": 0}));
    insta::assert_snapshot!("refused", check_valid(&definition(), &invalid).unwrap_err());
    let required = ErrorType::Required;
    let other = check_invalid(&definition(), &invalid, "spec.keep", required).unwrap_err();
    insta::assert_snapshot!("another_error", other);
    let valid = backup(&json!({"keep": 1}));
    assert_eq!(
        check_invalid(&definition(), &valid, "spec.keep", required).unwrap_err().to_string(),
        "expected FieldValueRequired at `spec.keep`, but a server accepts the object"
    );
    let mut broken = definition();
    broken["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
        ["keep"]["default"] = json!("many");
    insta::assert_snapshot!("not_structural", check_structural(&broken).unwrap_err());
    assert!(
        check_valid(&broken, &valid).unwrap_err().to_string().contains("refuses the definition")
    );
    let other = json!({"apiVersion": "example.com/v2", "kind": "Backup"});
    assert!(check_valid(&definition(), &other).unwrap_err().to_string().contains("v2"));
}
