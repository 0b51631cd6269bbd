//! What happened to an object, place by place.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::field_path::FieldPath;
use crate::print::{plain_json, quote};
use crate::value::{DeepValue, deep_clone};

/// The kind of a [`Change`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum ChangeKind {
    /// An unknown field was removed.
    Pruned,
    /// A null was removed from a field that is not nullable and has no default.
    NullRemoved,
    /// A default was put where there was nothing, or a null.
    Defaulted,
    /// An unknown, empty or malformed part of `metadata`, or a type field that is not a string,
    /// was removed.
    MetadataDropped,
    /// A part of `metadata` was brought to its normal form.
    MetadataCoerced,
    /// `apiVersion`, `kind` or `metadata` was written back to the object, or set by a conversion.
    TypeRestored,
}

impl ChangeKind {
    /// The kind in words, as it starts a line of a report.
    pub fn label(self) -> &'static str {
        match self {
            ChangeKind::Pruned => "pruned",
            ChangeKind::NullRemoved => "null removed",
            ChangeKind::Defaulted => "defaulted",
            ChangeKind::MetadataDropped => "metadata dropped",
            ChangeKind::MetadataCoerced => "metadata coerced",
            ChangeKind::TypeRestored => "type restored",
        }
    }
}

/// Why a change happened: a rule of the specification and the same in words.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Reason {
    rule: &'static str,
    text: std::borrow::Cow<'static, str>,
}

impl Reason {
    /// A reason with fixed words.
    pub const fn new(rule: &'static str, text: &'static str) -> Self {
        Reason { rule, text: std::borrow::Cow::Borrowed(text) }
    }

    /// A reason whose words depend on the case.
    pub fn with_text(rule: &'static str, text: String) -> Self {
        Reason { rule, text: std::borrow::Cow::Owned(text) }
    }

    /// The rule's number, e.g. `PR-12`.
    pub fn rule(&self) -> &'static str {
        self.rule
    }

    /// The reason in words.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// One change of an object: where, what, and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    path: FieldPath,
    kind: ChangeKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<DeepValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<DeepValue>,
    reason: Reason,
    #[serde(serialize_with = "serialize_path")]
    schema_path: Arc<FieldPath>,
}

fn serialize_path<S: serde::Serializer>(path: &FieldPath, to: S) -> Result<S::Ok, S::Error> {
    path.serialize(to)
}

impl Change {
    /// A change from `before` to `after`; none stands for a field that is not there.
    pub fn new(
        kind: ChangeKind,
        path: FieldPath,
        (before, after): (Option<Value>, Option<Value>),
        reason: Reason,
        schema_path: impl Into<Arc<FieldPath>>,
    ) -> Self {
        let (before, after) = (before.map(DeepValue::from), after.map(DeepValue::from));
        Change { path, kind, before, after, reason, schema_path: schema_path.into() }
    }

    /// The same change for an object that is at `place` in a larger one.
    #[must_use]
    pub fn below(mut self, place: &FieldPath) -> Self {
        self.path = place.join(&self.path);
        self
    }

    /// Where in the object.
    pub fn path(&self) -> &FieldPath {
        &self.path
    }

    /// What kind of change.
    pub fn kind(&self) -> ChangeKind {
        self.kind
    }

    /// The value before the change; none if there was no such field.
    pub fn before(&self) -> Option<&Value> {
        self.before.as_deref()
    }

    /// The value after the change; none if the field is gone.
    pub fn after(&self) -> Option<&Value> {
        self.after.as_deref()
    }

    /// The value that was added or, if none was, the one that was dropped.
    pub fn value(&self) -> Option<&Value> {
        self.after().or(self.before())
    }

    /// Why.
    pub fn reason(&self) -> &Reason {
        &self.reason
    }

    /// The part of the schema that decided.
    pub fn schema_path(&self) -> &FieldPath {
        &self.schema_path
    }

    /// Undoes the change in an object in which all later changes are already undone. Does
    /// nothing where the object doesn't have the place.
    pub fn undo(&self, object: &mut Value) {
        use crate::field_path::Segment;
        let mut segments = self.path.segments();
        let Some(mut last) = segments.next() else { return };
        let mut place = object;
        for segment in segments {
            let parent = std::mem::replace(&mut last, segment);
            let next = match (parent, place) {
                (Segment::Name(key) | Segment::Key(key), Value::Object(members)) => {
                    members.get_mut(key)
                }
                (Segment::Index(index), Value::Array(items)) => items.get_mut(index),
                _ => None,
            };
            let Some(next) = next else { return };
            place = next;
        }
        let before = self.before().map(deep_clone);
        match (last, place) {
            (Segment::Name(key) | Segment::Key(key), Value::Object(members)) => {
                let changed = match before {
                    Some(before) => members.insert(key.to_owned(), before),
                    None => members.remove(key),
                };
                drop(changed.map(DeepValue::from));
            }
            (Segment::Index(index), Value::Array(items)) => {
                if let (Some(item), Some(before)) = (items.get_mut(index), before) {
                    drop(DeepValue::from(std::mem::replace(item, before)));
                }
            }
            _ => {}
        }
    }
}

/// The longest value that a report line shows, in characters.
const SHOWN_VALUE: usize = 60;

/// A value as a report line shows it: compact JSON, cut when it is long.
pub fn excerpt(value: &Value) -> String {
    let text = match value {
        Value::String(text) => quote(text),
        other => plain_json(other),
    };
    match text.char_indices().nth(SHOWN_VALUE) {
        None => text,
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

/// `kind path: before -> after: reason (rule, schema path)`, on one line.
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.label(), self.path)?;
        match (self.before(), self.after()) {
            (Some(before), Some(after)) => {
                write!(f, ": {} -> {}", excerpt(before), excerpt(after))?;
            }
            (Some(value), None) | (None, Some(value)) => write!(f, ": {}", excerpt(value))?,
            (None, None) => {}
        }
        write!(f, " ({}, {}", self.reason.text, self.reason.rule)?;
        if self.schema_path.is_empty() {
            f.write_str(")")
        } else {
            write!(f, ", {})", self.schema_path)
        }
    }
}
