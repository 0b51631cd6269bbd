//! The checks of a whole definition in the server's order (CV-10 to CV-26, CV-81, CV-104).

use billhook_apimachinery::value::DeepValue;
use billhook_apimachinery::{FieldError, FieldPath};
use billhook_schema::JsonSchemaProps;

use crate::model::{Model, VersionModel, version_path};
use crate::options::Options;
use crate::validation::DefinitionValidation;
use crate::{container, conversion, selectable, spec};

/// Sections 3 to 7.
pub(crate) fn check_spec(
    model: &Model<'_>,
    options: &Options<'_>,
    validation: &mut DefinitionValidation,
) {
    let errors = &mut validation.errors;
    spec::group(&model.spec.group, errors);
    spec::one_of(spec::spec("scope"), &model.spec.scope, &["Cluster", "Namespaced"], errors);
    schema_presence(model, options, errors);
    let has_default = model.nodes().any(|schema| schema.default.is_some());
    // CV-26.
    if has_default && model.spec.preserve_unknown_fields {
        let detail = "must be false in order to use defaults in the schema";
        errors.push(FieldError::invalid(spec::spec("preserveUnknownFields"), true, detail));
    }
    // CV-22.
    let is_structural = options.structural
        || !model.spec.preserve_unknown_fields
        || has_default
        || model.nodes().any(uses_extensions);
    let mut containers = model.containers().into_iter();
    let mut rewritten = Vec::new();
    let mut check_schema = |validation: &mut DefinitionValidation| {
        if let Some(container) = containers.next() {
            let mut found = container::check(&container, is_structural, options);
            rewritten.append(&mut found.rewritten);
            validation.errors.append(&mut found.errors);
            validation.rule_costs.append(&mut found.rule_costs);
        }
    };
    for (index, version) in model.versions.iter().enumerate() {
        spec::version_name(index, version, &mut validation.errors);
        if !model.hoisted.schema && version.schema().is_some() {
            check_schema(validation);
        }
        version_fields(model, options, index, version, &mut validation.errors);
    }
    if model.hoisted.schema {
        // Fields that are moved to the top come after the names.
        versions_and_names(model, &[], &mut validation.errors);
        check_schema(validation);
    } else {
        versions_and_names(model, &rewritten, &mut validation.errors);
    }
    hoisted_fields(model, options, &mut validation.errors);
    conversion::check(model, options, &mut validation.errors);
}

/// The fields of a version beside its schema that are not moved to the top.
fn version_fields(
    model: &Model<'_>,
    options: &Options<'_>,
    index: usize,
    version: &VersionModel<'_>,
    errors: &mut Vec<FieldError>,
) {
    let path = |name: &str| version_path(index).name(name);
    if !model.hoisted.subresources {
        spec::subresources(version.read.subresources.as_ref(), &path("subresources"), errors);
    }
    if !model.hoisted.columns {
        let columns = &version.read.additional_printer_columns;
        spec::columns(columns, &path("additionalPrinterColumns"), errors);
    }
    if !model.hoisted.selectable_fields {
        selectable_fields(model, options, Some(index), &path("selectableFields"), errors);
    }
}

/// The fields that all versions have in common, as they are moved to the top.
fn hoisted_fields(model: &Model<'_>, options: &Options<'_>, errors: &mut Vec<FieldError>) {
    let first = model.versions.first();
    if model.hoisted.subresources {
        let subresources = first.and_then(|version| version.read.subresources.as_ref());
        spec::subresources(subresources, &spec::spec("subresources"), errors);
    }
    if model.hoisted.columns {
        let columns = first.map_or(&[][..], |version| &version.read.additional_printer_columns);
        spec::columns(columns, &spec::spec("additionalPrinterColumns"), errors);
    }
    if model.hoisted.selectable_fields {
        selectable_fields(model, options, None, &spec::spec("selectableFields"), errors);
    }
}

fn versions_and_names(
    model: &Model<'_>,
    rewritten: &[(FieldPath, DeepValue)],
    errors: &mut Vec<FieldError>,
) {
    spec::all_versions(model, rewritten, errors);
    spec::required_names(&model.names, errors);
    spec::names(&model.names, &spec::spec("names"), errors);
}

