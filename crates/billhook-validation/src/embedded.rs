//! Validation of embedded resources (OM-30).

use billhook_apimachinery::metadata::validate_embedded_metadata;
use billhook_apimachinery::metadata::{Invalid, decode_metadata};
use billhook_apimachinery::names;
use billhook_apimachinery::value::{deep_clone, grow, sorted};
use billhook_apimachinery::{FieldError, Location, Wording};
use billhook_schema::{CompiledSchema, Effects, NodeRef, Unlisted};
use serde_json::{Map, Value};

/// Returns the errors in the type and the metadata of all embedded resources of an object.
/// `resource_root` tells that the object itself is to be treated as one.
pub fn validate_embedded(
    schema: &CompiledSchema,
    resource_root: bool,
    object: &Value,
) -> Vec<FieldError> {
    validate_embedded_node(schema.root(), resource_root, object, &Location::TOP)
}

/// [`validate_embedded`] for a value that belongs to some node of a schema, such as a default.
pub fn validate_embedded_node(
    node: NodeRef<'_>,
    is_resource: bool,
    value: &Value,
    at: &Location<'_>,
) -> Vec<FieldError> {
    let wording = node.wording();
    let mut errors = Vec::new();
    walk(node, is_resource || node.is_embedded_resource(), value, at, &mut errors);
    errors.into_iter().map(|error| error.worded(wording)).collect()
}

fn walk(
    node: NodeRef<'_>,
    is_resource: bool,
    value: &Value,
    at: &Location<'_>,
    errors: &mut Vec<FieldError>,
) {
    if !is_resource && !node.can(Effects::COERCE) {
        return;
    }
    match value {
        Value::Object(members) => grow(|| {
            if is_resource {
                resource(members, at, node.wording(), errors);
            }
            for (key, member) in sorted(members) {
                match node.property(key) {
                    Some(property) if property.is_listed() => {
                        let node = property.edge().node();
                        walk(node, node.is_embedded_resource(), member, &at.name(key), errors);
                    }
                    _ => {
                        if let Unlisted::Descend(edge) = node.unlisted() {
                            let node = edge.node();
                            walk(node, node.is_embedded_resource(), member, &at.key(key), errors);
                        }
                    }
                }
            }
        }),
        Value::Array(items) => grow(|| {
            let node = node.items().node();
            for (index, item) in items.iter().enumerate() {
                walk(node, node.is_embedded_resource(), item, &at.index(index), errors);
            }
        }),
        _ => {}
    }
}

fn resource(
    members: &Map<String, Value>,
    at: &Location<'_>,
    wording: &Wording,
    errors: &mut Vec<FieldError>,
) {
    type_field(members, "apiVersion", at, wording, errors, |api_version| {
        let is_valid = api_version.matches('/').count() <= 1;
        (!is_valid).then(|| format!("unexpected GroupVersion string: {api_version}"))
    });
    type_field(members, "kind", at, wording, errors, names::kind);
    let Some(metadata) = members.get("metadata") else { return };
    let at = at.name("metadata");
    match decode_metadata(metadata, Invalid::Refuse) {
        Ok(metadata) => {
            validate_embedded_metadata(&metadata, &at, wording, errors);
        }
        Err(error) => {
            let value = deep_clone(metadata);
            errors.push(FieldError::invalid(at.to_path(), value, &error.to_string()));
        }
    }
}

fn type_field(
    members: &Map<String, Value>,
    name: &str,
    at: &Location<'_>,
    wording: &Wording,
    errors: &mut Vec<FieldError>,
    problem: impl Fn(&str) -> Option<String>,
) {
    let path = || at.name(name).to_path();
    match members.get(name) {
        None => errors.push(FieldError::required(path(), wording.missing("must not be empty"))),
        Some(Value::String(text)) if text.is_empty() => {
            errors.push(FieldError::invalid(path(), "", "must not be empty"));
        }
        Some(Value::String(text)) => {
            let problem = problem(text);
            errors
                .extend(problem.map(|detail| FieldError::invalid(path(), text.as_str(), &detail)));
        }
        Some(other) => {
            errors.push(FieldError::invalid(path(), deep_clone(other), "must be a string"));
        }
    }
}
