//! The entries of `metadata.managedFields`: reading, writing, identity (SA-30 to SA-34).

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Deref;

use billhook_apimachinery::metadata::{ManagedFieldsEntry, Time};
use billhook_apimachinery::print::{push_json_string, quote};
use billhook_apimachinery::record::{TypedRecord as _, text};
use billhook_apimachinery::value::DeepValue;
use serde_json::{Map, Value};

use crate::field_set::FieldSet;
use crate::fields::Fields;
use crate::fields_v1::{CAPACITY, FieldsV1Error};
use crate::owners::Owners;

/// How a manager came to own fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ManagedFieldsOperation {
    /// By applying them.
    Apply,
    /// By any other write.
    Update,
}

impl ManagedFieldsOperation {
    /// Returns the name in `managedFields`.
    pub fn name(self) -> &'static str {
        match self {
            ManagedFieldsOperation::Apply => "Apply",
            ManagedFieldsOperation::Update => "Update",
        }
    }
}

/// The fields that one manager owns by one operation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ManagerEntry {
    /// The name of the manager.
    pub manager: String,
    /// The operation.
    pub operation: ManagedFieldsOperation,
    /// Group and version that the fields are of.
    pub api_version: String,
    /// The subresource; empty for the object itself.
    pub subresource: String,
    /// When the manager last took fields; zero if it is not known.
    pub time: Time,
    pub(crate) fields: Fields,
}

impl ManagerEntry {
    /// Returns the fields.
    pub fn fields(&self) -> FieldSet {
        self.fields.to_set()
    }

    /// Returns what tells entries apart, in the form in which they are sorted (SA-31, SA-38).
    pub(crate) fn identity(&self) -> String {
        let api_version = match self.operation {
            ManagedFieldsOperation::Apply => "",
            ManagedFieldsOperation::Update => &self.api_version,
        };
        let members = [
            ("manager", self.manager.as_str()),
            ("operation", self.operation.name()),
            ("apiVersion", api_version),
            ("subresource", &self.subresource),
        ];
        let mut text = String::with_capacity(128);
        text.push('{');
        for (name, value) in members.into_iter().filter(|(_, value)| !value.is_empty()) {
            text.push_str(if text.len() > 1 { ",\"" } else { "\"" });
            text.push_str(name);
            text.push_str("\":");
            push_json_string(value, &mut text);
        }
        text.push('}');
        text
    }

    /// The members of the entry with their texts, which are left out if they are empty; the fields are no
    /// text.
    fn members(&self) -> [(&'static str, Cow<'_, str>); 7] {
        let time = if self.time.is_zero() { String::new() } else { self.time.to_rfc3339() };
        [
            ("apiVersion", Cow::from(&self.api_version)),
            ("fieldsType", Cow::from(FIELDS_V1)),
            (FIELDS, Cow::from("")),
            ("manager", Cow::from(&self.manager)),
            ("operation", Cow::from(self.operation.name())),
            ("subresource", Cow::from(&self.subresource)),
            ("time", Cow::from(time)),
        ]
    }

    /// Returns the manager as conflicts name it (SA-81).
    pub fn description(&self) -> String {
        let mut text = quote(&self.manager);
        if !self.subresource.is_empty() {
            text.push_str(" with subresource ");
            text.push_str(&quote(&self.subresource));
        }
        if self.operation == ManagedFieldsOperation::Update {
            text.push_str(" using ");
            text.push_str(&self.api_version);
        }
        text
    }
}

/// Who owns which fields of an object: the entries of `metadata.managedFields`, one for each
/// identity (SA-31).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ManagedFields(pub(crate) BTreeMap<String, ManagerEntry>);

/// An entry of `managedFields` that cannot be read; prints the server's text (SA-33).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ManagedFieldsError {
    /// The operation is neither `Apply` nor `Update`.
    #[error("operation must be `Apply` or `Update`")]
    ManagedFieldsOperation,
    /// The API version is missing.
    #[error("apiVersion must not be empty")]
    ApiVersion,
    /// The type of fields is missing.
    #[error("missing fieldsType in managed fields entry {index}")]
    MissingFieldsType {
        /// The position of the entry.
        index: usize,
    },
    /// The type of fields is not `FieldsV1`.
    #[error("invalid fieldsType {} in managed fields entry {index}", quote(fields_type))]
    FieldsType {
        /// The position of the entry.
        index: usize,
        /// The type.
        fields_type: String,
    },
    /// The fields cannot be read.
    #[error("error decoding versioned set from {manager}: error decoding set: {error}")]
    Fields {
        /// The manager of the entry.
        manager: String,
        /// The reason.
        error: FieldsV1Error,
    },
}

