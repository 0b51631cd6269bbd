//! The rules for metadata that decodes: names, labels, annotations, owner references, finalizers
//! and managed fields (OM-31), on create (OM-40) and on update (OM-41), and the warnings about
//! finalizers (OM-60).
//!
//! All functions take normalized metadata, as [`decode_metadata`](crate::decode_metadata) returns
//! it.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::object_meta::{FOREGROUND_FINALIZER, ORPHAN_FINALIZER, OwnerReference};
use crate::names;
use crate::print::{compact_json, is_printable, quote};
use crate::record::text;
use crate::record::{FieldValue, TypedRecord, go_syntax};
use crate::value::deep_clone;
use crate::wording::Wording;
use crate::{FieldError, Location, split_api_version};

/// The Go package of metadata (KV-10).
const PACKAGE: &str = "v1";

/// The maximum number of bytes in the keys and values of all annotations.
const MAX_ANNOTATIONS: i64 = 256 * 1024;
const MAX_MANAGER: i64 = 128;
const MAX_SUBRESOURCE: i64 = 256;

/// The maximum size of a long value in all errors that show it, together; the server has no limit.
const MAX_REPEATED: usize = 16 * 1024;

/// Whether metadata must have a namespace.
#[derive(Clone, Copy)]
enum Namespace {
    Optional,
    Required,
    Forbidden,
}

/// A name rule: the messages about a name, or about a prefix of one if the flag is set.
type NameRule<'r> = &'r dyn Fn(&str, bool) -> Vec<String>;

/// The rules that depend on whose metadata it is.
struct Rules<'r> {
    name: NameRule<'r>,
    is_name_required: bool,
    namespace: Namespace,
    wording: &'r Wording,
}

/// Validates the metadata of a new custom resource (OM-40).
pub fn validate_create(metadata: &Value, namespaced: bool, wording: &Wording) -> Vec<FieldError> {
    validate_create_with(metadata, namespaced, wording, subdomain_name)
}

/// Like [`validate_create`], with another rule for names. The rule gets a name, or with the flag
/// set a `generateName`, and returns messages.
pub fn validate_create_with(
    metadata: &Value,
    namespaced: bool,
    wording: &Wording,
    name_rule: impl Fn(&str, bool) -> Vec<String>,
) -> Vec<FieldError> {
    validate_root(metadata, namespaced, wording, &name_rule)
}

/// Runs the generic checks of the metadata of any object: names need only fit in a URL path (OM-40,
/// OM-41).
pub fn validate_generic(metadata: &Value, namespaced: bool, wording: &Wording) -> Vec<FieldError> {
    validate_root(metadata, namespaced, wording, &names::path_segment)
}

/// Checks the name of a custom resource: a DNS subdomain (OM-40). The last two characters of a
/// prefix that ends with `-` are not checked.
pub fn subdomain_name(name: &str, is_prefix: bool) -> Vec<String> {
    if is_prefix {
        names::dns1123_subdomain(&names::mask_trailing_hyphen(name))
    } else {
        names::dns1123_subdomain(name)
    }
}

fn validate_root(
    metadata: &Value,
    namespaced: bool,
    wording: &Wording,
    name: NameRule<'_>,
) -> Vec<FieldError> {
    let namespace = if namespaced { Namespace::Required } else { Namespace::Forbidden };
    let rules = Rules { name, is_name_required: true, namespace, wording };
    let mut errors = Vec::new();
    validate_metadata(metadata, &rules, &Location::TOP.name("metadata"), &mut errors);
    worded(errors, wording)
}

/// Validates the metadata of an embedded resource at `at` (OM-30).
pub fn validate_embedded_metadata(
    metadata: &Value,
    at: &Location<'_>,
    wording: &Wording,
    errors: &mut Vec<FieldError>,
) {
    let rules = Rules {
        name: &names::path_segment,
        is_name_required: false,
        namespace: Namespace::Optional,
        wording,
    };
    validate_metadata(metadata, &rules, at, errors);
}

