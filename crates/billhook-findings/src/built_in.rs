//! Unknown fields and values of the wrong type in documents whose kinds are built in: definitions,
//! webhook configurations and policies.

use billhook::{FieldPath, Segment};
use billhook_apimachinery::KubernetesVersion;
use billhook_apimachinery::record::{InText, Record, Type, check_types};
use billhook_apimachinery::value::DeepValue;

use crate::finding::Finding;
use crate::source::Place;
use crate::suggest::field_of;

impl Finding {
    /// Adds to a finding about an unknown field the field of the kind that may have been meant.
    #[must_use]
    pub fn suggest_field_of(mut self, kind: &'static Record) -> Self {
        if let Some(parent) = parent(kind, &self.path) {
            field_of(&mut self, parent);
        }
        self
    }

    /// [`Finding::suggest_type`] for a document of a kind, wherever in it the value is.
    #[must_use]
    pub fn suggest_type_of(self, kind: &'static Record) -> Self {
        let error = self.place.as_ref().and_then(|place| {
            let value = value_at(place)?;
            let spans = place.source.spans(place.document?)?;
            let placed =
                place.base.segments().try_fold(spans.top()?, |placed, step| placed.child(step));
            // The first error of the value, or of the text, of any server.
            let in_text = || placed.map(|placed| InText { text: place.source.bytes(), placed });
            let versions = KubernetesVersion::ALL.into_iter().rev();
            let errors = versions
                .flat_map(|version| [None, in_text()].map(|text| (version, text)))
                .filter_map(|(version, text)| check_types(&value, kind, version, text).err());
            errors.into_iter().find(|error| self.text.ends_with(&error.to_string()))
        });
        match error.as_ref().and_then(|error| Some((error.path()?.clone(), error.wanted()))) {
            Some((path, Some(wanted))) => self.of_wrong_type(path, wanted),
            Some((path, None)) => match self.place.clone() {
                Some(place) => self.at(&place, path),
                None => self,
            },
            None => self.suggest_type(),
        }
    }
}

/// The record whose field a path ends with.
pub(crate) fn parent(kind: &'static Record, path: &FieldPath) -> Option<&'static Record> {
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

/// The type itself, without its name and the mark that it may be absent.
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

/// The object at a place.
fn value_at(place: &Place) -> Option<DeepValue> {
    let manifests = billhook::read_manifests(place.source.bytes()).ok()?.into_iter();
    let mut value =
        manifests.into_iter().find(|it| Some(it.index()) == place.document)?.into_value();
    value.pointer_mut(&place.base.to_json_pointer()).map(|inner| DeepValue::from(inner.take()))
}
