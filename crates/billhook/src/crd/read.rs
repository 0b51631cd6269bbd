//! Compiling the parts of a CustomResourceDefinition that decide how objects are cleaned.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use billhook_apimachinery::record::text;
use billhook_apimachinery::value::{Num, grow};
use billhook_apimachinery::{FieldError, FieldPath};
use billhook_definition::types::{ScaleSubresource, Version};
use billhook_definition::{Definition, DefinitionError};
use billhook_schema::{CompileOptions, CompiledSchema, StructuralSchema};
use serde_json::Value;

use super::scale_paths::ScalePaths;
use super::{CompiledDefinition, CrdError, CrdOptions, Scope, VersionData};
use crate::edition::EDITIONS;

pub(super) fn definition(
    value: &Value,
    options: &CrdOptions,
) -> Result<CompiledDefinition, CrdError> {
    let (document, _) =
        Definition::read_document(value, options.kubernetes).map_err(|error| match error {
            DefinitionError::Decode(error) => CrdError::Decode(error),
            _ => {
                let (api_version, kind) = (text(value, "apiVersion"), text(value, "kind"));
                CrdError::Kind(format!("apiVersion `{api_version}`, kind `{kind}`"))
            }
        })?;
    let (spec, status) = (&document.spec, &document.status);
    let path = |name: &str| FieldPath::default().name("spec").name(name);
    let required = |path: FieldPath| match value.pointer(&path.to_json_pointer()) {
        None | Some(Value::Null) => Err(CrdError::Field(FieldError::required(path, ""))),
        Some(_) => Ok(()),
    };
    required(path("group"))?;
    required(path("names").name("plural"))?;
    required(path("names").name("kind"))?;
    let scope = read_scope(&spec.scope, path("scope"))?;
    check_names(&spec.versions, path("versions"))?;
    let compile = Compile { options, prune: !spec.preserve_unknown_fields };
    let mut versions = Vec::new();
    for (index, version) in spec.versions.iter().enumerate() {
        let path = path("versions").index(index);
        required(path.clone().name("name"))?;
        versions.push(Arc::new(read_version(version, &path, &compile)?));
    }
    let conversion = spec.conversion.as_ref().filter(|conversion| conversion.strategy == "Webhook");
    let is_true = |type_| status.conditions.iter().any(|condition| condition.is_true(type_));
    Ok(CompiledDefinition {
        name: document.metadata.name.clone(),
        group: spec.group.clone(),
        names: spec.names.with_defaults(),
        scope,
        preserve_unknown_fields: spec.preserve_unknown_fields,
        is_converted_by_webhook: conversion.is_some(),
        conversion_webhook: conversion.and_then(|conversion| conversion.webhook.clone()),
        // No manifest needs to have a status.
        is_established: status.conditions.is_empty()
            || is_true("Established")
            || is_true("NamesAccepted"),
        is_terminating: is_true("Terminating"),
        terminating_refuses_post: EDITIONS.of(options.kubernetes).terminating_refuses_post,
        dialect: options.dialect,
        kubernetes: options.kubernetes,
        object_type: options.object_type.clone(),
        versions,
        empty: compile.schema(None, FieldPath::default()),
    })
}

fn read_scope(scope: &str, path: FieldPath) -> Result<Scope, FieldError> {
    match scope {
        "Namespaced" => Ok(Scope::Namespaced),
        "Cluster" => Ok(Scope::Cluster),
        "" => Err(FieldError::required(path, "")),
        other => Err(FieldError::not_supported(path, other, ["Cluster", "Namespaced"])),
    }
}

/// Objects say by its name which version they are of (CV-32).
fn check_names(versions: &[Version], path: FieldPath) -> Result<(), FieldError> {
    if versions.is_empty() {
        let detail = "must have exactly one version marked as storage version";
        return Err(FieldError::invalid(path, Value::Null, detail));
    }
    let names = || versions.iter().map(|version| version.name.as_str());
    if names().collect::<HashSet<_>>().len() < versions.len() {
        let detail = "must contain unique version names";
        return Err(FieldError::invalid(path, Value::from_iter(names()), detail));
    }
    Ok(())
}

