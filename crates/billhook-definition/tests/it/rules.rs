//! Rules in CEL in definitions: which are compiled, what they may cost, and whether defaults obey
//! them.

use billhook_definition::Definition;
use billhook_testing::definitions::with_schema;
use serde_json::{Value, json};

use crate::support::{create, errors};

/// CV-75: which rules are compiled.
#[test]
fn rules_are_compiled_where_nothing_else_is_wrong() {
    let rule = json!([{"rule": "true"}, {"rule": "1"}]);
    let schema = json!({"type": "object", "x-kubernetes-validations": rule, "properties": {
        "a": {"type": "string", "x-kubernetes-validations": rule},
    }});
    let root = "spec.validation.openAPIV3Schema";
    let rule = "Invalid value: {\"Rule\":\"1\",\"Message\":\"\",\"MessageExpression\":\"\",\"Reason\":null,\"FieldPath\":\"\",\"OptionalOldSelf\":null}: cel expression must evaluate to a bool";
    let below = format!("{root}.properties[a].x-kubernetes-validations[1].rule: {rule}");
    let at_root = format!("{root}.x-kubernetes-validations[1].rule: {rule}");
    assert_eq!(errors(&create(&with_schema(schema.clone()))), [&*below, &*at_root]);
    // Not at and above an error, and none in a schema that is not structural.
    let mut wrong = schema.clone();
    wrong["properties"]["b"] = json!({"type": "string", "uniqueItems": true});
    let found = errors(&create(&with_schema(wrong)));
    assert_eq!((found.len(), found.contains(&below)), (2, true), "{found:#?}");
    let mut wrong = schema;
    wrong["properties"]["b"] = json!({});
    let found = errors(&create(&with_schema(wrong)));
    assert!(found.iter().all(|error| !error.contains("bool")), "{found:#?}");
}

/// DF-45.
#[test]
fn defaults_obey_the_rules() {
    let root = "spec.validation.openAPIV3Schema";
    let check = |property: Value, expected: &[&str]| {
        let schema = json!({"type": "object", "properties": {"a": property}});
        let expected: Vec<_> = expected.iter().map(|error| format!("{root}.{error}")).collect();
        assert_eq!(errors(&create(&with_schema(schema.clone()))), expected, "{schema}");
    };
    let integer = |default: i64, rule: Value| json!({"type": "integer", "default": default, "x-kubernetes-validations": [rule]});
    check(integer(3, json!({"rule": "self > 2"})), &[]);
    check(
        integer(2, json!({"rule": "self > 2"})),
        &["properties[a].default: Invalid value: 2: failed rule: self > 2"],
    );
    // The default is its own old value, and then it has none.
    check(
        integer(2, json!({"rule": "self > oldSelf"})),
        &["properties[a].default: Invalid value: 2: failed rule: self > oldSelf"],
    );
    check(integer(2, json!({"rule": "self >= oldSelf"})), &[]);
    check(
        integer(2, json!({"rule": "oldSelf.hasValue()", "optionalOldSelf": true})),
        &["properties[a].default: Invalid value: 2: failed rule: oldSelf.hasValue()"],
    );
    // Rules below the node count, those above do not.
    let element = json!({"type": "integer", "x-kubernetes-validations": [{"rule": "self > 2"}]});
    check(
        json!({"type": "array", "maxItems": 9, "items": element, "default": [5, 1]}),
        &["properties[a].default[1]: Invalid value: 1: failed rule: self > 2"],
    );
    check(
        json!({
            "type": "object",
            "properties": {"b": {"type": "integer", "default": 1}},
            "x-kubernetes-validations": [{"rule": "self.b > 2"}],
        }),
        &[],
    );
    // An element has steps without a name.
    let elements =
        json!({"type": "object", "properties": {"c": integer(0, json!({"rule": "self > 2"}))}});
    check(
        json!({"type": "array", "maxItems": 9, "items": elements}),
        &["properties[a].items.properties[c].default: Invalid value: 0: failed rule: self > 2"],
    );
}

/// CV-91: the limit of one expression does not hold for versions that have not changed, the limit
/// of all does.
#[test]
fn unchanged_versions_may_stay_expensive() {
    let text = |most: u64| {
        let rule = json!([{"rule": "self.all(x, x.contains(x))"}]);
        json!({
            "type": "array",
            "maxItems": most,
            "items": {"type": "string", "maxLength": 100},
            "x-kubernetes-validations": rule,
        })
    };
    // 1600 and a few for each element.
    let definition = |most: u64, title: &str| {
        let properties = json!({"a": text(most)});
        with_schema(json!({"type": "object", "title": title, "properties": properties}))
    };
    let details = |new: &Value, old: &Value| -> Vec<String> {
        let manifest = |value| Definition::from_value(value).unwrap();
        let validation = manifest(new).validate_update(&manifest(old));
        let detail = |error: &billhook_apimachinery::FieldError| {
            error.detail().split(" by factor").next().unwrap().to_owned()
        };
        validation.errors().iter().map(detail).collect()
    };
    let each = "estimated rule cost exceeds budget".to_owned();
    let part = "contributed to estimated rule cost total exceeding cost limit for entire \
                OpenAPIv3 schema"
        .to_owned();
    let all = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema \
               exceeds budget"
        .to_owned();
    let expensive = definition(10_000, "");
    assert_eq!(details(&expensive, &expensive), Vec::<String>::new());
    assert_eq!(details(&definition(10_000, "t"), &expensive), std::slice::from_ref(&each));
    assert_eq!(details(&expensive, &definition(1, "")), std::slice::from_ref(&each));
    let worse = definition(100_000, "");
    assert_eq!(details(&worse, &worse), [part.clone(), all.clone()]);
    assert_eq!(details(&worse, &expensive), [each, part, all]);
}