/// Validates an update of metadata: fields that must not change (OM-41), and the rules for those
/// that may.
pub fn validate_update(metadata: &Value, old: &Value, wording: &Wording) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let root = Location::TOP.name("metadata");
    let at = |name: &'static str| root.name(name).to_path();
    if old.get("deletionTimestamp").is_some() {
        let before: BTreeSet<&str> = texts(old, "finalizers").collect();
        let after: BTreeSet<&str> = texts(metadata, "finalizers").collect();
        let added: Vec<String> = after.difference(&before).map(|text| quote(text)).collect();
        if !added.is_empty() {
            let detail = format!(
                "no new finalizers can be added if the object is being deleted, found new \
                 finalizers []string{{{}}}",
                added.join(", ")
            );
            errors.push(FieldError::forbidden(at("finalizers"), &detail));
        }
    }
    if text(metadata, "resourceVersion").is_empty() {
        let detail = "must be specified for an update";
        errors.push(FieldError::invalid(at("resourceVersion"), "", detail));
    }
    if generation(metadata) < generation(old) {
        let detail = "must not be decremented";
        errors.push(FieldError::invalid(at("generation"), generation(metadata), detail));
    }
    for name in ["name", "namespace", "uid"] {
        if text(metadata, name) != text(old, name) {
            errors.push(FieldError::invalid(at(name), text(metadata, name), IMMUTABLE));
        }
    }
    for name in ["creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"] {
        if metadata.get(name) != old.get(name) {
            let value = metadata.get(name).map_or(Value::Null, deep_clone);
            let error = FieldError::invalid(at(name), value, IMMUTABLE);
            errors.push(if name == "deletionGracePeriodSeconds" { error } else { of_time(error) });
        }
    }
    labels(metadata, &root, wording, &mut errors);
    annotations(metadata, &root, wording, &mut errors);
    owner_references(metadata, &root, wording, &mut errors);
    managed_fields(metadata, &root, &mut errors);
    worded(errors, wording)
}

/// The detail of errors about changed fields that must not change.
const IMMUTABLE: &str = "field is immutable";

/// Returns the warnings about the finalizers of a new object, or about those that an update adds
/// (OM-60).
pub fn finalizer_warnings(metadata: &Value, old: Option<&Value>, wording: &Wording) -> Vec<String> {
    let before: BTreeSet<&str> = old.into_iter().flat_map(|old| texts(old, "finalizers")).collect();
    let after: BTreeSet<&str> = texts(metadata, "finalizers").collect();
    let mut warnings = Vec::new();
    for finalizer in after.difference(&before) {
        let mut warn = |message: &str| {
            warnings.push(format!("metadata.finalizers: {}: {message}", quote(finalizer)));
        };
        names::qualified_name(finalizer, wording).iter().for_each(|message| warn(message));
        let is_known = [ORPHAN_FINALIZER, FOREGROUND_FINALIZER, "kubernetes"].contains(finalizer);
        if !is_known && !finalizer.contains('/') {
            let path = if finalizer.contains('.') { " including a path (/)" } else { "" };
            warn(&format!(
                "prefer a domain-qualified finalizer name{path} to avoid accidental conflicts \
                 with other finalizer writers"
            ));
        }
    }
    warnings
}

/// OM-31, in the order of its rows.
fn validate_metadata(
    metadata: &Value,
    rules: &Rules<'_>,
    at: &Location<'_>,
    errors: &mut Vec<FieldError>,
) {
    let invalid = |name: &str, value: &str, messages: Vec<String>, errors: &mut Vec<FieldError>| {
        errors.extend(invalid_all(&at.name(name), value, &messages));
    };
    let generate_name = text(metadata, "generateName");
    if !generate_name.is_empty() {
        let messages = (rules.name)(generate_name, true);
        invalid("generateName", generate_name, messages, errors);
    }
    match text(metadata, "name") {
        "" if rules.is_name_required => {
            let detail = "name or generateName is required";
            errors.push(FieldError::required(at.name("name").to_path(), detail));
        }
        "" => {}
        name => invalid("name", name, (rules.name)(name, false), errors),
    }
    let namespace_path = at.name("namespace");
    match (rules.namespace, text(metadata, "namespace")) {
        (Namespace::Required, "") => {
            errors.push(FieldError::required(namespace_path.to_path(), ""));
        }
        (_, "") => {}
        (Namespace::Forbidden, _) => {
            let detail = "not allowed on this type";
            errors.push(FieldError::forbidden(namespace_path.to_path(), detail));
        }
        (_, namespace) => {
            invalid("namespace", namespace, names::dns1123_label(namespace), errors);
        }
    }
    let generation = generation(metadata);
    if generation < 0 {
        let path = at.name("generation").to_path();
        let detail = "must be greater than or equal to 0";
        errors.push(FieldError::invalid(path, generation, detail));
    }
    labels(metadata, at, rules.wording, errors);
    annotations(metadata, at, rules.wording, errors);
    owner_references(metadata, at, rules.wording, errors);
    finalizers(metadata, at, rules.wording, errors);
    managed_fields(metadata, at, errors);
}

