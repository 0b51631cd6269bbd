//! The wording of errors by version (KV-10 to KV-14).

use billhook_apimachinery::record::{FieldValue, Type, go_syntax};
use billhook_apimachinery::{FieldError, FieldPath, KubernetesVersion, Wording, record};
use serde_json::{Value, json};

fn wording(version: KubernetesVersion) -> &'static Wording {
    version.wording()
}

fn printed(error: &FieldError, version: KubernetesVersion) -> String {
    error.clone().worded(wording(version)).to_string()
}

fn at() -> FieldPath {
    FieldPath::default().name("a")
}

/// KV-10.
#[test]
fn values_are_shown_in_the_syntax_of_the_version() {
    for (value, go, shown) in [
        (
            json!({"b": 1, "a": []}),
            r#"map[string]interface {}{"a":[]interface {}{}, "b":1}"#,
            r#"{"a":[],"b":1}"#,
        ),
        (
            json!([1, -2.5, 1e21, "s", null, true]),
            r#"[]interface {}{1, -2.5, 1e+21, "s", interface {}(nil), true}"#,
            r#"[1,-2.5,1e+21,"s",null,true]"#,
        ),
        (Value::Null, r#""null""#, "null"),
        (json!("x"), r#""x""#, r#""x""#),
        (json!(7), "7", "7"),
        (json!(true), "true", "true"),
    ] {
        let error = FieldError::invalid(at(), value, "no");
        assert_eq!(
            printed(&error, KubernetesVersion::V1_33),
            format!("a: Invalid value: {go}: no")
        );
        let json = format!("a: Invalid value: {shown}: no");
        assert_eq!(printed(&error, KubernetesVersion::V1_34), json);
    }
}

/// KV-10; a second time nothing changes.
#[test]
fn lists_of_strings_have_a_type() {
    let error = FieldError::invalid(at(), Value::Null, "empty").of_strings();
    let expected = "a: Invalid value: []string(nil): empty";
    assert_eq!(printed(&error, KubernetesVersion::V1_32), expected);
    let twice = error.clone().worded(wording(KubernetesVersion::V1_32));
    assert_eq!(printed(&twice, KubernetesVersion::V1_32), expected);
    assert_eq!(printed(&error, KubernetesVersion::V1_36), "a: Invalid value: null: empty");
}

/// KV-11.
#[test]
fn a_limit_of_one_is_plural_on_old_servers() {
    for (error, old, new) in [
        (
            FieldError::too_many(at(), 2, 1),
            "a: Too many: 2: must have at most 1 items",
            "a: Too many: 2: must have at most 1 item",
        ),
        (
            FieldError::too_long(at(), 1),
            "a: Too long: may not be more than 1 bytes",
            "a: Too long: may not be more than 1 byte",
        ),
        (
            FieldError::too_many(at(), 3, 2),
            "a: Too many: 3: must have at most 2 items",
            "a: Too many: 3: must have at most 2 items",
        ),
    ] {
        assert_eq!(printed(&error, KubernetesVersion::V1_33), old);
        assert_eq!(printed(&error, KubernetesVersion::V1_34), new);
    }
}

/// KV-12, KV-13.
#[test]
fn old_details_repeat_what_the_path_says() {
    let (old, new) = (wording(KubernetesVersion::V1_33), wording(KubernetesVersion::V1_34));
    assert_eq!(old.about("uid", "must not be empty"), "uid must not be empty");
    assert_eq!(new.about("uid", "must not be empty"), "must not be empty");
    assert_eq!(old.missing("must not be empty"), "must not be empty");
    assert_eq!(new.missing("must not be empty"), "");
}

record! {
    #[derive(Debug, Default)]
    struct Rule = "ValidationRule" {
        rule: String = "rule" @required,
        reason: Option<String> = "reason" of "v1.FieldValueErrorReason",
        optional: Option<bool> = "optionalOldSelf",
        names: Vec<String> = "names",
        below: Option<Box<Rule>> = "below",
    }
}

/// KV-10; an address stands for each pointer that is set.
#[test]
fn records_are_shown_with_all_fields() {
    let shown = |value: &Value| go_syntax(value, <Rule as FieldValue>::TYPE, "apiextensions");
    assert_eq!(
        shown(&json!({"rule": "true"})),
        "apiextensions.ValidationRule{Rule:\"true\", \
         Reason:(*apiextensions.FieldValueErrorReason)(nil), OptionalOldSelf:(*bool)(nil), \
         Names:[]string(nil), Below:(*apiextensions.ValidationRule)(nil)}"
    );
    // The names of the fields in Go are known too.
    assert_eq!(
        shown(&json!({"Rule": "x", "OptionalOldSelf": true, "names": ["a"], "below": {}})),
        "apiextensions.ValidationRule{Rule:\"x\", \
         Reason:(*apiextensions.FieldValueErrorReason)(nil), OptionalOldSelf:(*bool)(0xc000000000), \
         Names:[]string{\"a\"}, Below:(*apiextensions.ValidationRule)(0xc000000000)}"
    );
}

/// KV-10.
#[test]
fn lists_name_the_type_of_their_elements() {
    const OPERATIONS: Type = Type::List(&Type::Named("v1.OperationType", &Type::Text));
    let shown = go_syntax(&json!(["*", "CREATE"]), OPERATIONS, "admissionregistration");
    assert_eq!(shown, r#"[]admissionregistration.OperationType{"*", "CREATE"}"#);
}
