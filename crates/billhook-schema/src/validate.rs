//! The rules a structural schema must obey (SS-40 to SS-71).

use billhook_apimachinery::FieldError;
use billhook_apimachinery::FieldErrors;
use billhook_apimachinery::value::grow;
use billhook_apimachinery::{FieldPath, Location};

use crate::props::{JsonSchemaProps, SchemaOrBool};
use crate::structural::StructuralSchema;

impl StructuralSchema {
    /// Returns all violations of the structural rules, sorted by their printed text (SS-40). `base`
    /// is the path of the schema itself, e.g. `spec.validation.openAPIV3Schema`.
    pub fn validate(&self, base: &FieldPath) -> Vec<FieldError> {
        let mut errors = FieldErrors::default();
        let at = Location::at(base);
        let root = self.root();
        check_structure(root, Level::Root, &at, &mut errors);
        for (keyword, index, nested) in root.junctors() {
            let written = at.name(keyword);
            check_completeness(nested, Some(root), &step(&written, index), &at, &mut errors);
        }
        let mut printed: Vec<(String, FieldError)> =
            errors.into_vec().into_iter().map(|error| (error.to_string(), error)).collect();
        printed.sort_by(|left, right| left.0.cmp(&right.0));
        printed.into_iter().map(|(_, error)| error).collect()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Item,
    Field,
}

impl Level {
    fn missing_type(self) -> &'static str {
        match self {
            Level::Root => "must not be empty at the root",
            Level::Item => "must not be empty for specified array items",
            Level::Field => "must not be empty for specified object fields",
        }
    }
}

fn step<'a>(at: &'a Location<'a>, index: Option<usize>) -> Location<'a> {
    match index {
        Some(index) => at.index(index),
        None => *at,
    }
}

/// Checks a structural node and everything below it.
fn check_structure(
    schema: &JsonSchemaProps,
    level: Level,
    at: &Location<'_>,
    errors: &mut FieldErrors,
) {
    if errors.is_full() {
        return;
    }
    grow(|| {
        check_invariants(schema, level, at, errors);
        if level == Level::Root || schema.embedded_resource {
            check_resource(schema, level, at, errors);
        }
        check_pattern(schema, at, errors);
        check_junctors(schema, at, errors);
        if let Some(items) = schema.items_schema() {
            check_structure(items, Level::Item, &at.name("items"), errors);
        }
        let properties = at.name("properties");
        for (name, property) in schema.properties.iter().flatten() {
            check_structure(property, Level::Field, &properties.key(name), errors);
        }
        if let Some(additional) = schema.additional_schema() {
            check_structure(additional, Level::Field, &at.name("additionalProperties"), errors);
        }
    });
}

/// SS-42 to SS-49.
fn check_invariants(
    schema: &JsonSchemaProps,
    level: Level,
    at: &Location<'_>,
    errors: &mut FieldErrors,
) {
    let embedded = schema.embedded_resource;
    let preserves = schema.preserves_unknown_fields();
    let path = |name| at.name(name).to_path();

    if schema.type_ == "array" && schema.items_schema().is_none() {
        errors.push(FieldError::required(path("items"), "must be specified"));
    }
    if level == Level::Root && schema.additional_properties.is_some() {
        errors.push(FieldError::forbidden(
            path("additionalProperties"),
            "must not be used at the root",
        ));
    }
    if schema.int_or_string {
        let detail = "must be false if x-kubernetes-int-or-string is true";
        if preserves {
            let path = path("x-kubernetes-preserve-unknown-fields");
            errors.push(FieldError::invalid(path, true, detail));
        }
        if embedded {
            errors.push(FieldError::invalid(path("x-kubernetes-embedded-resource"), true, detail));
        }
    }
    let type_ = schema.type_.as_str();
    if embedded && type_ != "object" {
        let detail = "must be object if x-kubernetes-embedded-resource is true";
        errors.push(if type_.is_empty() {
            FieldError::required(path("type"), detail)
        } else {
            FieldError::invalid(path("type"), type_, detail)
        });
    } else if type_.is_empty() && !schema.int_or_string && !preserves {
        errors.push(FieldError::required(path("type"), level.missing_type()));
    }
    if level == Level::Root && !type_.is_empty() && type_ != "object" {
        errors.push(FieldError::invalid(path("type"), type_, "must be object at the root"));
    }
    if embedded && schema.additional_properties.is_some() {
        errors.push(FieldError::forbidden(
            path("additionalProperties"),
            "must not be used if x-kubernetes-embedded-resource is set",
        ));
    }
    let lists_properties = schema.properties.as_ref().is_some_and(|listed| !listed.is_empty());
    if embedded && !preserves && !lists_properties {
        errors.push(FieldError::required(
            path("properties"),
            "must not be empty if x-kubernetes-embedded-resource is true without \
             x-kubernetes-preserve-unknown-fields",
        ));
    }
}

/// SS-60 to SS-63.
fn check_resource(
    schema: &JsonSchemaProps,
    level: Level,
    at: &Location<'_>,
    errors: &mut FieldErrors,
) {
    let properties = at.name("properties");
    for (name, expected, detail) in [
        ("kind", "string", "must be string"),
        ("apiVersion", "string", "must be string"),
        ("metadata", "object", "must be object"),
    ] {
        if let Some(property) = schema.property(name)
            && property.type_ != expected
        {
            let path = properties.key(name).name("type").to_path();
            errors.push(FieldError::invalid(path, property.type_.as_str(), detail));
        }
    }
    if level == Level::Root
        && let Some(metadata) = schema.property("metadata")
        && !metadata.constrains_only_names()
    {
        errors.push(FieldError::forbidden(
            properties.key("metadata").to_path(),
            "must not specify anything other than name and generateName, but metadata is \
             implicitly specified",
        ));
    }
}