fn read_version(
    version: &Version,
    path: &FieldPath,
    compile: &Compile<'_>,
) -> Result<VersionData, CrdError> {
    let path = path.clone().name("schema").name("openAPIV3Schema");
    let written = version.schema.as_ref().and_then(|schema| schema.open_api_v3_schema.clone());
    let structural = match written.clone().map(StructuralSchema::new) {
        None => None,
        Some(Ok(structural)) => Some(structural),
        // Old definitions that preserve unknown fields need no structural schema.
        Some(Err(_)) if !compile.prune => None,
        Some(Err(error)) => {
            return Err(CrdError::Conversion { path: path.to_string(), error });
        }
    };
    let compiled = compile.schema(structural.as_ref(), path.clone());
    let compiled = if compile.prune {
        billhook_default_validation::prune_defaults(&compiled)
            .map_err(|error| CrdError::Defaults { path: path.to_string(), error })?
    } else {
        compiled
    };
    let subresources = version.subresources.as_ref();
    let edition = EDITIONS.of(compile.options.kubernetes);
    let warning = version.deprecation_warning.clone().unwrap_or_default();
    Ok(VersionData {
        name: version.name.clone(),
        served: version.served,
        storage: version.storage,
        deprecation_warning: version.deprecated.then_some(warning),
        has_status_subresource: subresources.is_some_and(|all| all.status.is_some()),
        ratchets_status: edition.ratchets_status,
        status_resets: edition.status_resets,
        scale: subresources
            .and_then(|all| all.scale.as_ref())
            .map(|scale| scale_paths(scale, compile.options)),
        selectable_fields: version
            .selectable_fields
            .iter()
            .map(|field| field.json_path.clone())
            .collect(),
        additional_printer_columns: version.additional_printer_columns.clone(),
        has_schema: written.is_some(),
        written: written.unwrap_or_default(),
        structural,
        compiled: with_stored_defaults(&compiled),
        merge_schema: OnceLock::new(),
        decoder: OnceLock::new(),
        validator: OnceLock::new(),
        rules: OnceLock::new(),
    })
}

fn scale_paths(scale: &ScaleSubresource, options: &CrdOptions) -> ScalePaths {
    ScalePaths {
        spec_replicas: scale.spec_replicas_path.clone(),
        status_replicas: scale.status_replicas_path.clone(),
        label_selector: scale.label_selector_path.clone().unwrap_or_default(),
        has_structure: options.is_built_in,
    }
}

struct Compile<'o> {
    options: &'o CrdOptions,
    prune: bool,
}

impl Compile<'_> {
    fn schema(&self, schema: Option<&StructuralSchema>, base: FieldPath) -> CompiledSchema {
        let mut options = CompileOptions::default();
        options.dialect = self.options.dialect;
        options.kubernetes = self.options.kubernetes;
        options.prune = self.prune;
        options.base = base;
        CompiledSchema::new(schema, options)
    }
}

/// The schema with its defaults as they come back from storage, where the definition itself has
/// been: whole floats are integers (RP-52).
fn with_stored_defaults(schema: &CompiledSchema) -> CompiledSchema {
    let stored = schema.map_defaults(|_, mut default| {
        whole_floats_to_integers(&mut default);
        Ok::<_, std::convert::Infallible>(Some(default))
    });
    stored.unwrap_or_else(|_| schema.clone())
}

fn whole_floats_to_integers(value: &mut Value) {
    match value {
        Value::Number(number) => {
            if let Some(int) = Num::of(number).to_i64() {
                *value = Value::from(int);
            }
        }
        Value::Array(items) => grow(|| items.iter_mut().for_each(whole_floats_to_integers)),
        Value::Object(members) => {
            grow(|| members.values_mut().for_each(whole_floats_to_integers));
        }
        _ => {}
    }
}
