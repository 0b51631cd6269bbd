//! The operations of the vectors, each run through the public API.

use billhook::{
    BodyFormat, Change, CrdVersion, DecodeError, DecodeErrorKind, DecodeOptions, FieldValidation,
};
use billhook_apimachinery::value::{DeepValue, deep_clone};
use billhook_apimachinery::{FieldPath, split_api_version};
use billhook_decode::read_json;
use billhook_defaulting::{apply_defaults, remove_nulls};
use billhook_schema::{JsonSchemaProps, StructuralSchema};
use serde_json::{Map, Value, json};

use super::input::{
    Given, Input, Run, compile, definition, field_error, flag, object, object_of, ok, subject,
};
use super::{Outcome, apply, apply_steps, crd, objectmeta, validation, webhook};
use crate::fuzz::same;

/// Runs an operation; none if it is not implemented.
pub(super) fn run(op: &str, input: Input<'_>) -> Option<Outcome> {
    let outcome = match (op, input) {
        ("decode", _) => decode(input),
        ("decode_storage", _) => decode_storage(input),
        ("crd", input) => crd::run(input),
        ("validate_cr", _) => validation::validate_cr(input),
        (_, Input::Files { .. }) => return None,
        ("structural", Input::Inline(input)) => structural(input),
        ("prune", Input::Inline(input)) => prune(input),
        ("default", Input::Inline(input)) => default(input, false),
        ("default_nulls", Input::Inline(input)) => default(input, true),
        ("prune_defaults", Input::Inline(input)) => prune_defaults(input),
        ("encode_storage", Input::Inline(input)) => encode_storage(input),
        ("objectmeta", Input::Inline(input)) => objectmeta::run(input),
        ("label_selector", Input::Inline(input)) => webhook::label_selector(input),
        ("webhook_match", Input::Inline(input)) => webhook::webhook_match(input),
        ("webhook_config", Input::Inline(input)) => webhook::webhook_config(input),
        ("apply", Input::Inline(input)) => apply_steps::run(input),
        ("fieldset", Input::Inline(input)) => apply::field_set(input),
        ("compare", Input::Inline(input)) => apply::compare(input),
        ("merge", Input::Inline(input)) => apply::merge(input),
        ("remove", Input::Inline(input)) => apply::remove(input),
        ("validate", Input::Inline(input)) => validation::validate(input),
        ("listtype", Input::Inline(input)) => validation::listtype(input),
        ("defaults_validate", Input::Inline(input)) => validation::defaults_validate(input),
        _ => return None,
    };
    Some(outcome.unwrap_or_else(|error| Outcome {
        ok: None,
        errors: vec![DeepValue::from(json!({"error": error}))],
        ..Outcome::default()
    }))
}

fn structural(input: Given<'_>) -> Run {
    let schema_written = input.get("schema").unwrap_or(&Value::Null);
    let props = JsonSchemaProps::from_value(schema_written).map_err(|error| error.to_string())?;
    let schema = match StructuralSchema::new(props) {
        Ok(schema) => schema,
        Err(error) => {
            let error = error.to_string();
            return Ok(Outcome {
                errors: vec![DeepValue::from(json!({"error": error, "source": "NewStructural"}))],
                other_first_errors: conversion_errors(schema_written),
                ..ok(json!({"new_error": error}))
            });
        }
    };
    let errors = schema.validate(&FieldPath::default());
    Ok(Outcome {
        errors: errors.iter().map(|error| field_error(error, None)).collect(),
        ..ok(json!({"new_error": null, "structural": errors.is_empty()}))
    })
}

/// Returns the errors of the conversion for each part of a schema taken for itself; properties are
/// converted in random order (SS-30).
fn conversion_errors(schema: &Value) -> Vec<String> {
    let mut errors = Vec::new();
    let mut pending = vec![schema];
    while let Some(part) = pending.pop() {
        match part {
            Value::Array(items) => pending.extend(items),
            Value::Object(members) => pending.extend(members.values()),
            _ => continue,
        }
        if let Ok(props) = JsonSchemaProps::from_value(part)
            && let Err(error) = StructuralSchema::new(props)
        {
            errors.push(error.to_string());
        }
    }
    errors
}

fn prune(input: Given<'_>) -> Run {
    let schema = compile(input, flag(input, "isResourceRoot"))?;
    let mut value = object_of(input);
    let mut plain = value.clone();
    let mut changes = Vec::new();
    billhook_pruning::prune(schema.root(), &mut value, &mut changes);
    billhook_pruning::prune(schema.root(), &mut plain, &mut ());
    if plain != value {
        return Err("the plain and the reporting form differ".to_owned());
    }
    let paths = billhook_pruning::unknown_fields(&changes);
    Ok(ok(object([("object", value.into_inner()), ("paths", Value::from(paths))])))
}

