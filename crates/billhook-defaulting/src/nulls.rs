//! Removal of nulls from fields that are not nullable and have no default (DF-10 to DF-16).

use billhook_apimachinery::value::grow;
use billhook_apimachinery::{Change, ChangeKind, Dialect, FieldPath, Location, Reason};
use billhook_schema::{CompiledSchema, NodeRef};
use serde_json::Value;

/// Removes the nulls that a server removes before it applies defaults. In the KEP dialect nulls
/// stay (KD-20).
pub fn remove_nulls(schema: &CompiledSchema, value: &mut Value) {
    if schema.dialect() != Dialect::Kep {
        walk(schema.root(), value, &Location::TOP, &mut |_, _| {});
    }
}

/// [`remove_nulls`] for a value that belongs to some node of a schema.
pub fn remove_nulls_node(node: NodeRef<'_>, value: &mut Value) {
    if node.dialect() != Dialect::Kep {
        walk(node, value, &Location::TOP, &mut |_, _| {});
    }
}

/// [`remove_nulls`] with the removed fields listed, in the order of the walk.
pub fn remove_nulls_reporting(schema: &CompiledSchema, value: &mut Value) -> Vec<Change> {
    let mut changes = Vec::new();
    if schema.dialect() != Dialect::Kep {
        walk(schema.root(), value, &Location::TOP, &mut |at, node| {
            changes.push(null_change(at.to_path(), node));
        });
    }
    changes
}

/// Returns the change that the removal of a null is, for other walks that remove nulls; `node` is
/// that of the field.
pub fn null_change(path: FieldPath, node: NodeRef<'_>) -> Change {
    Change::new(
        ChangeKind::NullRemoved,
        path,
        (Some(Value::Null), None),
        Reason::new("DF-10", "null, but the field is not nullable and has no default"),
        node.kept_schema_path().unwrap_or_else(|| node.schema_path().into()),
    )
}

fn walk(
    node: NodeRef<'_>,
    value: &mut Value,
    at: &Location<'_>,
    removed: &mut impl FnMut(Location<'_>, NodeRef<'_>),
) {
    if !node.can_remove_null() {
        return;
    }
    match value {
        Value::Object(members) => grow(|| {
            members.retain(|key, member| {
                let Some(edge) = node.member(key) else { return true };
                if member.is_null() && !edge.is_nullable() && edge.default().is_none() {
                    removed(at.name(key), edge.node());
                    return false;
                }
                walk(edge.node(), member, &at.name(key), removed);
                true
            });
        }),
        Value::Array(items) => grow(|| {
            let node = node.items().node();
            for (index, item) in items.iter_mut().enumerate() {
                walk(node, item, &at.index(index), removed);
            }
        }),
        _ => {}
    }
}
