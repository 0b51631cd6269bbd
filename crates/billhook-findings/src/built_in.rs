//! Unknown fields and values of the wrong type in documents whose kinds are built in: definitions,
//! webhook configurations and policies.

use billhook::{FieldPath, Segment};
use billhook_apimachinery::KubernetesVersion;
use billhook_apimachinery::record::{Record, Type, check_types};
use billhook_apimachinery::value::{DeepValue, grow, json_type, sorted};
use serde_json::{Map, Value};

use crate::edit_distance::{closest, is_alone};
use crate::finding::Finding;
use crate::source::{Place, last_name};
use crate::suggest::{rename, value_of};
use crate::unreadable::mismatch;

impl Finding {
    /// Adds to a finding about an unknown field the field of the kind that may have been meant.
    #[must_use]
    pub fn suggest_field_of(mut self, kind: &'static Record) -> Self {
        let Some(name) = last_name(&self.path).map(str::to_owned) else { return self };
        let Some(parent) = parent(kind, &self.path) else { return self };
        let known = || parent.fields.iter().map(|field| field.name);
        if let Some(meant) = closest(&name, known()) {
            self.label = Some(format!("did you mean `{meant}`?"));
            let is_safe = is_alone(&name, meant, known())
                && value_of(&self).is_some_and(|value| takes(parent, meant, value));
            rename(&mut self, &name, meant, is_safe);
        }
        self
    }

    /// [`Finding::suggest_type`] for a document of a kind, wherever in it the value is.
    #[must_use]
    pub fn suggest_type_of(self, kind: &'static Record) -> Self {
        let found = mismatch(&self.text).map(|(found, ..)| found);
        let value = self.place.as_ref().and_then(value_at);
        let path = found.zip(value).and_then(|(found, value)| in_record(&value, kind, found));
        match path {
            Some(path) => self.of_wrong_type(path),
            None => self.suggest_type(),
        }
    }
}

/// The record whose field a path ends with.
fn parent(kind: &'static Record, path: &FieldPath) -> Option<&'static Record> {
    let above = path.segments().count().checked_sub(1)?;
    let (mut record, mut type_) = (Some(kind), None);
    for segment in path.segments().take(above) {
        type_ = match (record, type_, segment) {
            (Some(record), _, Segment::Name(name) | Segment::Key(name)) => {
                record.field(name).map(|field| bare(field.type_))
            }
            (_, Some(Type::List(inner)), Segment::Index(_))
            | (_, Some(Type::Map(inner)), Segment::Name(_) | Segment::Key(_)) => Some(bare(*inner)),
            (_, Some(Type::RecordOrList(table)), Segment::Index(_)) => Some(Type::Record(table)),
            _ => return None,
        };
        record = type_.and_then(record_of);
    }
    record
}

/// The type itself, whatever its name and whether it may be absent.
fn bare(type_: Type) -> Type {
    match type_.unnamed() {
        Type::Optional(inner) => bare(*inner),
        other => other,
    }
}

fn record_of(type_: Type) -> Option<&'static Record> {
    match bare(type_) {
        Type::Record(table)
        | Type::RecordOrList(table)
        | Type::RecordOrFlag(table)
        | Type::RecordOrTexts(table) => Some(table()),
        _ => None,
    }
}

/// Whether a record has a field that takes a value.
fn takes(record: &'static Record, field: &str, mut value: DeepValue) -> bool {
    let members = Map::from_iter([(field.to_owned(), value.take())]);
    let document = DeepValue::from(Value::Object(members));
    check_types(&document, record, KubernetesVersion::default(), None)
        .is_ok_and(|unknown| unknown.is_empty())
}

/// The object at a place.
fn value_at(place: &Place) -> Option<DeepValue> {
    let manifests = billhook::read_manifests(place.source.bytes()).ok()?.into_iter();
    let mut value =
        manifests.into_iter().find(|it| Some(it.index()) == place.document)?.into_value();
    let mut inner = &mut *value;
    for segment in place.base.segments() {
        inner = match segment {
            Segment::Name(name) | Segment::Key(name) => inner.get_mut(name)?,
            Segment::Index(index) => inner.get_mut(index)?,
            _ => return None,
        };
    }
    Some(DeepValue::from(inner.take()))
}

/// The first value that is of a type, as errors name it, and should be of another.
fn in_record(value: &Value, record: &'static Record, found: &str) -> Option<FieldPath> {
    let members = value.as_object()?;
    grow(|| {
        sorted(members).into_iter().find_map(|(name, member)| {
            let rest = wrong(member, record.field(name)?.type_, found)?;
            Some(FieldPath::default().name(name).join(&rest))
        })
    })
}

fn wrong(value: &Value, type_: Type, found: &str) -> Option<FieldPath> {
    let items = |items: &[Value], type_: Type| {
        items.iter().enumerate().find_map(|(index, item)| {
            Some(FieldPath::default().index(index).join(&wrong(item, type_, found)?))
        })
    };
    match (bare(type_), value) {
        (_, Value::Null) | (Type::Any, _) => None,
        (Type::List(inner), Value::Array(list)) => items(list, *inner),
        (Type::RecordOrList(table), Value::Array(list)) => items(list, Type::Record(table)),
        (Type::Map(inner), Value::Object(members)) => {
            sorted(members).into_iter().find_map(|(name, member)| {
                Some(FieldPath::default().key(name).join(&wrong(member, *inner, found)?))
            })
        }
        (other, Value::Object(_)) if record_of(other).is_some() => {
            in_record(value, record_of(other)?, found)
        }
        (Type::RecordOrFlag(_), Value::Bool(_)) | (Type::RecordOrTexts(_), Value::Array(_)) => None,
        (Type::Flag, Value::Bool(_)) => None,
        (Type::Int32 | Type::Int64 | Type::Float, Value::Number(_)) => None,
        (Type::Text | Type::Bytes | Type::Time | Type::Parsed(_), Value::String(_)) => None,
        _ => (json_type(value) == found).then(FieldPath::default),
    }
}
