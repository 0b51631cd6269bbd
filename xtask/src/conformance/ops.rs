//! The operations of the vectors, each run through the public API.

use std::ops::Deref;
use std::path::Path;

use billhook::{
    BodyFormat, Change, CrdOptions, CrdVersion, CustomResourceDefinition, DecodeError,
    DecodeErrorKind, DecodeOptions, FieldValidation, read_manifests,
};
use billhook_apimachinery::value::{DeepValue, deep_clone};
use billhook_apimachinery::{
    ErrorType, FieldError, FieldPath, KubernetesVersion, split_api_version,
};
use billhook_decode::{read_json, read_json_with_spans};
use billhook_defaulting::{apply_defaults, remove_nulls};
use billhook_schema::{CompileOptions, CompiledSchema, JsonSchemaProps, StructuralSchema};
use serde_json::{Map, Value, json};

use super::{Outcome, apply, apply_steps, crd, objectmeta, validation, webhook};
use crate::fuzz::same;

/// Where a vector's input is.
#[derive(Clone, Copy)]
pub(super) enum Input<'v> {
    /// In the vector.
    Inline(Given<'v>),
    /// In files that the vector names.
    Files { vector: &'v Value, directory: &'v Path },
}

/// The input of a vector.
#[derive(Clone, Copy)]
pub(super) struct Given<'v> {
    pub(super) input: &'v Value,
    /// The version of the server.
    pub(super) kubernetes: KubernetesVersion,
    /// The line of the vector.
    pub(super) line: &'v str,
}

impl Given<'_> {
    /// The text of a part of the input.
    pub(super) fn text(&self, name: &str) -> Option<&[u8]> {
        let (_, spans) = read_json_with_spans(self.line.as_bytes()).ok()?;
        let span = spans.find(&FieldPath::default().name("input").name(name))?;
        self.line.as_bytes().get(span.value.start..span.value.end)
    }
}

impl Deref for Given<'_> {
    type Target = Value;

    fn deref(&self) -> &Value {
        self.input
    }
}

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

pub(super) type Run = Result<Outcome, String>;

pub(super) fn ok(value: Value) -> Outcome {
    Outcome { ok: Some(DeepValue::from(value)), ..Outcome::default() }
}

pub(super) fn object(members: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    Value::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

pub(super) fn field_error(error: &FieldError, source: Option<&str>) -> DeepValue {
    let mut parts = Map::new();
    parts.insert("error".to_owned(), Value::from(error.to_string()));
    parts.insert("type".to_owned(), Value::from(error.error_type().reason()));
    parts.insert("field".to_owned(), Value::from(error.field().to_string()));
    parts.insert("detail".to_owned(), Value::from(error.detail()));
    // What has no value, what hides it, and what leaves it out.
    let value = match (error.bad_value(), error.error_type()) {
        (Some(value), _) => Some(deep_clone(value)),
        (None, ErrorType::TooLong) => Some(Value::from("<value omitted>")),
        (None, ErrorType::Required | ErrorType::Forbidden | ErrorType::Internal) => {
            Some(Value::from(""))
        }
        (None, _) => None,
    };
    parts.extend(value.map(|value| ("badvalue".to_owned(), value)));
    if let Some(source) = source {
        parts.insert("source".to_owned(), Value::from(source));
    }
    DeepValue::from(Value::Object(parts))
}

pub(super) fn schema_of(input: Given<'_>) -> Result<Option<StructuralSchema>, String> {
    match input.get("schema") {
        None | Some(Value::Null) => Ok(None),
        Some(schema) => {
            let props = JsonSchemaProps::from_value(schema).map_err(|error| error.to_string())?;
            StructuralSchema::new(props).map(Some).map_err(|error| error.to_string())
        }
    }
}

pub(super) fn compile(input: Given<'_>, resource_root: bool) -> Result<CompiledSchema, String> {
    let mut options = CompileOptions::default();
    options.resource_root = resource_root;
    options.kubernetes = input.kubernetes;
    Ok(CompiledSchema::new(schema_of(input)?.as_ref(), options))
}

pub(super) fn flag(input: Given<'_>, name: &str) -> bool {
    input.get(name).and_then(Value::as_bool).unwrap_or(false)
}

pub(super) fn object_of(input: Given<'_>) -> DeepValue {
    DeepValue::from(input.get("object").map_or(Value::Null, deep_clone))
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

/// A definition that serves the object's own group, version and kind.
pub(super) fn definition(input: Given<'_>, object: &Value) -> Result<CrdVersion, String> {
    let text = |name: &str| object.get(name).and_then(Value::as_str);
    let api_version = text("apiVersion").unwrap_or_default();
    let (group, version) = split_api_version(api_version);
    let kind = text("kind").filter(|kind| !kind.is_empty()).unwrap_or("Foo");
    let mut schema = Map::new();
    if let Some(written) = input.get("schema").filter(|schema| !schema.is_null()) {
        schema.insert("openAPIV3Schema".to_owned(), deep_clone(written));
    }
    let definition = DeepValue::from(object_value(group, version, kind, schema, input));
    let options = CrdOptions::default().kubernetes(input.kubernetes);
    let crd = CustomResourceDefinition::with_options(&definition, &options);
    let crd = crd.map_err(|error| error.to_string())?;
    crd.version(version).ok_or_else(|| "no such version".to_owned())
}

fn object_value(
    group: &str,
    version: &str,
    kind: &str,
    schema: Map<String, Value>,
    input: Given<'_>,
) -> Value {
    let mut served = json!({"name": version, "served": true, "storage": true});
    served["schema"] = Value::Object(schema);
    let mut definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "spec": {
            "group": group,
            "scope": if flag(input, "namespaced") { "Namespaced" } else { "Cluster" },
            "names": {"plural": "foos", "kind": kind},
            "preserveUnknownFields": flag(input, "preserveUnknownFields"),
        },
    });
    definition["spec"]["versions"] = Value::Array(vec![served]);
    definition
}

