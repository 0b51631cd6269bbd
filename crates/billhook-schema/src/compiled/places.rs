//! The parts of a schema below others, and the places that have defaults, which can be replaced.

use std::sync::Arc;

use billhook_apimachinery::value::{DeepValue, deep_clone, footprint};
use serde_json::Value;

use super::{
    Arena, CompiledSchema, Default, Edge, FIRST_REAL_NODE, Flags, NO_DEFAULT, NodeId, NodeRef,
    Step, Target, Unlisted,
};
use crate::props::JsonSchemaProps;

/// One step down in a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaStep<'s> {
    /// Into the listed member of this name.
    Property(&'s str),
    /// Into a member that is not listed.
    AdditionalProperties,
    /// Into the elements.
    Items,
}

impl<'s> NodeRef<'s> {
    /// Returns whether the node may lie below `apiVersion`, `kind` or `metadata` of a resource;
    /// false only when it surely doesn't.
    pub fn may_be_in_resource_field(self) -> bool {
        self.node.flags.has(Flags::WHOLE)
    }

    /// Returns the step to the node, and the node it starts from.
    pub fn last_step(self) -> Option<(NodeRef<'s>, SchemaStep<'s>)> {
        let arena = self.arena;
        let step = match self.node.step {
            Step::Top => return None,
            Step::Property(property) => SchemaStep::Property(arena.name(arena.property(property))),
            Step::AdditionalProperties => SchemaStep::AdditionalProperties,
            Step::Items => SchemaStep::Items,
        };
        Some((arena.node(self.node.parent), step))
    }

    /// Returns the steps that lead to the node, outermost first, each with the node it starts from.
    pub fn steps(self) -> Vec<(NodeRef<'s>, SchemaStep<'s>)> {
        let last = self.last_step();
        let mut steps: Vec<_> =
            std::iter::successors(last, |(parent, _)| parent.last_step()).collect();
        steps.reverse();
        steps
    }

    /// Returns the parts of a schema directly below the one that this node was compiled from, with the ids
    /// of their nodes; those under junctors are the [`NodeRef::branches`].
    pub fn children(
        self,
        schema: &JsonSchemaProps,
    ) -> impl Iterator<Item = (SchemaStep<'_>, &JsonSchemaProps, NodeId)> {
        let additional = match self.unlisted() {
            Unlisted::Descend(edge) => schema.additional_schema().zip(Some(edge)),
            _ => None,
        };
        let additional =
            additional.map(|(part, edge)| (SchemaStep::AdditionalProperties, part, edge));
        let properties = schema.properties.iter().flatten().filter_map(move |(name, part)| {
            let property = self.property(name).filter(|property| property.is_listed())?;
            Some((SchemaStep::Property(name), part.as_ref(), property.edge()))
        });
        let items = schema.items_schema().map(|part| (SchemaStep::Items, part, self.items()));
        let all = additional.into_iter().chain(properties).chain(items);
        all.map(|(step, part, edge)| (step, part, edge.node_id()))
    }
}

impl CompiledSchema {
    /// Returns the edges to all places with a default but the top, whose default is never applied
    /// (DF-24).
    pub fn default_places(&self) -> impl Iterator<Item = Edge<'_>> {
        let arena = &*self.0;
        let properties = arena.properties.iter().map(|property| &property.target);
        let below = arena.nodes.iter().flat_map(|node| {
            let unlisted = match &node.unlisted {
                Unlisted::Descend(target) => Some(target),
                _ => None,
            };
            unlisted.into_iter().chain([&node.items])
        });
        properties
            .chain(below)
            .filter(|target| target.has_default())
            .map(move |target| Edge { arena, target })
    }

    /// Returns the same schema with each default, that of the top included, replaced by the result
    /// of `replace`; `None` removes the default.
    ///
    /// # Errors
    ///
    /// Returns the first error of `replace`.
    pub fn map_defaults<E>(
        &self,
        mut replace: impl FnMut(Edge<'_>, Value) -> Result<Option<Value>, E>,
    ) -> Result<CompiledSchema, E> {
        let mut changed: Option<Arena> = None;
        let mut removed = Vec::new();
        let top = Some(self.root_edge()).filter(|edge| edge.target.has_default());
        for edge in top.into_iter().chain(self.default_places()) {
            let id = edge.target.default;
            let Some(old) = self.0.defaults.get(id as usize) else { continue };
            let new = replace(edge, deep_clone(&old.value))?.map(DeepValue::from);
            if new.as_ref() == Some(&old.value) {
                continue;
            }
            let arena = changed.get_or_insert_with(|| Arena::clone(&self.0));
            match new {
                Some(value) => {
                    let size = footprint(&value);
                    if let Some(default) = arena.defaults.get_mut(id as usize) {
                        *default = Default { value, size };
                    }
                }
                None => removed.push(id),
            }
        }
        let Some(mut arena) = changed else { return Ok(self.clone()) };
        if !removed.is_empty() {
            removed.sort_unstable();
            arena.remove_defaults(&removed);
        }
        Ok(CompiledSchema(Arc::new(arena)))
    }
}

impl Arena {
    /// Removes defaults. A null that had one can be removed from now on, so the flag that promises
    /// otherwise is cleared everywhere; this only costs speed.
    fn remove_defaults(&mut self, removed: &[u32]) {
        let Arena { nodes, properties, .. } = self;
        let clear = |target: &mut Target| {
            if removed.binary_search(&target.default).is_ok() {
                target.default = NO_DEFAULT;
            }
        };
        properties.iter_mut().for_each(|property| clear(&mut property.target));
        for node in nodes.iter_mut().skip(FIRST_REAL_NODE) {
            node.flags.0 |= Flags::CAN_REMOVE_NULL;
            clear(&mut node.items);
            if let Unlisted::Descend(target) = &mut node.unlisted {
                clear(target);
            }
        }
    }
}
