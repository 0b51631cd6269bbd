//! Decoding `metadata` to its known fields and writing it back normalized (OM-01 to OM-12).

use crate::print::json_float;
use crate::value::{DeepValue, Num, deep_clone, dismantle, json_type, sorted};
use crate::{Dialect, FieldPath, Location};
use serde_json::{Map, Value};

use super::fields::{Kind, OBJECT_META, Record, field_kind};
use super::time::Time;

/// The treatment of parts of metadata that do not decode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invalid {
    /// The whole metadata is refused; request bodies and conversions are read so.
    Refuse,
    /// The top-level fields that don't decode are dropped (OM-11); storage is read so.
    Drop,
}

/// Metadata that cannot be decoded; prints the server's text (OM-05, OM-10).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct MetadataError {
    text: String,
    /// Whether the server stops at it. Fields of the wrong type are remembered, and the first of
    /// them is reported when all the rest is read; a time that cannot be read is reported at once
    /// (OM-05).
    is_last: bool,
}

impl MetadataError {
    fn of_type(text: String) -> Self {
        MetadataError { text, is_last: false }
    }

    fn of_time(error: impl std::fmt::Display) -> Self {
        MetadataError { text: error.to_string(), is_last: true }
    }
}

/// The first field of the wrong type.
#[derive(Default)]
struct First(Option<MetadataError>);

impl First {
    /// Takes a field that decodes; `None` for one of the wrong type.
    fn note<T>(&mut self, decoded: Result<T, MetadataError>) -> Result<Option<T>, MetadataError> {
        match decoded {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.is_last => Err(error),
            Err(error) => {
                self.0.get_or_insert(error);
                Ok(None)
            }
        }
    }

    fn check(self) -> Result<(), MetadataError> {
        self.0.map_or(Ok(()), Err)
    }
}

/// The maximum number of unknown fields that one metadata object reports (OM-12).
const MAX_UNKNOWN_FIELDS: usize = 100;

/// Decodes metadata and returns it normalized: known fields only, empty ones dropped, times in UTC
/// seconds (OM-02 to OM-04).
///
/// # Errors
///
/// If the metadata, or with [`Invalid::Refuse`] a field of it, has the wrong type.
pub fn decode_metadata(metadata: &Value, invalid: Invalid) -> Result<DeepValue, MetadataError> {
    let members = match metadata {
        Value::Object(members) => members,
        Value::Null => return Ok(DeepValue::from(Value::Object(Map::new()))),
        other => return Err(not_an_object(other, invalid)),
    };
    let (mut decoded, mut first) = (Map::new(), First::default());
    for (name, value) in sorted(members) {
        let Some(kind) = field_kind(OBJECT_META, name) else { continue };
        let field = Field { record: "ObjectMeta", path: name.clone() };
        let value = match (kind.decode(value, &field), invalid) {
            (value, Invalid::Refuse) => first.note(value)?.flatten(),
            (value, Invalid::Drop) => value.ok().flatten(),
        };
        if let Some(value) = value {
            decoded.insert(name.clone(), value);
        }
    }
    first.check()?;
    Ok(DeepValue::from(Value::Object(decoded)))
}

/// Decodes metadata only to check it, and removes its unknown fields: KEP-2332 asks for that, and
/// the KEP dialect does it in place of [`decode_metadata`] (KD-09).
///
/// # Errors
///
/// If the metadata, or with [`Invalid::Refuse`] a field of it, has the wrong type.
pub fn prune_metadata(metadata: &Value, invalid: Invalid) -> Result<DeepValue, MetadataError> {
    decode_metadata(metadata, invalid)?;
    let mut pruned = deep_clone(metadata);
    if let Value::Object(members) = &mut pruned {
        prune_record(OBJECT_META, members);
        members.retain(|name, value| field_error(name, value).is_none());
    }
    Ok(DeepValue::from(pruned))
}

