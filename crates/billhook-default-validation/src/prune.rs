//! Pruning of the defaults themselves, when a version is loaded for serving (DF-30 to DF-33).

use billhook_apimachinery::metadata::Invalid;
use billhook_pruning::{coerce, prune};
use billhook_schema::{CompiledSchema, Edge, NodeRef, RESOURCE_FIELDS, SchemaStep};
use serde_json::{Map, Value};

/// A default that makes a definition unservable (DF-30, DF-31); prints the server's text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("failed to prune default value: {0}")]
pub struct DefaultPruningError(String);

/// Cleans every default of a schema against what a server knows of metadata and what the schema
/// specifies; a default whose place does not survive is taken away.
///
/// DF-31 cleans each default inside an object that surrounds it from the root. Around it only one
/// thing can matter: that the default lies below `metadata`, `apiVersion` or `kind` of a resource,
/// so only then the surrounding object is made, from that resource down.
pub fn prune_defaults(schema: &CompiledSchema) -> Result<CompiledSchema, DefaultPruningError> {
    if let Some(default) = schema.root_edge().default()
        && !default.is_object()
    {
        let text = "object root default value must be of object type";
        return Err(DefaultPruningError(text.to_owned()));
    }
    schema.map_defaults(|edge, default| {
        prune_default(schema, edge.node(), default).map_err(DefaultPruningError)
    })
}

/// Coerces, dropping what is invalid, and prunes a value that belongs to a node (DF-31, steps 2
/// and 3).
fn clean(node: NodeRef<'_>, is_resource: bool, value: &mut Value) -> Result<(), String> {
    coerce(node, is_resource, Invalid::Drop, value, &mut ()).map_err(|error| error.to_string())?;
    prune(node, value, &mut ());
    Ok(())
}

fn prune_default(
    schema: &CompiledSchema,
    place: NodeRef<'_>,
    mut default: Value,
) -> Result<Option<Value>, String> {
    let steps = match place.may_be_in_resource_field() {
        true => place.steps(),
        false => place.last_step().into_iter().collect(),
    };
    let in_resource_field = steps.iter().position(|&(node, step)| {
        let is_root = node.id() == schema.root().id();
        let is_resource = node.is_embedded_resource() || is_root && schema.is_resource_root();
        is_resource && matches!(step, SchemaStep::Property(name) if RESOURCE_FIELDS.contains(&name))
    });
    let Some(outermost) = in_resource_field else {
        let is_root = place.id() == schema.root().id();
        let node = node_at(&steps).unwrap_or(place);
        clean(node, is_root && schema.is_resource_root(), &mut default)?;
        return Ok(Some(default));
    };
    let inner = steps.get(outermost..).unwrap_or_default();
    let mut surrounding = inner.iter().rev().fold(default, |value, (_, step)| wrap(step, value));
    if let Some((resource, _)) = inner.first() {
        clean(*resource, true, &mut surrounding)?;
    }
    inner.iter().try_fold(Some(surrounding), |value, (_, step)| match value {
        Some(value) => unwrap(step, value),
        None => Ok(None),
    })
}

/// The node that steps lead to; none if there are no steps. A default for members that are not
/// listed is cleaned as the member `*`, which may be listed, and of which `apiVersion`, `kind` and
/// `metadata` of a resource have a node of their own.
fn node_at<'s>(steps: &[(NodeRef<'s>, SchemaStep<'s>)]) -> Option<NodeRef<'s>> {
    let &(top, _) = steps.first()?;
    Some(steps.iter().fold(top, |node, (_, step)| match member(step) {
        Some(name) => node.member(name).map_or(node, Edge::node),
        None => node.items().node(),
    }))
}

/// The member that a step leads into; none for elements.
fn member<'s>(step: &SchemaStep<'s>) -> Option<&'s str> {
    match step {
        SchemaStep::Property(name) => Some(name),
        SchemaStep::AdditionalProperties => Some("*"),
        SchemaStep::Items => None,
    }
}

fn wrap(step: &SchemaStep<'_>, value: Value) -> Value {
    match member(step) {
        Some(name) => Value::Object(Map::from_iter([(name.to_owned(), value)])),
        None => Value::Array(vec![value]),
    }
}

fn unwrap(step: &SchemaStep<'_>, value: Value) -> Result<Option<Value>, String> {
    match (member(step), value) {
        (Some(name), Value::Object(mut members)) => Ok(members.remove(name)),
        (Some(name), _) => Err(format!(".{name} must be of object type")),
        (None, Value::Array(items)) => Ok(items.into_iter().next()),
        (None, _) => Err("[] must be of array type".to_owned()),
    }
}
