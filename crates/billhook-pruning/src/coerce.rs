//! Coercion of embedded resources (OM-20 to OM-24).

use billhook_apimachinery::value::{deep_clone, dismantle, grow};
use billhook_apimachinery::{Change, ChangeKind, FieldError, Location, Reason};
use billhook_schema::{CompiledSchema, NodeRef, Unlisted};
use serde_json::{Map, Value};

use billhook_apimachinery::metadata::metadata_changes;
use billhook_apimachinery::metadata::{Invalid, normalize_metadata, unknown_metadata_fields};

/// The findings and changes of a reporting coercion.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Coerced {
    /// The printed paths of the unknown fields of all metadata objects, sorted (OM-23).
    pub unknown: Vec<String>,
    /// The changes, in the order of the walk.
    pub changes: Vec<Change>,
}

/// Normalizes the resource fields of all embedded resources. With `resource_root` the top value
/// itself is treated as one.
///
/// # Errors
///
/// Returns the first error; resources before it are coerced already.
pub fn coerce(
    schema: &CompiledSchema,
    resource_root: bool,
    invalid: Invalid,
    value: &mut Value,
) -> Result<(), FieldError> {
    coerce_node(schema.root(), resource_root, invalid, value)
}

/// [`coerce`] for a value that belongs to some node of a schema, such as a default.
///
/// # Errors
///
/// As for [`coerce`].
pub fn coerce_node(
    node: NodeRef<'_>,
    is_resource: bool,
    invalid: Invalid,
    value: &mut Value,
) -> Result<(), FieldError> {
    let is_resource = is_resource || node.is_embedded_resource();
    Walk { invalid, report: None }.node(node, is_resource, value, &Location::TOP)
}

/// [`coerce`] with unknown fields and changes listed.
///
/// # Errors
///
/// As for [`coerce`].
pub fn coerce_reporting(
    schema: &CompiledSchema,
    resource_root: bool,
    invalid: Invalid,
    value: &mut Value,
) -> Result<Coerced, FieldError> {
    let mut coerced = Coerced::default();
    let root = schema.root();
    let is_resource = resource_root || root.is_embedded_resource();
    let mut walk = Walk { invalid, report: Some(&mut coerced) };
    walk.node(root, is_resource, value, &Location::TOP)?;
    coerced.unknown.sort_unstable();
    Ok(coerced)
}

struct Walk<'r> {
    invalid: Invalid,
    report: Option<&'r mut Coerced>,
}

impl Walk<'_> {
    fn node(
        &mut self,
        node: NodeRef<'_>,
        is_resource: bool,
        value: &mut Value,
        at: &Location<'_>,
    ) -> Result<(), FieldError> {
        if !is_resource && !node.has_embedded_resource() {
            return Ok(());
        }
        match value {
            Value::Object(members) => grow(|| {
                if is_resource {
                    self.resource(node, members, at)?;
                }
                members.iter_mut().try_for_each(|(key, member)| match node.property(key) {
                    Some(property) if property.is_listed() => {
                        let node = property.edge().node();
                        self.node(node, node.is_embedded_resource(), member, &at.name(key))
                    }
                    _ => match node.unlisted() {
                        Unlisted::Descend(edge) => {
                            let node = edge.node();
                            self.node(node, node.is_embedded_resource(), member, &at.key(key))
                        }
                        _ => Ok(()),
                    },
                })
            }),
            Value::Array(items) => grow(|| {
                let node = node.items().node();
                items.iter_mut().enumerate().try_for_each(|(index, item)| {
                    self.node(node, node.is_embedded_resource(), item, &at.index(index))
                })
            }),
            _ => Ok(()),
        }
    }

    fn resource(
        &mut self,
        node: NodeRef<'_>,
        members: &mut Map<String, Value>,
        at: &Location<'_>,
    ) -> Result<(), FieldError> {
        for name in ["apiVersion", "kind"] {
            let Some(value) = members.get(name).filter(|value| !value.is_string()) else {
                continue;
            };
            let path = at.name(name).to_path();
            if self.invalid == Invalid::Refuse {
                return Err(FieldError::invalid(path, deep_clone(value), "must be a string"));
            }
            if let Some(report) = &mut self.report {
                let values = (Some(deep_clone(value)), None);
                let reason = Reason::new("OM-20", "not a string");
                let kind = ChangeKind::MetadataDropped;
                report.changes.push(Change::new(kind, path, values, reason, node.schema_path()));
            }
            if let Some(value) = members.remove(name) {
                dismantle(value);
            }
        }
        let Some(metadata) = members.get_mut("metadata") else { return Ok(()) };
        let at = at.name("metadata");
        let decoded =
            match (normalize_metadata(metadata, self.invalid, node.dialect()), self.invalid) {
                (Ok(decoded), _) => decoded,
                // Metadata that is not an object at all stays as it is (OM-24).
                (Err(_), Invalid::Drop) => return Ok(()),
                (Err(error), Invalid::Refuse) => {
                    let value = deep_clone(metadata);
                    return Err(FieldError::invalid(at.to_path(), value, &error.to_string()));
                }
            };
        if let Some(report) = &mut self.report {
            report.unknown.extend(unknown_metadata_fields(metadata, &at));
            let schema = node.schema_path();
            report.changes.extend(metadata_changes(metadata, &decoded, &at, &schema));
        }
        dismantle(std::mem::replace(metadata, decoded.into_inner()));
        Ok(())
    }
}
