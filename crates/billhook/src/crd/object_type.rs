//! Kinds of fixed types: what their schemas cannot tell.

use std::fmt;
use std::sync::Arc;

use billhook_apimachinery::metadata::subdomain_name;
use billhook_apimachinery::record::{Record, RecordError};
use billhook_apimachinery::value::{deep_clone, deep_eq, grow};
use billhook_apimachinery::{Change, ChangeKind, FieldError, FieldPath, Reason, Segment};
use serde_json::{Map, Value};

/// The rules of a kind whose objects are of a fixed type, as those of built-in kinds are (BK-01),
/// beside those of its definition. New methods will have defaults.
pub trait ObjectType: fmt::Debug + Send + Sync {
    /// Reads a decoded object as its type: checks the types of its fields, brings it into the form in
    /// which servers print it and sets its defaults. Returns the unknown fields as field validation
    /// reports them.
    ///
    /// # Errors
    ///
    /// If a value is not of the type of its field.
    fn read(&self, object: &mut Value) -> Result<Vec<String>, RecordError>;

    /// Returns the fields of the type, by which the first value of a wrong type in a text is found.
    fn record(&self) -> Option<&'static Record> {
        None
    }

    /// Reads an object of another API version in which the kind exists, too, and converts it to that of
    /// the definition. Returns whether it was of such a version.
    ///
    /// # Errors
    ///
    /// If a value is not of the type of its field.
    fn convert(&self, _object: &mut Value) -> Result<bool, RecordError> {
        Ok(false)
    }

    /// Prepares an object for a write, or for a write of its status: the fields that depend on others
    /// or on the stored object (BK-05).
    fn prepare(&self, object: &mut Value, old: Option<&Value>, is_status: bool);

    /// Validates an object that is created, or that replaces another one. Returns the errors and the
    /// warnings.
    fn validate(
        &self,
        object: &Value,
        old: Option<&Value>,
        is_status: bool,
    ) -> (Vec<FieldError>, Vec<String>);

    /// Whether the status of a new object is that of the body (BK-483).
    fn takes_status(&self) -> bool {
        false
    }

    /// Whether a write to the status takes metadata from the body.
    fn takes_metadata(&self) -> bool {
        true
    }

    /// Whether metadata is validated as that of all kinds, and not by [`ObjectType::validate`].
    fn has_plain_metadata(&self) -> bool {
        true
    }

    /// Returns the rule of names: of a name, or with the flag set of a `generateName`, it returns what
    /// is wrong.
    fn name_rule(&self) -> fn(&str, bool) -> Vec<String> {
        subdomain_name
    }

    /// Returns the group of the kind in errors, if it is another one than that of the definition.
    fn group_in_errors(&self) -> Option<&str> {
        None
    }
}

/// Why a type sets a field, and why it writes a value in another way.
const DEFAULT: Reason = Reason::new("BK-06", "missing, so the default of the kind is set");
const PRINTED: Reason = Reason::new("BK-02", "the kind has this field even if it is empty");
const FORM: Reason = Reason::new("BK-04", "servers write the value in this form");
const EMPTY: Reason = Reason::new("BK-02", "left out, as it is empty");
const INTO_DATA: Reason = Reason::new("BK-251", "put into `data`");
const OF_STRING_DATA: Reason = Reason::new("BK-251", "comes from `stringData`");

/// Why another API version becomes that of the definition.
pub(crate) const CONVERTED: Reason =
    Reason::new("BK-05", "converted from another version of the kind");

/// Lists the changes that reading an object as its type has made.
pub(crate) fn changes_of_type(before: &Value, after: &Value) -> Vec<Change> {
    let mut changes = Vec::new();
    compare(before, after, &FieldPath::default(), &mut changes);
    if let (Some(Value::Object(texts)), None) = (before.get(STRING_DATA), after.get(STRING_DATA)) {
        for change in &mut changes {
            if let Some(reason) = reason_of_secret(change.path(), texts) {
                let values = (change.before().map(deep_clone), change.after().map(deep_clone));
                let (kind, path) = (ChangeKind::Normalized, change.path().clone());
                *change = Change::new(kind, path, values, reason, FieldPath::default());
            }
        }
    }
    changes
}

/// The part of a Secret that only requests have.
const STRING_DATA: &str = "stringData";

/// Why the data of a Secret changes with its texts, if it does.
fn reason_of_secret(path: &FieldPath, texts: &Map<String, Value>) -> Option<Reason> {
    let mut names = path.segments().map(|segment| match segment {
        Segment::Name(name) | Segment::Key(name) => name,
        _ => "",
    });
    match (names.next()?, names.next()) {
        (STRING_DATA, None) if !texts.is_empty() => Some(INTO_DATA),
        ("data", None) => Some(OF_STRING_DATA),
        ("data", Some(key)) if texts.contains_key(key) => Some(OF_STRING_DATA),
        _ => None,
    }
}

fn compare(before: &Value, after: &Value, path: &FieldPath, changes: &mut Vec<Change>) {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            grow(|| compare_members(before, after, path, changes));
        }
        (Value::Array(before), Value::Array(after)) if before.len() == after.len() => grow(|| {
            for (index, (before, after)) in before.iter().zip(after).enumerate() {
                compare(before, after, &path.clone().index(index), changes);
            }
        }),
        _ if deep_eq(before, after) => {}
        _ => {
            let values = (Some(deep_clone(before)), Some(deep_clone(after)));
            let kind = ChangeKind::Normalized;
            changes.push(Change::new(kind, path.clone(), values, FORM, FieldPath::default()));
        }
    }
}

fn compare_members(
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    path: &FieldPath,
    changes: &mut Vec<Change>,
) {
    let mut change = |name: &str, kind, values: (Option<&Value>, Option<&Value>), reason| {
        let values = (values.0.map(deep_clone), values.1.map(deep_clone));
        let path = path.clone().name(name);
        changes.push(Change::new(kind, path, values, reason, FieldPath::default()));
    };
    for (name, value) in before.iter().filter(|(name, _)| !after.contains_key(*name)) {
        let kind = if value.is_null() { ChangeKind::NullRemoved } else { ChangeKind::Normalized };
        change(name, kind, (Some(value), None), EMPTY);
    }
    for (name, value) in after.iter().filter(|(name, _)| !before.contains_key(*name)) {
        let is_empty = value.is_null() || value.as_object().is_some_and(Map::is_empty);
        let reason = if is_empty { PRINTED } else { DEFAULT };
        change(name, ChangeKind::Defaulted, (None, Some(value)), reason);
    }
    for (name, value) in after {
        if let Some(before) = before.get(name) {
            compare(before, value, &path.clone().name(name), changes);
        }
    }
}

/// A type that may be there.
pub(crate) type Typed = Option<Arc<dyn ObjectType>>;
