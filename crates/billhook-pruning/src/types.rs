//! The type check that KEP-2332 asks for (its proposal 3) and no server makes (KD-03).

use billhook_apimachinery::value::{deep_clone, grow};
use billhook_apimachinery::{FieldError, Location};
use billhook_schema::{CompiledSchema, Edge, NodeRef};
use serde_json::Value;

/// Checks that the JSON type of each value is the one in its schema. Null is left to validation.
/// Only [`Dialect::Kep`](billhook_apimachinery::Dialect::Kep) refuses objects by this.
///
/// # Errors
///
/// Returns an error for the first value of another type.
pub fn check_types(schema: &CompiledSchema, value: &Value) -> Result<(), FieldError> {
    walk(schema.root(), value, &Location::TOP)
}

fn walk(node: NodeRef<'_>, value: &Value, at: &Location<'_>) -> Result<(), FieldError> {
    if !node.types().admit(value) {
        let detail = format!("must be of type {}", node.types());
        return Err(FieldError::type_invalid(at.to_path(), deep_clone(value), &detail));
    }
    match value {
        Value::Object(members) => grow(|| {
            members.iter().try_for_each(|(key, member)| {
                node.member(key)
                    .map(Edge::node)
                    .map_or(Ok(()), |node| walk(node, member, &at.name(key)))
            })
        }),
        Value::Array(items) => grow(|| {
            let node = node.items().node();
            items
                .iter()
                .enumerate()
                .try_for_each(|(index, item)| walk(node, item, &at.index(index)))
        }),
        _ => Ok(()),
    }
}
