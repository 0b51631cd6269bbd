//! Parts of schemas that no object can do anything with (CC-26).

use billhook_compat::{CompareOptions, lint, missing_bounds};
use serde_json::{Value, json};

use crate::support::{definition, spec_of};

/// The lints of the field `a`, on a line each.
fn lints_of(a: &Value) -> Vec<String> {
    let found = lint(&definition(spec_of(a.clone())), &CompareOptions::default()).unwrap();
    let line = |lint: &billhook_compat::SchemaLint| {
        let path = lint.path.to_string();
        let (_, path) = path.split_once("openAPIV3Schema.").unwrap();
        let path = path.replace("properties[spec].properties[a]", "a");
        format!("{} {path}: {}", lint.code.as_str(), lint.message)
    };
    found.iter().map(line).collect()
}

#[test]
fn schemas_without_values() {
    for schema in [
        json!({"type": "string", "minLength": 3, "maxLength": 2}),
        json!({"type": "array", "minItems": 3, "maxItems": 2, "items": {"type": "string"}}),
        json!({"type": "object", "minProperties": 3, "properties": {"x": {"type": "string"}}}),
        json!({"type": "string", "pattern": "^a{3}$", "maxLength": 2}),
        json!({"type": "string", "allOf": [{"maxLength": 2}, {"minLength": 3}]}),
        json!({"type": "string", "pattern": "^a", "not": {"pattern": "a"}}),
        json!({"type": "string", "minLength": 3, "anyOf": [{"maxLength": 1}, {"maxLength": 2}]}),
    ] {
        assert_eq!(lints_of(&schema), ["unsatisfiable a: no value is valid for it"], "{schema}");
    }
}

#[test]
fn schemas_with_values() {
    for schema in [
        json!({"type": "string", "minLength": 2, "maxLength": 2, "pattern": "^a"}),
        json!({"type": "string", "nullable": true, "minLength": 3, "maxLength": 2}),
        json!({"type": "string", "enum": ["a", "b"], "maxLength": 1}),
        json!({"type": "object", "properties": {"x": {"type": "string"}, "y": {"type": "string"}},
            "oneOf": [{"required": ["x"]}, {"required": ["y"]}]}),
        json!({"type": "integer", "anyOf": [{"minimum": 3}, {"maximum": 2}]}),
        json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]}),
        json!({"type": "string", "x-kubernetes-validations": [{"rule": "self == oldSelf"},
            {"rule": "self != oldSelf"}]}),
    ] {
        assert!(lints_of(&schema).is_empty(), "{schema}");
    }
}

#[test]
fn parts_of_schemas() {
    let schema = json!({"type": "string", "enum": ["full", "incremental"], "maxLength": 5});
    assert_eq!(
        lints_of(&schema),
        [r#"unusable-entry a.enum[1]: no value can be "incremental": the schema refuses it"#]
    );
    let schema = json!({"type": "string", "minLength": 3,
        "anyOf": [{"maxLength": 2}, {"maxLength": 5}]});
    assert_eq!(
        lints_of(&schema),
        ["unusable-branch a.anyOf[0]: no value that the schema admits is valid for it"]
    );
    let schema = json!({"type": "object", "properties": {"x": {"type": "string"}},
        "x-kubernetes-validations": [{"rule": "!has(self.x) || has(self.x)"}]});
    assert_eq!(
        lints_of(&schema),
        [
            "tautology a.x-kubernetes-validations[0].rule: it is true for all values that the schema admits"
        ]
    );
    let schema = json!({"type": "integer", "x-kubernetes-validations": [
        {"rule": "self < 3"}, {"rule": "self > 5"}]});
    assert_eq!(
        lints_of(&schema),
        ["contradiction a.x-kubernetes-validations: no value keeps all of them"]
    );
}

/// The schema of a field that is named as in objects.
fn named<'d>(definition: &'d mut Value, name: &str) -> &'d mut Value {
    let mut schema = &mut definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    for step in name.replace("[*]", ".*").split('.') {
        let part = if schema["type"] == "array" { "items" } else { "additionalProperties" };
        schema = if step == "*" { &mut schema[part] } else { &mut schema["properties"][step] };
    }
    schema
}

