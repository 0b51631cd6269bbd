//! Decoding `metadata` to its known fields and writing it back normalized (OM-01 to OM-12).

use std::ops::Deref;

use serde_json::{Map, Value};

use super::object_meta::ObjectMeta;
use crate::record::{
    FieldValue, Record, RecordError, Type, TypedRecord, check_field, check_tree, is_normal,
    unknown_fields,
};
use crate::value::{DeepValue, deep_clone, dismantle, go_type};
use crate::{Dialect, Location};

/// The treatment of parts of metadata that do not decode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invalid {
    /// The whole metadata is refused; request bodies and conversions are read so.
    Refuse,
    /// The top-level fields that don't decode are dropped (OM-11); storage is read so.
    Drop,
}

/// Metadata in normal form.
#[derive(Debug)]
pub enum NormalMetadata<'m> {
    /// It was so before.
    Same(&'m Value),
    /// It is another value.
    Changed(DeepValue),
}

impl NormalMetadata<'_> {
    /// Returns the other value, if it is one.
    pub fn changed(self) -> Option<DeepValue> {
        match self {
            NormalMetadata::Same(_) => None,
            NormalMetadata::Changed(changed) => Some(changed),
        }
    }

    /// Returns the metadata as a value of its own.
    pub fn into_value(self) -> DeepValue {
        match self {
            NormalMetadata::Same(metadata) => deep_clone(metadata).into(),
            NormalMetadata::Changed(changed) => changed,
        }
    }
}

impl Deref for NormalMetadata<'_> {
    type Target = Value;

    fn deref(&self) -> &Value {
        match self {
            NormalMetadata::Same(metadata) => metadata,
            NormalMetadata::Changed(changed) => changed,
        }
    }
}

/// Decodes metadata and returns it in normal form: known fields only, empty ones dropped, times
/// in UTC seconds (OM-02 to OM-04).
///
/// # Errors
///
/// The server's text (OM-05, OM-10).
pub fn decode_metadata(
    metadata: &Value,
    invalid: Invalid,
) -> Result<NormalMetadata<'_>, RecordError> {
    if let Value::Object(members) = metadata
        && is_normal(members, ObjectMeta::record())
    {
        return Ok(NormalMetadata::Same(metadata));
    }
    decode_to_record(metadata, invalid).map(NormalMetadata::Changed)
}

fn decode_to_record(metadata: &Value, invalid: Invalid) -> Result<DeepValue, RecordError> {
    match (check_tree(metadata, ObjectMeta::record()), metadata, invalid) {
        (Ok(_), ..) => Ok(ObjectMeta::of(metadata).to_document()),
        (Err(error), _, Invalid::Refuse) => Err(error),
        (Err(_), Value::Object(members), Invalid::Drop) => {
            let valid = members.iter().filter(|(name, value)| field_error(name, value).is_none());
            let valid: Map<_, _> =
                valid.map(|(name, value)| (name.clone(), deep_clone(value))).collect();
            let valid = DeepValue::from(Value::Object(valid));
            Ok(ObjectMeta::of(&valid).to_document())
        }
        (Err(_), other, Invalid::Drop) => {
            let found = go_type(other);
            Err(RecordError::new(format!("invalid metadata: expected object, got {found}")))
        }
    }
}

/// Decodes metadata only to check it, and removes its unknown fields: what KEP-2332 asks for, and
/// the KEP dialect does in place of [`decode_metadata`] (KD-09).
fn prune_metadata(metadata: &Value, invalid: Invalid) -> Result<NormalMetadata<'_>, RecordError> {
    let normal = decode_metadata(metadata, invalid)?;
    if matches!(normal, NormalMetadata::Same(_)) {
        return Ok(normal);
    }
    let mut pruned = deep_clone(metadata);
    if let Value::Object(members) = &mut pruned {
        prune_record(ObjectMeta::record(), members);
        members.retain(|name, value| field_error(name, value).is_none());
    }
    Ok(NormalMetadata::Changed(pruned.into()))
}

fn prune_record(record: &Record, members: &mut Map<String, Value>) {
    members.retain(|name, value| {
        let Some(field) = record.field(name) else {
            dismantle(value.take());
            return false;
        };
        if let (Type::List(Type::Record(table)), Value::Array(items)) = (field.type_, &mut *value) {
            let records = items.iter_mut().filter_map(Value::as_object_mut);
            records.for_each(|members| prune_record(table(), members));
        }
        true
    });
}

/// Writes a missing `creationTimestamp` as null, as old servers do whenever they write the metadata
/// of a whole object (KV-01).
pub fn write_unset_time(metadata: &mut Value) {
    if let Value::Object(members) = metadata {
        members.entry("creationTimestamp").or_insert(Value::Null);
    }
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
) -> Result<NormalMetadata<'_>, RecordError> {
    match dialect {
        Dialect::Kep => prune_metadata(metadata, invalid),
        _ => decode_metadata(metadata, invalid),
    }
}

/// Why one top-level field of metadata would be dropped; none if it decodes.
pub(crate) fn field_error(name: &str, value: &Value) -> Option<RecordError> {
    check_field(ObjectMeta::record(), name, value).err()
}

/// Returns the paths of the unknown fields of metadata, in the server's order and number (OM-12).
/// `at` is the place of the metadata.
pub fn unknown_metadata_fields(metadata: &Value, at: &Location<'_>) -> Vec<String> {
    let prefix = at.to_path();
    let unknown = unknown_fields(metadata, ObjectMeta::record());
    unknown.iter().map(|path| format!("{prefix}.{}", path.to_dotted())).collect()
}
