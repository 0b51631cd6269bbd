//! The changes that decoding makes to metadata.

use serde_json::{Map, Value};

use super::decode::field_error;
use super::object_meta::ObjectMeta;
use crate::record::{Record, Type, TypedRecord};
use crate::value::{deep_clone, deep_eq, sorted};
use crate::{Change, ChangeKind, FieldPath, Location, Reason};

const UNKNOWN: Reason = Reason::new("OM-12", "not a field of metadata");
const EMPTY: Reason = Reason::new("OM-02", "empty, which is the same as absent");
const NULL_ENTRY: Reason = Reason::new("OM-03", "null is the empty string here");
const ALWAYS_WRITTEN: Reason = Reason::new("OM-02", "always written");
const UNSET_TIME: Reason = Reason::new("KV-01", "not set, and written all the same");
const NORMALISED: Reason = Reason::new("OM-04", "times are kept in UTC with second precision");
const WHOLE: Reason = Reason::new("OM-03", "whole numbers are integers here");

/// Lists the differences between metadata as it came and normalized. `schema` is the path of the
/// schema that makes the place a resource.
pub fn metadata_changes(
    written: &Value,
    normal: &Value,
    at: &Location<'_>,
    schema: &FieldPath,
) -> Vec<Change> {
    let mut diff = Diff { schema, changes: Vec::new() };
    match (written, normal) {
        (Value::Object(written), Value::Object(normal)) => {
            diff.record(Some(ObjectMeta::record()), written, normal, at);
        }
        (Value::Null, normal) => {
            let reason = Reason::new("OM-03", "null metadata is empty metadata");
            diff.push(ChangeKind::MetadataCoerced, at, Some(written), Some(normal), reason);
        }
        _ => {}
    }
    diff.changes
}

struct Diff<'a> {
    schema: &'a FieldPath,
    changes: Vec<Change>,
}

impl Diff<'_> {
    fn push(
        &mut self,
        kind: ChangeKind,
        at: &Location<'_>,
        before: Option<&Value>,
        after: Option<&Value>,
        reason: Reason,
    ) {
        let values = (before.map(deep_clone), after.map(deep_clone));
        self.changes.push(Change::new(kind, at.to_path(), values, reason, self.schema.clone()));
    }

    /// `record` names the known fields; a map of strings has none.
    fn record(
        &mut self,
        record: Option<&'static Record>,
        written: &Map<String, Value>,
        normal: &Map<String, Value>,
        at: &Location<'_>,
    ) {
        for (name, before) in sorted(written) {
            let at = at.name(name);
            let type_ = record.and_then(|record| record.field(name)).map(|field| field.type_);
            if let Some(after) = normal.get(name) {
                self.field(type_, before, after, &at);
                continue;
            }
            let reason = if type_.is_none() {
                UNKNOWN
            } else {
                match field_error(name, before) {
                    Some(error) => Reason::with_text("OM-11", error.to_string()),
                    None => EMPTY,
                }
            };
            self.push(ChangeKind::MetadataDropped, &at, Some(before), None, reason);
        }
        for (name, after) in sorted(normal) {
            if !written.contains_key(name) {
                let kind = ChangeKind::MetadataCoerced;
                let reason = if after.is_null() { UNSET_TIME } else { ALWAYS_WRITTEN };
                self.push(kind, &at.name(name), None, Some(after), reason);
            }
        }
    }

    fn field(&mut self, type_: Option<Type>, before: &Value, after: &Value, at: &Location<'_>) {
        if deep_eq(before, after) {
            return;
        }
        match (type_, before, after) {
            (Some(Type::Map(_)), Value::Object(before), Value::Object(after)) => {
                self.record(None, before, after, at);
            }
            (Some(Type::List(of)), Value::Array(before), Value::Array(after)) => {
                for (index, (before, after)) in before.iter().zip(after).enumerate() {
                    let at = at.index(index);
                    match (of, before, after) {
                        (Type::Record(table), Value::Object(before), Value::Object(after)) => {
                            self.record(Some(table()), before, after, &at);
                        }
                        _ => self.entry(before, after, &at),
                    }
                }
            }
            _ => self.entry(before, after, at),
        }
    }

    fn entry(&mut self, before: &Value, after: &Value, at: &Location<'_>) {
        if deep_eq(before, after) {
            return;
        }
        let reason = match (before, after) {
            (Value::Null, Value::String(_)) => NULL_ENTRY,
            (Value::Null, _) => Reason::new("OM-03", "null is an empty entry here"),
            (Value::Number(_), _) => WHOLE,
            _ => NORMALISED,
        };
        self.push(ChangeKind::MetadataCoerced, at, Some(before), Some(after), reason);
    }
}
