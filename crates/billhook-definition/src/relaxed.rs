//! The checks that an update relaxes because the old definition already violates them (CV-82 to
//! CV-89).

use billhook_apimachinery::value::{DeepValue, deep_clone};
use billhook_apimachinery::{FieldErrors, KubernetesVersion, Location};
use billhook_cel::StoredExpressions;
use billhook_schema::{CompileOptions, CompiledSchema, StructuralSchema};
use serde_json::Value;

use crate::container::structural;
use crate::model::{Container, Model};
use crate::node::TYPES;
use crate::options::{NodeOptions, Options};
use crate::{conversion, lists};

/// Returns the checks of an update.
pub(crate) fn update<'m>(old: &'m Model<'m>, kubernetes: KubernetesVersion) -> Options<'m> {
    Options {
        kubernetes,
        node: NodeOptions {
            wording: kubernetes.wording(),
            known_types: !old
                .nodes()
                .any(|schema| !schema.type_.is_empty() && !TYPES.contains(&&*schema.type_)),
            atomic_sets: !old
                .nodes()
                .any(|schema| lists::set_item(schema, &Location::TOP).is_some()),
            map_keys: !old.nodes().any(|schema| {
                let mut errors = FieldErrors::default();
                lists::list_items(schema, &Location::TOP, &mut errors);
                !errors.is_empty()
            }),
        },
        schemas: old.versions.iter().all(|version| version.schema().is_some()),
        structural: all_structural(old),
        unpruned_defaults: !all_defaults_pruned(old),
        ca_bundle: conversion::checks_ca_bundle(old),
        known_review_version: conversion::has_no_unknown_review_versions(old),
        stored: stored_expressions(old),
        old: Some(old),
    }
}

fn stored_expressions(old: &Model<'_>) -> StoredExpressions {
    let rules = old.nodes().flat_map(|schema| schema.validations.iter().flatten());
    StoredExpressions::new(rules.map(|rule| (&*rule.rule, &*rule.message_expression)))
}

fn all_structural(old: &Model<'_>) -> bool {
    old.containers().iter().all(|container| valid_structural(container).is_some())
}

/// The structural form of a schema that obeys the structural rules.
fn valid_structural(container: &Container<'_>) -> Option<StructuralSchema> {
    let schema = structural(container.schema).ok();
    schema.filter(|schema| schema.validate(&container.path).is_empty())
}

fn all_defaults_pruned(old: &Model<'_>) -> bool {
    let schemas = old.containers();
    // A schema that isn't structural says nothing about its defaults.
    let mut schemas = schemas.iter().filter_map(valid_structural);
    schemas.all(|schema| {
        let compiled = CompiledSchema::new(Some(&schema), CompileOptions::default());
        let pruned = billhook_default_validation::prune_defaults(&compiled);
        let defaults = |schema: &CompiledSchema| -> Vec<_> {
            schema.default_places().map(|place| place.default().map(deep)).collect()
        };
        pruned.is_ok_and(|pruned| defaults(&pruned) == defaults(&compiled))
    })
}

fn deep(value: &Value) -> DeepValue {
    deep_clone(value).into()
}
