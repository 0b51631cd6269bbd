//! What an update relaxes because the old definition already violates it (CV-82 to CV-89).

use billhook_apimachinery::{FieldErrors, Location};
use billhook_schema::{CompileOptions, CompiledSchema};
use serde_json::Value;

use crate::container::structural;
use crate::lists;
use crate::model::{Container, Model};
use crate::node::{NodeOptions, nodes};
use crate::selectable;
use crate::types::SCHEMA;
use billhook_apimachinery::record::same;
use billhook_apimachinery::record::{Type, text};

/// Which checks are done.
pub(crate) struct Options<'m> {
    pub(crate) node: NodeOptions,
    /// CV-23.
    pub(crate) schemas: bool,
    /// CV-84: structural schemas are required even where nothing needs them.
    pub(crate) structural: bool,
    /// CV-85.
    pub(crate) pruned_defaults: bool,
    /// CV-89.
    pub(crate) ca_bundle: bool,
    /// CV-107: at least one known review version.
    pub(crate) known_review_version: bool,
    /// The definition that is updated.
    pub(crate) old: Option<&'m Model<'m>>,
}

impl<'m> Options<'m> {
    pub(crate) fn create() -> Self {
        Options {
            node: NodeOptions { known_types: true, atomic_sets: true, map_keys: true },
            schemas: true,
            structural: true,
            pruned_defaults: true,
            ca_bundle: false,
            known_review_version: true,
            old: None,
        }
    }

    pub(crate) fn update(old: &'m Model<'m>) -> Self {
        let any = |test: fn(&Value) -> bool| {
            old.versions.iter().filter_map(|version| version.schema).flat_map(nodes).any(test)
        };
        Options {
            node: NodeOptions {
                known_types: !any(|schema| !is_known_type(text(schema, "type"))),
                atomic_sets: !any(|schema| lists::set_item(schema, &Location::TOP).is_some()),
                map_keys: !any(|schema| {
                    let mut errors = FieldErrors::default();
                    lists::list_items(schema, &Location::TOP, &mut errors);
                    !errors.is_empty()
                }),
            },
            schemas: old.versions.iter().all(|version| version.schema.is_some()),
            structural: all_structural(old),
            pruned_defaults: all_defaults_pruned(old),
            ca_bundle: crate::conversion::checks_ca_bundle(old),
            known_review_version: crate::conversion::has_no_unknown_review_versions(old),
            old: Some(old),
        }
    }

    /// CV-91: whether all versions of a schema had it before.
    pub(crate) fn is_unchanged(&self, container: &Container<'_>) -> bool {
        let Some(old) = self.old else { return false };
        container.versions.iter().all(|name| {
            let before = old.versions.iter().find(|version| version.name == *name);
            let before = before.and_then(|version| version.schema);
            same(before, Some(container.schema), Type::OptionalRecord(&SCHEMA))
        })
    }

    /// CV-88, for the hoisted fields or those of a version.
    pub(crate) fn limits_selectable_fields(&self, fields: &[Value], version: Option<&str>) -> bool {
        let Some(old) = self.old else { return true };
        let mut before = old.versions.iter();
        let before = match version {
            Some(name) => before.find(|version| version.name == name),
            None => before.next().filter(|_| old.hoisted.selectable_fields),
        };
        let is_unchanged = before.is_some_and(|version| {
            selectable::are_too_many(version.selectable_fields)
                && version
                    .selectable_fields
                    .iter()
                    .map(|field| text(field, "jsonPath"))
                    .eq(fields.iter().map(|field| text(field, "jsonPath")))
        });
        !is_unchanged
    }
}

fn is_known_type(type_: &str) -> bool {
    matches!(type_, "" | "array" | "boolean" | "integer" | "number" | "object" | "string")
}

fn all_structural(old: &Model<'_>) -> bool {
    old.containers().iter().all(|container| {
        structural(container).is_ok_and(|schema| schema.validate(&container.path).is_empty())
    })
}

fn all_defaults_pruned(old: &Model<'_>) -> bool {
    let schemas = old.containers();
    let mut schemas = schemas.iter().filter_map(|container| structural(container).ok());
    schemas.all(|schema| {
        let compiled = CompiledSchema::new(Some(&schema), CompileOptions::default());
        let pruned = billhook_default_validation::prune_defaults(&compiled);
        let defaults = |schema: &CompiledSchema| -> Vec<_> {
            schema.default_places().map(|place| place.edge().default().map(deep)).collect()
        };
        pruned.is_ok_and(|pruned| defaults(&pruned) == defaults(&compiled))
    })
}

fn deep(value: &Value) -> billhook_apimachinery::value::DeepValue {
    billhook_apimachinery::value::deep_clone(value).into()
}