fn prune_record(record: Record, members: &mut Map<String, Value>) {
    members.retain(|name, value| {
        let kind = field_kind(record, name);
        if let (Some(Kind::Records { fields, .. }), Value::Array(items)) = (kind, &mut *value) {
            let records = items.iter_mut().filter_map(Value::as_object_mut);
            records.for_each(|members| prune_record(fields, members));
        }
        if kind.is_none() {
            dismantle(value.take());
        }
        kind.is_some()
    });
}

/// Returns metadata normalized as a dialect demands.
///
/// # Errors
///
/// If the metadata, or with [`Invalid::Refuse`] a field of it, has the wrong type.
pub fn normalize_metadata(
    metadata: &Value,
    invalid: Invalid,
    dialect: Dialect,
) -> Result<DeepValue, MetadataError> {
    match dialect {
        Dialect::Kep => prune_metadata(metadata, invalid),
        _ => decode_metadata(metadata, invalid),
    }
}

/// Returns why a top-level field of metadata would be dropped; `None` if it decodes.
pub(crate) fn field_error(name: &str, value: &Value) -> Option<MetadataError> {
    let field = Field { record: "ObjectMeta", path: name.to_owned() };
    field_kind(OBJECT_META, name)?.decode(value, &field).err()
}

/// Returns the paths of the unknown fields of metadata, in the server's order and number (OM-12).
/// `at` is the place of the metadata.
pub fn unknown_metadata_fields(metadata: &Value, at: &Location<'_>) -> Vec<String> {
    let mut unknown = Vec::new();
    if let Value::Object(members) = metadata {
        find_unknown(OBJECT_META, members, &Location::TOP, &mut unknown);
    }
    unknown.truncate(MAX_UNKNOWN_FIELDS);
    let prefix = at.to_path();
    unknown.iter().map(|path| format!("{prefix}.{}", path.to_dotted())).collect()
}

fn find_unknown(
    record: Record,
    members: &Map<String, Value>,
    at: &Location<'_>,
    unknown: &mut Vec<FieldPath>,
) {
    for (name, value) in sorted(members) {
        let at = at.name(name);
        match (field_kind(record, name), value) {
            (None, _) => unknown.push(at.to_path()),
            (Some(Kind::Records { fields, .. }), Value::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    if let Value::Object(members) = item {
                        find_unknown(fields, members, &at.index(index), unknown);
                    }
                }
            }
            _ => {}
        }
    }
}

fn not_an_object(metadata: &Value, invalid: Invalid) -> MetadataError {
    let (json, go) = (json_type(metadata), crate::value::go_type(metadata));
    MetadataError::of_type(match invalid {
        Invalid::Refuse => {
            format!("json: cannot unmarshal {json} into Go value of type v1.ObjectMeta")
        }
        Invalid::Drop => format!("invalid metadata: expected object, got {go}"),
    })
}

/// A field as errors name it (OM-05): the innermost record, and the path from metadata without
/// list positions.
struct Field {
    record: &'static str,
    path: String,
}

impl Field {
    fn cannot_unmarshal(&self, what: &str, go_type: &str) -> MetadataError {
        let Field { record, path } = self;
        MetadataError::of_type(format!(
            "json: cannot unmarshal {what} into Go struct field {record}.{path} of type {go_type}"
        ))
    }

    fn wrong_type(&self, value: &Value, go_type: &str) -> MetadataError {
        self.cannot_unmarshal(json_type(value), go_type)
    }
}

