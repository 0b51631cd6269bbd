//! Sets that were made with an older schema (SA-37).

use std::collections::BTreeSet;

use billhook_apimachinery::value::grow;

use super::managed_fields::{ManagedFields, ManagerEntry};
use super::versions::{ConversionError, Versioned, Versions};
use crate::field_set::{FieldSet, Node};
use crate::fields::Fields;
use crate::shape::{Shape, Type};

/// Adapts all sets to the current merge types. The live object must exist in the versions of all
/// entries (SA-91).
pub(super) fn adapt(
    managed: &mut ManagedFields,
    live: &Versioned<'_>,
    versions: &dyn Versions,
) -> Result<(), ConversionError> {
    let mut checked = BTreeSet::new();
    for ManagerEntry { api_version, fields, .. } in managed.0.values_mut() {
        if *api_version != live.api_version && checked.insert(&*api_version) {
            live.convert(versions, api_version)?;
        }
        if let Some(schema) = versions.merge_schema(api_version)
            && let Fields::Read(read) = fields
            && needs_adapting(schema.root(), read)
        {
            *fields = Fields::Read(adapted(schema.root(), read));
        }
    }
    Ok(())
}

/// The effect of a change of the schema on a node of a set.
enum Change<'s> {
    /// Ownership of parts becomes ownership of the whole.
    Whole,
    /// Nothing here, perhaps something below.
    Below(Type<'s>),
    /// Nothing.
    Nothing,
}

fn change<'s>(type_: Type<'s>, node: &Node) -> Change<'s> {
    let Some(member) = type_.step(&node.element) else { return Change::Nothing };
    let has_parts = !node.children.is_empty();
    match member.type_.first_shape() {
        Some(Shape::Map(map)) if map.is_deduced() => Change::Nothing,
        Some(Shape::Map(map)) if map.is_atomic && has_parts => Change::Whole,
        Some(Shape::List(list)) if list.is_atomic() && (has_parts || !node.is_member) => {
            Change::Whole
        }
        Some(Shape::Map(_) | Shape::List(_)) if has_parts => Change::Below(member.type_),
        _ => Change::Nothing,
    }
}

fn needs_adapting(type_: Type<'_>, set: &FieldSet) -> bool {
    set.nodes().iter().any(|node| match change(type_, node) {
        Change::Whole => true,
        Change::Below(type_) => grow(|| needs_adapting(type_, &node.children)),
        Change::Nothing => false,
    })
}

fn adapted(type_: Type<'_>, set: &FieldSet) -> FieldSet {
    let nodes = set.nodes().iter().map(|node| {
        let element = node.element.clone();
        match change(type_, node) {
            Change::Whole => Node::new(element, true, FieldSet::default()),
            Change::Below(type_) => {
                let children = grow(|| adapted(type_, &node.children));
                Node::new(element, node.is_member, children)
            }
            Change::Nothing => node.clone(),
        }
    });
    FieldSet::from_sorted(nodes.collect())
}
