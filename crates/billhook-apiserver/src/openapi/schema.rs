//! The schemas of a kind and of its list (DT-43 to DT-45).

use billhook::{CrdVersion, DeepValue, KubernetesVersion, Names};
use billhook_apimachinery::value::grow;
use billhook_kinds::Kind;
use serde_json::{Map, Value, json};

use super::weaken::weaken;
use super::{Edition, META, common, own_kind, reference, schema_name};
use crate::edition::EDITIONS;

const CONVENTIONS: &str =
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md";

/// Adds the schemas of a version.
pub(super) fn add(version: &CrdVersion, edition: Edition, schemas: &mut Map<String, Value>) {
    let names = version.definition().names();
    let (kind, list_kind) = (names.kind.as_str(), names.list_kind.as_str());
    let own = schema_name(version, kind);
    let extend = |schema: &mut Value, kind: &str| {
        let (group, version_name) = (version.definition().group(), version.name());
        let Some(schema) = schema.as_object_mut() else { return };
        let identity = json!([{"group": group, "version": version_name, "kind": kind}]);
        schema.insert("x-kubernetes-group-version-kind".to_owned(), identity);
        let fields = version.selectable_fields().iter();
        let fields = fields.map(|path| json!({"fieldPath": path.trim_start_matches('.')}));
        let fields: Vec<Value> = fields.collect();
        if !fields.is_empty() {
            schema.insert("x-kubernetes-selectable-fields".to_owned(), fields.into());
        }
    };
    let mut schema = match own_kind(version) {
        Some(own_kind) => of_own_kind(own_kind, version, edition, schemas),
        None => of_kind(version, edition),
    };
    extend(&mut schema, kind);
    let mut list = of_list(&own, version);
    if edition == Edition::V2 {
        weaken(&mut list);
    }
    extend(&mut list, list_kind);
    schemas.insert(own, schema);
    schemas.insert(schema_name(version, list_kind), list);
}

/// The schema of a kind: that of the definition, with the fields that every object has.
fn of_kind(version: &CrdVersion, edition: Edition) -> Value {
    let written = version.open_api_v3_schema().map(DeepValue::into_inner);
    let Some(mut schema) = written.filter(|_| version.structural_errors().is_empty()) else {
        return json!({"type": "object"});
    };
    if edition == Edition::V2 {
        if is_true(&schema, "x-kubernetes-preserve-unknown-fields") {
            return json!({"type": "object"});
        }
        weaken(&mut schema);
    }
    let kubernetes = version.definition().kubernetes();
    publish(&mut schema, edition, EDITIONS.of(kubernetes).publishes_documentation);
    if let Some(schema) = schema.as_object_mut() {
        let [api_version, kind] = type_meta(kubernetes);
        set_properties(schema, api_version, kind, edition);
    }
    schema
}

/// The schema of a kind of the server's own; adds those of the types that it refers to (BK-18).
fn of_own_kind(
    kind: &Kind,
    version: &CrdVersion,
    edition: Edition,
    schemas: &mut Map<String, Value>,
) -> Value {
    let kubernetes = version.definition().kubernetes();
    let mut types = kind.open_api(kubernetes);
    if edition == Edition::V2 {
        types.values_mut().for_each(of_version_2);
    }
    let mut schema = types.remove(&kind.open_api_name()).unwrap_or_default();
    for (name, type_) in types {
        schemas.entry(name).or_insert(type_);
    }
    if let Some(schema) = schema.as_object_mut() {
        let [api_version, kind] = type_meta(kubernetes);
        set_properties(schema, api_version, kind, edition);
    }
    schema
}

/// Weakens the schema of a type, which does not list values in OpenAPI 2.
fn of_version_2(schema: &mut Value) {
    weaken(schema);
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for property in properties.values_mut().filter_map(Value::as_object_mut) {
            property.remove("enum");
        }
    }
}

fn is_true(schema: &Value, name: &str) -> bool {
    schema.get(name) == Some(&Value::Bool(true))
}