impl Kind {
    /// Decodes one field; none means that it is not written back.
    fn decode(self, value: &Value, field: &Field) -> Result<Option<Value>, MetadataError> {
        if value.is_null() {
            return Ok(match self {
                Kind::RequiredString(_) => Some(Value::from("")),
                _ => None,
            });
        }
        match self {
            Kind::String(go_type) => {
                let text = string(value, field, go_type)?;
                Ok((!text.is_empty()).then(|| Value::from(text)))
            }
            Kind::RequiredString(go_type) => Ok(Some(Value::from(string(value, field, go_type)?))),
            Kind::Integer => {
                let int = integer(value, field)?;
                Ok((int != 0).then(|| Value::from(int)))
            }
            Kind::OptionalInteger => Ok(Some(Value::from(integer(value, field)?))),
            Kind::OptionalBool => match value {
                Value::Bool(_) => Ok(Some(value.clone())),
                other => Err(field.wrong_type(other, "bool")),
            },
            Kind::Time => {
                let text = string(value, field, "string").map_err(MetadataError::of_time)?;
                let time = Time::parse(text).map_err(MetadataError::of_time)?;
                Ok((!time.is_zero()).then(|| Value::from(time.to_rfc3339())))
            }
            Kind::StringMap => string_map(value, field),
            Kind::StringList => string_list(value, field),
            Kind::Records { go, struct_name, fields } => {
                let Value::Array(items) = value else {
                    return Err(field.wrong_type(value, &format!("[]{go}")));
                };
                let (mut records, mut first) = (Vec::new(), First::default());
                for item in items {
                    let record = decode_record(item, field, (go, struct_name, fields));
                    records.extend(first.note(record)?);
                }
                first.check()?;
                Ok((!records.is_empty()).then_some(Value::Array(records)))
            }
            Kind::Any => Ok(Some(deep_clone(value))),
        }
    }
}

fn decode_record(
    value: &Value,
    field: &Field,
    (go, struct_name, fields): (&str, &'static str, Record),
) -> Result<Value, MetadataError> {
    let empty = Map::new();
    let members = match value {
        Value::Object(members) => members,
        Value::Null => &empty,
        other => return Err(field.wrong_type(other, go)),
    };
    let (mut record, mut first) = (Map::new(), First::default());
    for (name, kind) in fields {
        if let Kind::RequiredString(_) = kind {
            record.insert((*name).to_owned(), Value::from(""));
        }
    }
    for (name, value) in sorted(members) {
        let Some(kind) = field_kind(fields, name) else { continue };
        let field = Field { record: struct_name, path: format!("{}.{name}", field.path) };
        if let Some(value) = first.note(kind.decode(value, &field))?.flatten() {
            record.insert(name.clone(), value);
        }
    }
    first.check()?;
    Ok(Value::Object(record))
}

fn string<'v>(value: &'v Value, field: &Field, go_type: &str) -> Result<&'v str, MetadataError> {
    value.as_str().ok_or_else(|| field.wrong_type(value, go_type))
}

/// Whole floats are integers too (OM-03).
fn integer(value: &Value, field: &Field) -> Result<i64, MetadataError> {
    let Value::Number(number) = value else { return Err(field.wrong_type(value, "int64")) };
    let number = Num::of(number);
    let refused =
        || field.cannot_unmarshal(&format!("number {}", json_float(number.as_f64())), "int64");
    number.to_i64().ok_or_else(refused)
}

fn string_map(value: &Value, field: &Field) -> Result<Option<Value>, MetadataError> {
    let Value::Object(members) = value else {
        return Err(field.wrong_type(value, "map[string]string"));
    };
    let mut texts = Map::new();
    for (name, value) in sorted(members) {
        texts.insert(name.clone(), entry(value, field)?);
    }
    Ok(Some(texts).filter(|texts| !texts.is_empty()).map(Value::Object))
}

fn string_list(value: &Value, field: &Field) -> Result<Option<Value>, MetadataError> {
    let Value::Array(items) = value else { return Err(field.wrong_type(value, "[]string")) };
    let texts: Result<Vec<Value>, _> = items.iter().map(|item| entry(item, field)).collect();
    Ok(Some(texts?).filter(|texts| !texts.is_empty()).map(Value::Array))
}

/// A value of a string map or list; null is the empty string (OM-03).
fn entry(value: &Value, field: &Field) -> Result<Value, MetadataError> {
    match value {
        Value::Null => Ok(Value::from("")),
        other => string(other, field, "string").map(Value::from),
    }
}
