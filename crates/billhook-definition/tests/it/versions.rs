//! Definitions for servers of other versions (KV-10, KV-30, KV-77).

use billhook_apimachinery::KubernetesVersion;
use billhook_definition::Definition;
use billhook_testing::definitions::{base, with_schema};
use serde_json::{Value, json};

use crate::support::errors;

fn read(definition: &Value, version: KubernetesVersion) -> Result<Definition, String> {
    Definition::new(definition.clone(), version).map_err(|error| error.to_string())
}

/// KV-77: the ways to values of wrong types in a schema, up to 1.34 and since.
#[test]
fn paths_of_wrong_types() {
    let wrong = json!({"type": 1});
    let table = [
        (json!({"properties": {"a": wrong}}), "properties.type", "properties.type"),
        (
            json!({"properties": {"a": {"items": {"anyOf": [wrong]}}}}),
            "properties.items",
            "properties.items.anyOf.type",
        ),
        (json!({"items": [{"items": wrong}]}), "items", "items.items.type"),
        (
            json!({"additionalProperties": {"not": wrong}}),
            "additionalProperties",
            "additionalProperties.not.type",
        ),
        (json!({"dependencies": {"a": wrong}}), "dependencies", "dependencies.type"),
    ];
    for (schema, before, since) in table {
        let mut definition = base();
        definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = schema;
        for version in KubernetesVersion::ALL {
            let path = if version < KubernetesVersion::V1_35 { before } else { since };
            let expected = format!(
                "json: cannot unmarshal number into Go struct field JSONSchemaProps.spec.versions.\
                 schema.openAPIV3Schema.{path} of type string"
            );
            let refusal = read(&definition, version).err();
            assert_eq!(refusal.as_ref(), Some(&expected), "{version}");
        }
    }
}

/// KV-10: a list of strings that is shown as a whole.
#[test]
fn keys_of_list_maps() {
    let list = json!({"type": "array", "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["a", "a"],
        "items": {"type": "object", "required": ["a"],
            "properties": {"a": {"type": "string"}}}});
    let definition = with_schema(json!({"type": "object", "properties": {"spec": list}}));
    for version in KubernetesVersion::ALL {
        let shown = match version < KubernetesVersion::V1_34 {
            true => r#"[]string{"a", "a"}"#,
            false => r#"["a","a"]"#,
        };
        let expected = format!(
            "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-list-map-keys: Invalid \
             value: {shown}: must not contain duplicate entries"
        );
        let verdict = read(&definition, version).unwrap().validate_create();
        assert_eq!(errors(&verdict), [expected], "{version}");
    }
}

/// CV-91, KV-30: a rule may use what came with the server's own version where the old definition
/// has it, at whatever place.
#[test]
fn stored_rules_may_use_more() {
    let with_rule = |name: &str, rule: &str| {
        let rules = json!([{"rule": rule}]);
        let property = json!({"type": "integer", "x-kubernetes-validations": rules});
        with_schema(json!({"type": "object", "properties": {name: property}}))
    };
    let (old, new) =
        (with_rule("a", "[2, 1].sort()[0] == 1"), with_rule("b", "[2, 1].sort()[0] == 1"));
    let other = with_rule("a", "self > 0");
    for version in KubernetesVersion::ALL {
        let read = |definition| read(definition, version).unwrap();
        let is_new = version < KubernetesVersion::V1_35;
        let is_unknown = version < KubernetesVersion::V1_34;
        assert_eq!(read(&new).validate_create().errors().is_empty(), !is_new, "{version}");
        let update = |old| read(&new).validate_update(&read(old));
        assert_eq!(update(&other).errors().is_empty(), !is_new, "{version}");
        assert_eq!(update(&old).errors().is_empty(), !is_unknown, "{version}");
    }
}
