//! Changes of an object, place by place.

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
    /// A part of `metadata` was normalized.
    MetadataCoerced,
    /// A value was written in the form that its type has.
    Normalized,
    /// `apiVersion`, `kind` or `metadata` was written back to the object, or set by a conversion.
    TypeRestored,
}

impl ChangeKind {
    /// Returns the kind in words, as it starts a line of a report.
    pub fn label(self) -> &'static str {
        match self {
            ChangeKind::Pruned => "pruned",
            ChangeKind::NullRemoved => "null removed",
            ChangeKind::Defaulted => "defaulted",
            ChangeKind::MetadataDropped => "metadata dropped",
            ChangeKind::MetadataCoerced => "metadata coerced",
            ChangeKind::Normalized => "normalized",
            ChangeKind::TypeRestored => "type restored",
        }
    }
}

/// The reason for a change: a rule of the specification, and the same in words.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Reason {
    rule: &'static str,
    text: std::borrow::Cow<'static, str>,
}

impl Reason {
    /// Creates a reason with fixed words.
    pub const fn new(rule: &'static str, text: &'static str) -> Self {
        Reason { rule, text: std::borrow::Cow::Borrowed(text) }
    }

    /// Creates a reason whose words depend on the case.
    pub fn with_text(rule: &'static str, text: String) -> Self {
        Reason { rule, text: std::borrow::Cow::Owned(text) }
    }

    /// Returns the rule's number, e.g. `PR-12`.
    pub fn rule(&self) -> &'static str {
        self.rule
    }

    /// Returns the reason in words.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// One change of an object: where, what and why.
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
    /// Creates a change from `before` to `after`; `None` stands for a field that is not there.
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

    /// Returns the same change for an object that is at `place` in a larger one.
    #[must_use]
    pub fn below(mut self, place: &FieldPath) -> Self {
        self.path = place.join(&self.path);
        self
    }

    /// Returns the place in the object.
    pub fn path(&self) -> &FieldPath {
        &self.path
    }

    /// Returns the kind of change.
    pub fn kind(&self) -> ChangeKind {
        self.kind
    }

    /// Returns the value before the change; `None` if the field did not exist.
    pub fn before(&self) -> Option<&Value> {
        self.before.as_deref()
    }

    /// Returns the value after the change; `None` if the field is gone.
    pub fn after(&self) -> Option<&Value> {
        self.after.as_deref()
    }

    /// Returns the value that was added or, if none was, the one that was dropped.
    pub fn value(&self) -> Option<&Value> {
        self.after().or(self.before())
    }

    /// Returns the reason.
    pub fn reason(&self) -> &Reason {
        &self.reason
    }

    /// Returns the part of the schema that decided.
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

/// Returns a value as a line of a report shows it: compact JSON, cut when it is long.
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