/// SS-51.
fn check_pattern(schema: &JsonSchemaProps, at: &Location<'_>, errors: &mut FieldErrors) {
    let pattern = &schema.pattern;
    if pattern.is_empty() {
        return;
    }
    if let Err(error) = billhook_regex::check(pattern) {
        errors.push(FieldError::invalid(
            at.name("pattern").to_path(),
            pattern.as_str(),
            &format!("must be a valid regular expression, but isn't: {error}"),
        ));
    }
}

/// The junctors of a structural node, with the int-or-string patterns of SS-41 left out.
fn check_junctors(schema: &JsonSchemaProps, at: &Location<'_>, errors: &mut FieldErrors) {
    let skips_any_of = schema.has_int_or_string_any_of();
    for (keyword, index, nested) in schema.junctors() {
        if skips_any_of && keyword == "anyOf" {
            continue;
        }
        let first_of_all = keyword == "allOf" && index == Some(0);
        let written = at.name(keyword);
        let skip = first_of_all && nested.has_int_or_string_any_of();
        check_nested(nested, skip, &step(&written, index), errors);
    }
}

/// SS-50: a schema below a junctor, and all schemas below it.
fn check_nested(
    schema: &JsonSchemaProps,
    skip_any_of: bool,
    at: &Location<'_>,
    errors: &mut FieldErrors,
) {
    if errors.is_full() {
        return;
    }
    check_keywords_below_junctor(schema, at, errors);
    check_pattern(schema, at, errors);
    grow(|| {
        for (keyword, index, nested) in schema.junctors() {
            if skip_any_of && keyword == "anyOf" {
                continue;
            }
            let written = at.name(keyword);
            check_nested(nested, false, &step(&written, index), errors);
        }
        if let Some(items) = schema.items_schema() {
            check_nested(items, false, &at.name("items"), errors);
        }
        let properties = at.name("properties");
        for (name, property) in schema.properties.iter().flatten() {
            let at = properties.key(name);
            if name == "metadata" {
                errors.push(FieldError::forbidden(
                    at.to_path(),
                    "must not be specified in a nested context",
                ));
            }
            check_nested(property, false, &at, errors);
        }
    });
}

/// The keywords that are forbidden below a junctor.
fn check_keywords_below_junctor(
    schema: &JsonSchemaProps,
    at: &Location<'_>,
    errors: &mut FieldErrors,
) {
    let allows_additional = matches!(
        schema.additional_properties,
        Some(SchemaOrBool::Schema(_) | SchemaOrBool::Bool(true))
    );
    let has_map_keys = schema.list_map_keys.as_ref().is_some_and(|keys| !keys.is_empty());
    let has_rules = schema.validations.as_ref().is_some_and(|rules| !rules.is_empty());
    for (keyword, is_present, state) in [
        ("type", !schema.type_.is_empty(), "empty"),
        ("additionalProperties", allows_additional, "undefined"),
        ("default", schema.default.is_some(), "undefined"),
        ("title", !schema.title.is_empty(), "empty"),
        ("description", !schema.description.is_empty(), "empty"),
        ("nullable", schema.nullable, "false"),
        ("x-kubernetes-preserve-unknown-fields", schema.preserves_unknown_fields(), "false"),
        ("x-kubernetes-embedded-resource", schema.embedded_resource, "false"),
        ("x-kubernetes-int-or-string", schema.int_or_string, "false"),
        ("x-kubernetes-list-map-keys", has_map_keys, "empty"),
        ("x-kubernetes-list-type", schema.list_type.is_some(), "undefined"),
        ("x-kubernetes-map-type", schema.map_type.is_some(), "undefined"),
        ("x-kubernetes-validations", has_rules, "empty"),
    ] {
        if is_present {
            let detail = format!("must be {state} to be structural");
            errors.push(FieldError::forbidden(at.name(keyword).to_path(), &detail));
        }
    }
}

/// SS-70: whatever a junctor of the root constrains must exist in the structure.
fn check_completeness(
    nested: &JsonSchemaProps,
    structural: Option<&JsonSchemaProps>,
    written: &Location<'_>,
    at: &Location<'_>,
    errors: &mut FieldErrors,
) {
    if errors.is_full() {
        return;
    }
    let Some(structural) = structural else {
        let written = written.to_path();
        errors.note(&written);
        let detail = format!("because it is defined in {written}");
        errors.push(FieldError::required(at.to_path(), &detail));
        return;
    };
    grow(|| {
        for (keyword, index, deeper) in nested.junctors() {
            let keyword = written.name(keyword);
            check_completeness(deeper, Some(structural), &step(&keyword, index), at, errors);
        }
        if let Some(items) = nested.items_schema() {
            let (written, at) = (written.name("items"), at.name("items"));
            check_completeness(items, structural.items_schema(), &written, &at, errors);
        }
        let (written, at) = (written.name("properties"), at.name("properties"));
        for (name, property) in nested.properties.iter().flatten() {
            let (written, at) = (written.key(name), at.key(name));
            check_completeness(property, structural.property(name), &written, &at, errors);
        }
    });
}