fn invalid_all(at: &Location<'_>, value: &str, messages: &[String]) -> Vec<FieldError> {
    messages.iter().map(|message| FieldError::invalid(at.to_path(), value, message)).collect()
}

fn labels(metadata: &Value, at: &Location<'_>, wording: &Wording, errors: &mut Vec<FieldError>) {
    if let Some(Value::Object(labels)) = metadata.get("labels") {
        errors.extend(validate_labels(labels, &at.name("labels"), wording));
    }
}

/// Validates labels at a place (OM-31).
pub fn validate_labels(
    labels: &Map<String, Value>,
    at: &Location<'_>,
    wording: &Wording,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (key, value) in crate::value::sorted(labels) {
        let value = value.as_str().unwrap_or_default();
        errors.extend(invalid_all(at, key, &names::qualified_name(key, wording)));
        errors.extend(invalid_all(at, value, &names::label_value(value, wording)));
    }
    errors
}

fn annotations(
    metadata: &Value,
    at: &Location<'_>,
    wording: &Wording,
    errors: &mut Vec<FieldError>,
) {
    if let Some(Value::Object(annotations)) = metadata.get("annotations") {
        errors.extend(validate_annotations(annotations, &at.name("annotations"), wording));
    }
}

/// Validates annotations at a place (OM-31).
pub fn validate_annotations(
    annotations: &Map<String, Value>,
    at: &Location<'_>,
    wording: &Wording,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut size = 0;
    for (key, value) in crate::value::sorted(annotations) {
        let messages = names::qualified_name(&names::lower_case(key), wording);
        errors.extend(invalid_all(at, key, &messages));
        size += key.len() + value.as_str().unwrap_or_default().len();
    }
    if size > MAX_ANNOTATIONS as usize {
        errors.push(FieldError::too_long(at.to_path(), MAX_ANNOTATIONS));
    }
    errors
}

fn owner_references(
    metadata: &Value,
    at: &Location<'_>,
    wording: &Wording,
    errors: &mut Vec<FieldError>,
) {
    let references = list(metadata, "ownerReferences");
    let at = at.name("ownerReferences");
    let mut controller: Option<String> = None;
    let mut repeats = (MAX_REPEATED / references.len().max(1)).max(1);
    for reference in references {
        let api_version = text(reference, "apiVersion");
        let (group, version) = split_api_version(api_version);
        if version.is_empty() || version.contains('/') {
            let path = at.name("apiVersion").to_path();
            errors.push(FieldError::invalid(path, api_version, "version must not be empty"));
        }
        for name in ["kind", "name", "uid"] {
            if text(reference, name).is_empty() {
                let path = at.name(name).to_path();
                let detail = wording.about(name, "must not be empty");
                errors.push(FieldError::invalid(path, "", &detail));
            }
        }
        if (group, version, text(reference, "kind")) == ("", "v1", "Event") {
            let detail = "/v1, Kind=Event is disallowed from being an owner";
            let error = FieldError::invalid(at.to_path(), deep_clone(reference), detail);
            let in_go = go_syntax(reference, OwnerReference::TYPE, PACKAGE);
            errors.push(error.show_value_as(show_reference(reference)).show_value_in_go_as(in_go));
        }
        if reference.get("controller") != Some(&Value::Bool(true)) {
            continue;
        }
        let name = format!("{}/{}", text(reference, "kind"), text(reference, "name"));
        match &controller {
            None => controller = Some(name),
            Some(_) if repeats == 0 => {}
            Some(first) => {
                repeats -= 1;
                let detail = format!(
                    "Only one reference can have Controller set to true. Found \"true\" in \
                     references for {first} and {name}"
                );
                let value: Vec<Value> = references.iter().map(deep_clone).collect();
                let shown: Vec<String> = references.iter().map(show_reference).collect();
                let value = Value::from(value);
                let in_go = go_syntax(&value, <Vec<OwnerReference>>::TYPE, PACKAGE);
                let error = FieldError::invalid(at.to_path(), value, &detail);
                let error = error.show_value_as(format!("[{}]", shown.join(",")));
                errors.push(error.show_value_in_go_as(in_go));
            }
        }
    }
}