/// The only type of fields.
pub(super) const FIELDS_V1: &str = "FieldsV1";

/// The member of an entry that has the fields.
const FIELDS: &str = "fieldsV1";

impl ManagedFields {
    /// Reads the entries in `metadata.managedFields` of an object. Of those with the same identity
    /// the last one counts.
    ///
    /// # Errors
    ///
    /// Returns what is wrong with the first entry that cannot be read (SA-33).
    pub fn of(object: &Value) -> Result<Self, ManagedFieldsError> {
        let metadata = object.get("metadata");
        let entries = metadata.and_then(|it| it.get("managedFields")).and_then(Value::as_array);
        ManagedFields::read(entries.into_iter().flatten(), |_, _| None)
    }

    /// Reads entries. `written` takes out of one, given with its API version, the fields that are as
    /// they would be written again.
    pub(super) fn read<E: Deref<Target = Value>>(
        entries: impl Iterator<Item = E>,
        written: impl Fn(&str, &mut E) -> Option<DeepValue>,
    ) -> Result<Self, ManagedFieldsError> {
        let mut managed = ManagedFields::default();
        for (index, mut entry) in entries.enumerate() {
            let mut read = read(index, &entry)?;
            read.fields = if let Some(fields) = written(&read.api_version, &mut entry) {
                Fields::Written(fields)
            } else {
                let fields =
                    FieldSet::from_fields_v1(entry.get("fieldsV1").unwrap_or(&Value::Null));
                Fields::Read(fields.map_err(|error| {
                    let manager = read.manager.clone();
                    ManagedFieldsError::Fields { manager, error }
                })?)
            };
            managed.insert(read);
        }
        Ok(managed)
    }

    /// Takes the entries out of an object, all of which are as they would be written again.
    pub(crate) fn take_written(object: &mut Value) -> Self {
        let mut entries = ManagedFields::take_out(object).unwrap_or_default();
        let entries = entries.as_array_mut().into_iter().flatten();
        let fields = |entry: &mut &mut Value| entry.get_mut("fieldsV1").map(Value::take);
        let written = ManagedFields::read(entries, |_, entry| fields(entry).map(DeepValue::from));
        written.unwrap_or_default()
    }

    /// Takes `metadata.managedFields` out of an object.
    pub fn take_out(object: &mut Value) -> Option<DeepValue> {
        let metadata = object.get_mut("metadata")?.as_object_mut()?;
        metadata.remove("managedFields").map(DeepValue::from)
    }

    /// Does work with an object that is without its managed fields meanwhile. An object that is shared
    /// and has some is copied.
    pub fn set_aside<R>(object: &mut DeepValue, work: impl FnOnce(&Value) -> R) -> R {
        let has_some = object.get("metadata").is_some_and(|it| it.get("managedFields").is_some());
        let taken = if has_some { ManagedFields::take_out(object) } else { None };
        let result = work(object);
        if let Some(taken) = taken {
            put_managed_fields(object, taken);
        }
        result
    }

    /// Writes the entries to `metadata.managedFields` of an object; without entries the field is
    /// removed (SA-34).
    pub fn write_to(self, object: &mut Value) {
        let Value::Object(members) = object else { return };
        let metadata = members.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
        let Value::Object(metadata) = metadata else { return };
        let replaced = match self.is_empty() {
            true => metadata.remove("managedFields"),
            false => metadata.insert("managedFields".to_owned(), self.into_value()),
        };
        drop(replaced.map(DeepValue::from));
    }

    fn into_value(self) -> Value {
        let mut entries: Vec<ManagerEntry> = self.0.into_values().collect();
        entries.sort_by(in_written_order);
        Value::Array(entries.into_iter().map(write).collect())
    }

    /// Returns the JSON of the value that [`write_to`](Self::write_to) writes, with sorted members.
    pub fn to_json(&self) -> String {
        self.print(|members| members.sort_by_key(|(name, _)| *name))
    }

    /// Returns the same with the members of entries in the order of their type.
    pub fn to_declared_json(&self) -> String {
        let record = ManagedFieldsEntry::record();
        self.print(|members| members.sort_by_key(|(name, _)| record.place(name).0))
    }