/// The version and the bytes of an object.
pub(super) fn subject(input: Input<'_>) -> Result<(CrdVersion, Vec<u8>), String> {
    match input {
        Input::Inline(input) => {
            let body = match input.get("objectText").and_then(Value::as_str) {
                Some(text) => text.as_bytes().to_vec(),
                None => billhook::to_json(input.get("object").unwrap_or(&Value::Null)).into_bytes(),
            };
            let parsed = match input.get("object") {
                Some(object) => DeepValue::from(deep_clone(object)),
                None if flag(input, "yaml") => read_manifests(&body)
                    .ok()
                    .and_then(|manifests| manifests.into_iter().next())
                    .map_or(DeepValue::default(), billhook::Manifest::into_value),
                None => read_json(&body).map_or(DeepValue::default(), |read| read.into_value()),
            };
            Ok((definition(input, &parsed)?, body))
        }
        Input::Files { vector, directory } => {
            let path = |name: &str| {
                let file = vector.get(name).and_then(Value::as_str).unwrap_or_default();
                directory.join(file)
            };
            let read = |name: &str| {
                std::fs::read(path(name)).map_err(|e| format!("{}: {e}", path(name).display()))
            };
            let crd = read_manifests(&read("crd")?).map_err(|error| error.to_string())?;
            let crd = crd.first().ok_or("an empty definition")?;
            let crd =
                CustomResourceDefinition::from_value(crd.value()).map_err(|e| e.to_string())?;
            let manifest = manifest(&read("object")?)?;
            let body = billhook::to_json(&manifest).into_bytes();
            let api_version = manifest.get("apiVersion").and_then(Value::as_str);
            let name = api_version.and_then(|text| text.split('/').nth(1)).unwrap_or_default();
            let version = crd.version(name).ok_or_else(|| format!("no version {name}"))?;
            Ok((version, body))
        }
    }
}

/// The object of a manifest. What the vectors' server got is JSON that another reader of YAML made
/// of it, one that takes escapes which the server's own reader refuses.
fn manifest(text: &[u8]) -> Result<DeepValue, String> {
    match read_manifests(text) {
        Ok(manifests) => {
            let first = manifests.into_iter().next().ok_or("an empty object")?;
            Ok(first.into_value())
        }
        Err(error) => serde_yaml::from_slice::<Value>(text)
            .map(DeepValue::from)
            .map_err(|_| error.to_string()),
    }
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