/// Errors in the wording of a server.
fn worded(errors: Vec<FieldError>, wording: &Wording) -> Vec<FieldError> {
    errors.into_iter().map(|error| error.worded(wording)).collect()
}

/// The error about a time, in Go syntax (KV-10).
fn of_time(error: FieldError) -> FieldError {
    let text = error.bad_value().and_then(Value::as_str).unwrap_or("0001-01-01T00:00:00Z");
    let text = text.replacen('T', " ", 1).replacen('Z', " +0000 UTC", 1);
    error.show_value_in_go_as(text)
}

/// An owner reference as errors show it: its members in the order of their declaration.
fn show_reference(reference: &Value) -> String {
    let member = |name: &str| {
        let value = compact_json(reference.get(name)?);
        Some(format!("\"{name}\":{value}"))
    };
    let members: Vec<String> =
        OwnerReference::record().fields.iter().filter_map(|field| member(field.name)).collect();
    format!("{{{}}}", members.join(","))
}

fn finalizers(
    metadata: &Value,
    at: &Location<'_>,
    wording: &Wording,
    errors: &mut Vec<FieldError>,
) {
    let at = at.name("finalizers");
    for finalizer in texts(metadata, "finalizers") {
        errors.extend(invalid_all(&at, finalizer, &names::qualified_name(finalizer, wording)));
    }
    let has = |name| texts(metadata, "finalizers").any(|finalizer| finalizer == name);
    if has(ORPHAN_FINALIZER) && has(FOREGROUND_FINALIZER) {
        let detail = "finalizer orphan and foregroundDeletion cannot be both set";
        let all: Vec<&str> = texts(metadata, "finalizers").collect();
        errors.push(FieldError::invalid(at.to_path(), all, detail).of_strings());
    }
}

fn managed_fields(metadata: &Value, at: &Location<'_>, errors: &mut Vec<FieldError>) {
    let at = at.name("managedFields");
    for (index, entry) in list(metadata, "managedFields").iter().enumerate() {
        let at = at.index(index);
        let path = |name: &str| at.name(name).to_path();
        let operation = text(entry, "operation");
        if !matches!(operation, "Apply" | "Update") {
            let detail = "must be `Apply` or `Update`";
            errors.push(FieldError::invalid(path("operation"), operation, detail));
        }
        let fields_type = text(entry, "fieldsType");
        if !matches!(fields_type, "" | "FieldsV1") {
            let detail = "must be `FieldsV1`";
            errors.push(FieldError::invalid(path("fieldsType"), fields_type, detail));
        }
        validate_manager(text(entry, "manager"), &at.name("manager"), errors);
        if text(entry, "subresource").len() > MAX_SUBRESOURCE as usize {
            errors.push(FieldError::too_long(path("subresource"), MAX_SUBRESOURCE));
        }
    }
}

/// Validates the name of a manager of fields: its length, and that all of it can be printed. Names
/// with very many other characters get an error for the first ones only.
pub fn validate_manager(manager: &str, at: &Location<'_>, errors: &mut Vec<FieldError>) {
    if manager.len() > MAX_MANAGER as usize {
        errors.push(FieldError::too_long(at.to_path(), MAX_MANAGER));
    }
    let unprintable = manager.char_indices().filter(|(_, c)| !is_printable(*c));
    let repeats = (MAX_REPEATED / manager.len().max(1)).max(1);
    for (position, c) in unprintable.take(repeats) {
        let detail = format!("invalid character U+{:04X} (at position {position})", c as u32);
        errors.push(FieldError::invalid(at.to_path(), manager, &detail));
    }
}

fn list<'v>(record: &'v Value, name: &str) -> &'v [Value] {
    record.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn texts<'v>(record: &'v Value, name: &str) -> impl Iterator<Item = &'v str> {
    list(record, name).iter().filter_map(Value::as_str)
}

fn generation(metadata: &Value) -> i64 {
    metadata.get("generation").and_then(Value::as_i64).unwrap_or_default()
}