/// CV-23, CV-24.
fn schema_presence(model: &Model<'_>, options: &Options<'_>, errors: &mut Vec<FieldError>) {
    if !options.schemas && model.spec.preserve_unknown_fields {
        return;
    }
    for (index, version) in model.versions.iter().enumerate() {
        if version.schema().is_none() && (options.schemas || version.read.served) {
            let detail = match options.schemas {
                true => options.wording().missing("schemas are required"),
                false => "because otherwise all fields are pruned",
            };
            let path = version_path(index).name("schema").name("openAPIV3Schema");
            errors.push(FieldError::required(path, detail));
        }
    }
}

/// Whether a node has an extension that needs structural schemas (CV-22).
fn uses_extensions(schema: &JsonSchemaProps) -> bool {
    schema.preserve_unknown_fields.is_some()
        || schema.embedded_resource
        || schema.int_or_string
        || schema.list_map_keys.as_ref().is_some_and(|keys| !keys.is_empty())
        || schema.list_type.is_some()
        || schema.validations.as_ref().is_some_and(|rules| !rules.is_empty())
}

/// CV-104, for one version or for the fields that all have in common.
fn selectable_fields(
    model: &Model<'_>,
    options: &Options<'_>,
    index: Option<usize>,
    path: &FieldPath,
    errors: &mut Vec<FieldError>,
) {
    let Some(version) = model.versions.get(index.unwrap_or(0)) else { return };
    let fields = &version.read.selectable_fields;
    if fields.is_empty() {
        return;
    }
    // A schema that has been moved to the top is not the version's any more, and the other way
    // round.
    let is_near = model.hoisted.schema == index.is_none();
    match version.schema().filter(|_| is_near) {
        None => {
            let wording = options.wording();
            let detail = match index {
                Some(_) if wording.repeats_paths => {
                    "may only be set when version.schema.openAPIV3Schema is not included"
                }
                Some(_) => "may only be set when `version.schema.openAPIV3Schema` is not included",
                None => "may only be set when validations.schema is included",
            };
            let detail = wording.about("selectableFields", detail);
            errors.push(FieldError::invalid(path.clone(), "", &detail));
        }
        Some(schema) => {
            let name = index.map(|_| version.name());
            if let Err(error) = container::structural(schema) {
                let path = index.map_or_else(|| FieldPath::default().name("spec"), version_path);
                let path = path.name("schema").name("openAPIV3Schema");
                errors.push(FieldError::invalid(path, "", &error));
            }
            let is_limited = options.limits_selectable_fields(fields, name);
            selectable::check(fields, schema, path, is_limited, errors);
        }
    }
}

/// CV-81.
pub(crate) fn immutable(model: &Model<'_>, old: &Model<'_>, errors: &mut Vec<FieldError>) {
    let mut check = |path: FieldPath, value: &str, before: &str| {
        if value != before {
            errors.push(FieldError::invalid(path, value, "field is immutable"));
        }
    };
    if old.is_established {
        check(spec::spec("scope"), &model.spec.scope, &old.spec.scope);
        check(spec::spec("names").name("kind"), &model.names.kind, &old.names.kind);
    }
    check(spec::spec("group"), &model.spec.group, &old.spec.group);
    check(spec::spec("names").name("plural"), &model.names.plural, &old.names.plural);
}

pub(crate) fn accepted_names(model: &Model<'_>, errors: &mut Vec<FieldError>) {
    let path = FieldPath::default().name("status").name("acceptedNames");
    spec::names(&model.status.accepted_names, &path, errors);
}

/// CV-14.
pub(crate) fn check_preserve(model: &Model<'_>, errors: &mut Vec<FieldError>) {
    if model.spec.preserve_unknown_fields {
        let detail = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in \
                      spec.versions[*].schema instead";
        errors.push(FieldError::invalid(spec::spec("preserveUnknownFields"), true, detail));
    }
}