/// The bounds that are named last: fields, keywords and numbers.
fn bounds_of(definition: &Value) -> Option<Vec<(String, String, u64)>> {
    let found = missing_bounds(definition, &CompareOptions::default()).unwrap();
    Some(bounds_in(&found.last()?.message))
}

fn bounds_in(message: &str) -> Vec<(String, String, u64)> {
    let (_, bounds) = message.split_once(" is within its budget with ").unwrap();
    let bounds = bounds.split(" and ").map(|bound| {
        let (bound, name) = bound.trim_start_matches('`').split_once("` at ").unwrap();
        let (keyword, most) = bound.split_once(": ").unwrap();
        (name.to_owned(), keyword.to_owned(), most.parse().unwrap())
    });
    bounds.collect()
}

fn is_accepted(definition: &Value) -> bool {
    let version = billhook::KubernetesVersion::default();
    let definition = billhook::Definition::new(definition.clone(), version).unwrap();
    definition.validate_create().errors().is_empty()
}

/// A server accepts the definition with the bounds, and refuses it with any that is larger by one
/// (CC-27).
#[test]
fn bounds_that_bring_rules_within_their_budgets() {
    let text = json!({"type": "string"});
    for (schema, rule, is_costly) in [
        (json!({"type": "array", "items": text}), "self.all(x, self.all(y, x == y))", true),
        (
            json!({"type": "array", "items": text, "maxItems": 10}),
            "self.all(x, self.all(y, x == y))",
            true,
        ),
        (
            json!({"type": "object", "additionalProperties": text}),
            "self.all(k, self.all(l, self[k].contains(l)))",
            true,
        ),
        (
            json!({"type": "object", "properties": {"b-c": {"type": "array", "items": {"type": "array", "items": text}}}}),
            "self.b__dash__c.all(x, x.all(y, y.contains('a')))",
            true,
        ),
        (json!({"type": "string"}), "self.contains('a')", false),
    ] {
        let mut schema = schema;
        schema["x-kubernetes-validations"] = json!([{"rule": "true"}, {"rule": rule}]);
        let old = definition(spec_of(schema));
        let bounds = bounds_of(&old).unwrap_or_default();
        assert_eq!((bounds.is_empty(), is_accepted(&old)), (!is_costly, !is_costly), "{rule}");
        let with = |more: &dyn Fn(usize) -> u64| {
            let mut new = old.clone();
            for (index, (name, keyword, most)) in bounds.iter().enumerate() {
                named(&mut new, name)[keyword.as_str()] = (most + more(index)).into();
            }
            new
        };
        assert!(is_accepted(&with(&|_| 0)), "{rule} {bounds:?}");
        for larger in 0..bounds.len() {
            assert!(!is_accepted(&with(&|index| u64::from(index == larger))), "{rule} {bounds:?}");
        }
    }
}

/// CE-25: rules of which each is within its budget, and which exceed that of all together (CC-27).
#[test]
fn bounds_that_bring_all_rules_within_their_budget() {
    let part = |most: Option<u64>| {
        let mut text = json!({"type": "string"});
        if let Some(most) = most {
            text["maxLength"] = most.into();
        }
        let list = json!({"type": "array", "maxItems": 100, "items": text});
        let mut part =
            json!({"type": "object", "properties": {"texts": list, "n": {"type": "integer"}}});
        part["x-kubernetes-validations"] = json!([{"rule": "self.texts.all(x, x.contains('abcdefghij'))"}, {"rule": "self.n > 0"}]);
        part
    };
    let of = |count: usize, most: Option<u64>| {
        let parts = (0..count).map(|number| (format!("f{number}"), part(most)));
        definition(json!({"type": "object", "properties": parts.collect::<Value>()}))
    };
    assert!(is_accepted(&of(2, Some(100))));
    for (count, most) in [(30, Some(100_000)), (3, None)] {
        let old = of(count, most);
        assert!(!is_accepted(&old));
        let found = missing_bounds(&old, &CompareOptions::default()).unwrap();
        let mut new = old.clone();
        for lint in &found {
            for (name, keyword, most) in bounds_in(&lint.message) {
                named(&mut new, &name)[keyword.as_str()] = most.into();
            }
        }
        assert!(is_accepted(&new), "{found:#?}");
        let is_about_all = found.last().unwrap().message.starts_with("the cost of all rules");
        assert_eq!(is_about_all, most.is_some(), "{found:#?}");
    }
}