    fn print(&self, sort: impl Fn(&mut [(&str, Cow<'_, str>)])) -> String {
        let mut entries: Vec<&ManagerEntry> = self.0.values().collect();
        entries.sort_by(|left, right| in_written_order(left, right));
        let mut out = String::with_capacity(CAPACITY);
        out.push('[');
        for (index, entry) in entries.into_iter().enumerate() {
            out.push_str(if index > 0 { ",{" } else { "{" });
            let mut members = entry.members();
            sort(&mut members);
            let written = members.iter().filter(|(name, text)| *name == FIELDS || !text.is_empty());
            for (index, (name, text)) in written.enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                push_json_string(name, &mut out);
                out.push(':');
                match *name {
                    FIELDS => entry.fields.push_json(&mut out),
                    _ => push_json_string(text, &mut out),
                }
            }
            out.push('}');
        }
        out.push(']');
        out
    }

    /// Returns whether no field has an owner.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Changes an entry if it is there.
    pub(super) fn with(&mut self, id: &str, change: impl FnOnce(&mut ManagerEntry)) {
        if let Some(entry) = self.0.get_mut(id) {
            change(entry);
        }
    }

    pub(super) fn owners(&self) -> Owners<'_> {
        Owners::new(self.0.values().map(|entry| &entry.fields))
    }

    /// Returns the entries in the order of their identities.
    pub fn entries(&self) -> impl Iterator<Item = &ManagerEntry> {
        self.0.values()
    }

    /// Returns whether the same managers own the same, whenever they did.
    pub fn equals_except_times(&self, other: &ManagedFields) -> bool {
        let mut pairs = self.0.values().zip(other.0.values());
        self.0.len() == other.0.len()
            && pairs.all(|(left, right)| {
                left.api_version == right.api_version
                    && left.identity() == right.identity()
                    && left.fields == right.fields
            })
    }

    /// Adds an entry in place of the one with the same identity.
    pub(crate) fn insert(&mut self, entry: ManagerEntry) {
        self.0.insert(entry.identity(), entry);
    }

    pub(crate) fn remove_empty(&mut self) {
        self.0.retain(|_, entry| !entry.fields.is_empty());
    }
}

/// Puts managed fields back into an object from which they were taken.
pub(super) fn put_managed_fields(object: &mut Value, entries: DeepValue) {
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        metadata.insert("managedFields".to_owned(), entries.into_inner());
    }
}

/// Reads an entry except its fields.
fn read(index: usize, entry: &Value) -> Result<ManagerEntry, ManagedFieldsError> {
    let text = |name: &str| text(entry, name);
    let operation = match text("operation") {
        "Apply" => ManagedFieldsOperation::Apply,
        "Update" => ManagedFieldsOperation::Update,
        _ => return Err(ManagedFieldsError::ManagedFieldsOperation),
    };
    if text("apiVersion").is_empty() {
        return Err(ManagedFieldsError::ApiVersion);
    }
    match text("fieldsType") {
        FIELDS_V1 => {}
        "" => return Err(ManagedFieldsError::MissingFieldsType { index }),
        other => {
            let fields_type = other.to_owned();
            return Err(ManagedFieldsError::FieldsType { index, fields_type });
        }
    }
    Ok(ManagerEntry {
        manager: text("manager").to_owned(),
        operation,
        api_version: text("apiVersion").to_owned(),
        subresource: text("subresource").to_owned(),
        time: Time::parse(text("time")).unwrap_or_default(),
        fields: Fields::default(),
    })
}

fn write(entry: ManagerEntry) -> Value {
    let mut members = Map::new();
    for (name, text) in entry.members().into_iter().filter(|(_, text)| !text.is_empty()) {
        members.insert(name.to_owned(), Value::from(text));
    }
    members.insert(FIELDS.to_owned(), entry.fields.into_fields_v1().into_inner());
    Value::Object(members)
}

/// The order of entries (SA-34).
fn in_written_order(left: &ManagerEntry, right: &ManagerEntry) -> Ordering {
    fn key(entry: &ManagerEntry) -> impl Ord {
        let names = (&entry.manager, &entry.api_version, &entry.subresource);
        (entry.operation, entry.time, names)
    }
    key(left).cmp(&key(right))
}
