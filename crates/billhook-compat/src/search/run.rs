//! The requests to a server of a definition, and its answers.

use billhook::{
    Change, CrdVersion, DecodeOptions, DeepValue, FieldError, FieldPath, FieldValidation,
    ValidateOptions, remove_server_fields,
};
use billhook_apimachinery::value::{deep_clone, deep_eq};
use billhook_generation::set_metadata;
use serde_json::Value;

/// Why a request is refused.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    pub(crate) text: String,
    pub(crate) errors: Vec<FieldError>,
}

impl Refusal {
    fn of(errors: &[FieldError]) -> Self {
        let text = errors.first().map(ToString::to_string).unwrap_or_default();
        Refusal { text, errors: errors.to_vec() }
    }
}

type Answer = Result<DeepValue, Refusal>;

/// How strictly unknown fields are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unknown {
    Refused,
    Dropped,
}

fn decode(version: &CrdVersion, object: &Value, unknown: Unknown) -> Answer {
    let mode = match unknown {
        Unknown::Refused => FieldValidation::Strict,
        Unknown::Dropped => FieldValidation::Ignore,
    };
    let options = DecodeOptions::default().field_validation(mode);
    let body = billhook::to_json(object);
    let decoded = version.decode(body.as_bytes(), &options);
    decoded
        .map(|decoded| decoded.into_object())
        .map_err(|error| Refusal { text: error.status_message().to_owned(), errors: Vec::new() })
}

fn options() -> ValidateOptions {
    ValidateOptions::default().generic_checks(false)
}

/// Creates an object; returns it as it is stored.
pub(crate) fn create(version: &CrdVersion, object: &Value, unknown: Unknown) -> Answer {
    let mut object = decode(version, object, unknown)?;
    remove_server_fields(&mut object);
    version.prepare_create(&mut object, "default");
    match version.validate_create(&object, &options()).errors() {
        [] => Ok(object),
        errors => Err(Refusal::of(errors)),
    }
}

/// An object that is stored, with its revision.
fn standing(stored: &Value) -> Value {
    let mut stored = deep_clone(stored);
    set_metadata(&mut stored, "resourceVersion", Some("1"));
    stored
}

/// An object that is sent to replace a stored one, in the namespace of that.
fn sent(version: &CrdVersion, stored: &Value, object: &Value, unknown: Unknown) -> Answer {
    let mut object = decode(version, object, unknown)?;
    let namespace = stored.pointer("/metadata/namespace").and_then(Value::as_str);
    set_metadata(&mut object, "namespace", namespace);
    set_metadata(&mut object, "resourceVersion", Some("1"));
    Ok(object)
}

/// A part of an object that requests write on their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// All but the status, where that is written on its own.
    Whole,
    Status,
}

/// Updates a part of a stored object, as a read returns it.
pub(crate) fn update(
    version: &CrdVersion,
    stored: &Value,
    object: &Value,
    part: Part,
    unknown: Unknown,
) -> Answer {
    let (stored, mut object) = (standing(stored), sent(version, stored, object, unknown)?);
    let found = match part {
        Part::Whole => {
            version.prepare_update(&mut object, &stored);
            version.validate_update(&object, &stored, &options())
        }
        Part::Status => {
            version.prepare_status_update(&mut object, &stored);
            version.validate_status_update(&object, &stored, &options())
        }
    };
    match found.errors() {
        [] => Ok(object),
        errors => Err(Refusal::of(errors)),
    }
}

/// Writes an object: creates it and, if it has a status that is written on its own, updates that.
pub(crate) fn write(version: &CrdVersion, object: &Value, unknown: Unknown) -> Answer {
    let has_status = object.get("status").is_some() && version.has_status_subresource();
    let created = create(version, object, unknown)?;
    match has_status {
        true => update(version, &created, object, Part::Status, unknown),
        false => Ok(created),
    }
}

/// Reads a stored object, and the changes that reading makes.
pub(crate) fn read(
    version: &CrdVersion,
    stored: &Value,
) -> Result<(DeepValue, Vec<Change>), String> {
    let mut object = DeepValue::from(deep_clone(stored));
    let options = DecodeOptions::default().report(true);
    let changes = version.decode_storage_value(&mut object, &options);
    changes.map(|changes| (object, changes)).map_err(|error| error.status_message().to_owned())
}

/// Whether two results are the same except for what the server keeps in the metadata.
pub(crate) fn is_same(one: &Value, other: &Value) -> bool {
    first_difference(one, other).is_none()
}

/// The first field in which two results differ.
pub(crate) fn first_difference(one: &Value, other: &Value) -> Option<FieldPath> {
    let (mut one, mut other) = (deep_clone(one), deep_clone(other));
    for object in [&mut one, &mut other] {
        for field in ["resourceVersion", "generation", "managedFields"] {
            set_metadata(object, field, None);
        }
    }
    difference(&one, &other, FieldPath::default())
}

fn difference(one: &Value, other: &Value, at: FieldPath) -> Option<FieldPath> {
    if deep_eq(one, other) {
        return None;
    }
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let mut names: Vec<&String> = one.keys().chain(other.keys()).collect();
            names.sort_unstable();
            names.dedup();
            let below = names.into_iter().find_map(|name| {
                let path = at.clone().name(name.as_str());
                match (one.get(name), other.get(name)) {
                    (Some(one), Some(other)) => difference(one, other, path),
                    _ => Some(path),
                }
            });
            Some(below.unwrap_or(at))
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            let mut pairs = one.iter().zip(other).enumerate();
            let below = pairs.find_map(|(index, (one, other))| {
                difference(one, other, FieldPath::index(at.clone(), index))
            });
            Some(below.unwrap_or(at))
        }
        _ => Some(at),
    }
}

/// The body of a request as a server decodes it, before it validates it.
pub(crate) fn decoded(version: &CrdVersion, object: &Value) -> Option<DeepValue> {
    let mut object = decode(version, object, Unknown::Dropped).ok()?;
    remove_server_fields(&mut object);
    Some(object)
}

/// The errors that an object has as it is read: their fields and types.
pub(crate) fn standing_errors(
    version: &CrdVersion,
    read: &Value,
    part: Part,
) -> Vec<(String, &'static str)> {
    let options = options();
    let mut object = deep_clone(read);
    set_metadata(&mut object, "resourceVersion", None);
    let mut errors = version.validate_create(&object, &options).errors().to_vec();
    set_metadata(&mut object, "resourceVersion", Some("1"));
    // Transition rules are asked of updates only.
    errors.extend_from_slice(version.validate_update(&object, &object, &options).errors());
    if part == Part::Status {
        let empty = serde_json::json!({});
        let mut stored = deep_clone(&object);
        if let Some(members) = stored.as_object_mut() {
            members.insert("status".to_owned(), empty);
        }
        errors
            .extend_from_slice(version.validate_status_update(&object, &stored, &options).errors());
    }
    errors.iter().map(error_kind).collect()
}

/// The field and the type of an error.
pub(crate) fn error_kind(error: &FieldError) -> (String, &'static str) {
    (error.field().to_string(), error.error_type().reason())
}