fn of_list(own: &str, version: &CrdVersion) -> Value {
    let definition = version.definition();
    let Names { plural, kind, list_kind, .. } = definition.names();
    let [api_version, kind_of_list] = type_meta(definition.kubernetes());
    json!({
        "type": "object",
        "description": format!("{list_kind} is a list of {kind}"),
        "required": ["items"],
        "properties": {
            "apiVersion": api_version,
            "kind": kind_of_list,
            "metadata": {
                "description": format!("Standard list metadata. More info: {CONVENTIONS}#types-kinds"),
                "allOf": [reference(&format!("{META}ListMeta"))],
            },
            "items": {
                "description": format!("List of {plural}. More info: {CONVENTIONS}"),
                "type": "array",
                "items": reference(own),
            },
        },
    })
}

/// The properties `apiVersion` and `kind`, as all kinds have them.
fn type_meta(kubernetes: KubernetesVersion) -> [Value; 2] {
    let of_status = format!("/schemas/{META}Status/properties");
    let properties = common(kubernetes).pointer(&of_status);
    ["apiVersion", "kind"].map(|name| {
        properties.and_then(|properties| properties.get(name)).cloned().unwrap_or_default()
    })
}

fn set_properties(
    schema: &mut Map<String, Value>,
    api_version: Value,
    kind: Value,
    edition: Edition,
) {
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    let Some(properties) = properties.as_object_mut() else { return };
    let mut metadata = json!({
        "description": format!("Standard object's metadata. More info: {CONVENTIONS}#metadata"),
        "allOf": [reference(&format!("{META}ObjectMeta"))],
    });
    if edition == Edition::V2 {
        weaken(&mut metadata);
    }
    for (name, value) in [("apiVersion", api_version), ("kind", kind), ("metadata", metadata)] {
        properties.insert(name.to_owned(), value);
    }
}

/// Changes a schema, and all in it, to the form that clients see (DT-44); the documentation that it
/// refers to is not always in it (KV-75).
fn publish(schema: &mut Value, edition: Edition, has_documentation: bool) {
    let is_int_or_string = is_true(schema, "x-kubernetes-int-or-string");
    let is_embedded = is_true(schema, "x-kubernetes-embedded-resource");
    let is_open = is_true(schema, "x-kubernetes-preserve-unknown-fields");
    let Some(schema) = schema.as_object_mut() else { return };
    grow(|| {
        for name in ["properties", "patternProperties"] {
            if let Some(Value::Object(parts)) = schema.get_mut(name) {
                parts.values_mut().for_each(|part| publish(part, edition, has_documentation));
            }
        }
        for name in ["items", "additionalProperties"] {
            if let Some(part) = schema.get_mut(name) {
                publish(part, edition, has_documentation);
            }
        }
    });
    if !has_documentation {
        for name in ["externalDocs", "example"] {
            schema.remove(name).map(DeepValue::from);
        }
    }
    if is_int_or_string && edition == Edition::V3 {
        int_or_string(schema);
    }
    if is_embedded && !(is_open && edition == Edition::V2) {
        embedded(schema, edition);
    }
}

/// Says by other means that integers and strings are allowed, unless the schema does already.
fn int_or_string(schema: &mut Map<String, Value>) {
    let any_of = json!([{"type": "integer"}, {"type": "string"}]);
    let in_all_of = schema.get("allOf").and_then(|all_of| all_of.pointer("/0/anyOf"));
    if schema.get("anyOf") == Some(&any_of) || in_all_of == Some(&any_of) {
        return;
    }
    if !schema.contains_key("anyOf") {
        schema.insert("anyOf".to_owned(), any_of);
        return;
    }
    let all_of = schema.entry("allOf").or_insert_with(|| json!([]));
    if let Some(all_of) = all_of.as_array_mut() {
        all_of.insert(0, json!({"anyOf": any_of}));
    }
}

/// Adds the fields that every object has to an object inside an object.
fn embedded(schema: &mut Map<String, Value>, edition: Edition) {
    let text = |description: String| json!({"type": "string", "description": description});
    let api_version = text(format!(
        "apiVersion defines the versioned schema of this representation of an object. More info: \
         {CONVENTIONS}#resources"
    ));
    let kind = text(format!(
        "kind is a string value representing the type of this object. In CamelCase. More info: \
         {CONVENTIONS}#types-kinds"
    ));
    set_properties(schema, api_version, kind, edition);
    let required = schema.entry("required").or_insert_with(|| json!([]));
    if let Some(required) = required.as_array_mut() {
        for name in ["kind", "apiVersion"] {
            if !required.iter().any(|known| known == name) {
                required.push(name.into());
            }
        }
    }
}
