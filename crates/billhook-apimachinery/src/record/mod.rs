//! Documents of a fixed type, described by tables of their fields, and access to their members.

mod equal;
mod object_meta;
pub mod show;
pub mod typed;

use crate::value::sorted;
use serde_json::Value;

pub use equal::same;
pub use object_meta::OBJECT_META;

/// A record and its fields, in the order in which they are printed (CV-06).
pub struct Record {
    /// The name of the type in errors.
    pub name: &'static str,
    /// The fields.
    pub fields: &'static [Field],
}

/// A field: its name in documents, its name in printed values, its type.
pub struct Field(pub &'static str, pub &'static str, pub Type);

/// The type of a field. The texts are names of types in errors.
#[derive(Clone, Copy)]
pub enum Type {
    /// A string that is empty when absent.
    Text(&'static str),
    /// A string that may be absent.
    OptionalText(&'static str),
    /// A boolean that is false when absent.
    Flag,
    /// A boolean that may be absent.
    OptionalFlag,
    /// An integer that is 0 when absent.
    Int(&'static str),
    /// An integer that may be absent.
    OptionalInt(&'static str),
    /// A number that may be absent.
    OptionalFloat,
    /// Base64 text.
    Bytes,
    /// A time.
    Time,
    /// Any value; null is absent.
    Any,
    /// A list of any values.
    Anys,
    /// A list of strings.
    Texts(&'static str),
    /// A map of strings.
    TextMap,
    /// A record that is there even when absent.
    Record(&'static Record),
    /// A record that may be absent.
    OptionalRecord(&'static Record),
    /// A list of records.
    Records(&'static Record),
    /// A map of records.
    RecordMap(&'static Record, &'static str),
    /// A record, or a list of them (SS-11).
    RecordOrList(&'static Record),
    /// A record, or a yes or no (SS-11).
    RecordOrFlag(&'static Record),
    /// Members that are records or lists of texts (SS-11).
    RecordsOrTexts(&'static Record, &'static str),
}

/// A member that is there and not null.
pub fn member<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    value.get(name).filter(|member| !member.is_null())
}

/// A text member; empty when absent.
pub fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    member(value, name).and_then(Value::as_str).unwrap_or_default()
}

/// A yes or no; no when absent.
pub fn flag(value: &Value, name: &str) -> bool {
    member(value, name).and_then(Value::as_bool).unwrap_or_default()
}

/// The items of a list member; none when absent.
pub fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    member(value, name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The members of a map member in the order of their keys; none when absent.
pub fn map<'v>(value: &'v Value, name: &str) -> Vec<(&'v String, &'v Value)> {
    member(value, name).and_then(Value::as_object).map_or(Vec::new(), sorted)
}

/// The texts of a list member; null is an empty text.
pub fn texts<'v>(value: &'v Value, name: &str) -> Vec<&'v str> {
    list(value, name).iter().map(|item| item.as_str().unwrap_or_default()).collect()
}

/// Whether a field counts as not set (CV-41).
pub fn is_unset(value: Option<&Value>, type_: Type) -> bool {
    match (type_, value) {
        (_, None | Some(Value::Null)) => true,
        (Type::Text(_), Some(value)) => value.as_str() == Some(""),
        (Type::Flag, Some(value)) => value.as_bool() == Some(false),
        _ => false,
    }
}