fn default(input: Given<'_>, removes_nulls: bool) -> Run {
    let schema = compile(input, true)?;
    let mut value = object_of(input);
    let mut plain = value.clone();
    let mut changes: Vec<Change> = Vec::new();
    if removes_nulls {
        remove_nulls(schema.root(), &mut value, &mut changes);
        remove_nulls(schema.root(), &mut plain, &mut ());
    }
    apply_defaults(schema.root(), &mut value, &mut changes).map_err(|error| error.to_string())?;
    apply_defaults(schema.root(), &mut plain, &mut ()).map_err(|error| error.to_string())?;
    if plain != value {
        return Err("the plain and the reporting form differ".to_owned());
    }
    Ok(ok(object([("object", value.into_inner())])))
}

fn prune_defaults(input: Given<'_>) -> Run {
    let schema = compile(input, true)?;
    let schema =
        billhook_default_validation::prune_defaults(&schema).map_err(|error| error.to_string())?;
    let mut defaults = Map::new();
    let root = schema.root_edge().default().map(|default| (String::new(), default));
    let below = schema
        .default_places()
        .filter_map(|edge| Some((format!(".{}", edge.node().schema_path()), edge.default()?)));
    for (path, default) in root.into_iter().chain(below) {
        defaults.insert(path, deep_clone(default));
    }
    Ok(ok(object([("defaults", Value::Object(defaults))])))
}

fn refused(error: &DecodeError) -> Outcome {
    let error = json!({"error": error.to_string(), "source": "decode"});
    Outcome { errors: vec![DeepValue::from(error)], ..Outcome::default() }
}

fn type_meta(object: &Value, accepted: Option<bool>) -> Vec<(&'static str, Value)> {
    let text = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default();
    let api_version = text("apiVersion");
    let (group, version) = split_api_version(api_version);
    let gvk = json!({"group": group, "version": version, "kind": text("kind")});
    let accepted = accepted.map(|accepted| ("gv_accepted", Value::from(accepted)));
    [("gvk", gvk)].into_iter().chain(accepted).collect()
}

fn decode(input: Input<'_>) -> Run {
    let (version, body) = subject(input)?;
    let format = match input {
        Input::Inline(input) if flag(input, "yaml") => BodyFormat::Yaml,
        _ => BodyFormat::Json,
    };
    let options = DecodeOptions::default().format(format);
    let report = options.clone().report(true);
    let decoded = match version.decode(&body, &report) {
        Ok(decoded) => decoded,
        Err(error) if error.kind() == DecodeErrorKind::WrongVersion => {
            return wrong_version(&version, &body);
        }
        Err(error) => return Ok(refused(&error)),
    };
    match version.decode(&body, &options) {
        Ok(plain) if plain.object() == decoded.object() => {}
        _ => return Err("the plain and the reporting form differ".to_owned()),
    }
    let silent = options.field_validation(FieldValidation::Ignore);
    let text = version.decode_text(&body, &silent).map_err(|error| error.to_string())?;
    let text = read_json(text.text()).map_err(|error| error.to_string())?;
    let value = version.decode(&body, &silent).map_err(|error| error.to_string())?;
    for object in [text.value(), value.object()] {
        if !same(object, decoded.object()) {
            return Err("the paths over text and over a tree differ".to_owned());
        }
    }
    let mut members = type_meta(decoded.object(), Some(true));
    members.push(("strict_errors", Value::from(decoded.strict_errors())));
    members.push(("object", decoded.into_object().into_inner()));
    Ok(ok(object(members)))
}

/// The vectors show what was decoded before the version was found to be wrong.
fn wrong_version(version: &CrdVersion, body: &[u8]) -> Run {
    let mut object = read_json(body).map_err(|error| error.to_string())?.into_value();
    let refused = version.decode_value(&mut object, &DecodeOptions::default());
    if refused.is_ok() {
        return Err("the forms for bytes and for values differ".to_owned());
    }
    let mut members = type_meta(&object, Some(false));
    members.push(("strict_errors", json!([])));
    members.push(("object", object.into_inner()));
    Ok(ok(self::object(members)))
}

fn decode_storage(input: Input<'_>) -> Run {
    let (version, stored) = subject(input)?;
    let report = DecodeOptions::default().report(true);
    let decoded = match version.decode_storage(&stored, &report) {
        Ok(decoded) => decoded,
        Err(error) => return Ok(refused(&error)),
    };
    let mut members = type_meta(decoded.object(), None);
    members.push(("strict_errors", json!([])));
    members.push(("object", decoded.into_object().into_inner()));
    Ok(ok(object(members)))
}

fn encode_storage(input: Given<'_>) -> Run {
    let subject_object = object_of(input);
    let version = definition(input, &subject_object)?;
    let bytes = match version.encode_storage(&subject_object) {
        Ok(bytes) => bytes,
        Err(error) => return Ok(refused(&error)),
    };
    let stored = read_json(&bytes).map_err(|error| error.to_string())?;
    Ok(ok(object([("object", stored.into_value().into_inner())])))
}
