//! Documents of a fixed type, described by tables of their fields, and access to their members.

use billhook_schema::value::sorted;
use serde_json::Value;

/// A record and its fields, in the order in which they are printed (CV-06).
pub(crate) struct Record {
    pub(crate) name: &'static str,
    pub(crate) fields: &'static [Field],
}

/// A field: its name in documents, its name in printed values, its type.
pub(crate) struct Field(pub(crate) &'static str, pub(crate) &'static str, pub(crate) Type);

/// The type of a field. The texts are names of types in errors.
#[derive(Clone, Copy)]
pub(crate) enum Type {
    /// A string that is empty when absent.
    Text(&'static str),
    OptionalText(&'static str),
    Flag,
    OptionalFlag,
    Int(&'static str),
    OptionalInt(&'static str),
    OptionalFloat,
    /// Base64 text.
    Bytes,
    Time,
    /// Any value; null is absent.
    Any,
    Anys,
    Texts(&'static str),
    TextMap,
    Record(&'static Record),
    OptionalRecord(&'static Record),
    Records(&'static Record),
    RecordMap(&'static Record, &'static str),
    /// A record, or a list of them (SS-11).
    RecordOrList(&'static Record),
    /// A record, or a yes or no (SS-11).
    RecordOrFlag(&'static Record),
    /// Members that are records or lists of texts (SS-11).
    RecordsOrTexts(&'static Record, &'static str),
}

/// A member that is there and not null.
pub(super) fn member<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    value.get(name).filter(|member| !member.is_null())
}

/// A text member; empty when absent.
pub(super) fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    member(value, name).and_then(Value::as_str).unwrap_or_default()
}

/// A yes or no; no when absent.
pub(super) fn flag(value: &Value, name: &str) -> bool {
    member(value, name).and_then(Value::as_bool).unwrap_or_default()
}

/// The items of a list member; none when absent.
pub(super) fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    member(value, name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The members of a map member in the order of their keys; none when absent.
pub(super) fn map<'v>(value: &'v Value, name: &str) -> Vec<(&'v String, &'v Value)> {
    member(value, name).and_then(Value::as_object).map_or(Vec::new(), sorted)
}

/// The texts of a list member; null is an empty text.
pub(super) fn texts<'v>(value: &'v Value, name: &str) -> Vec<&'v str> {
    list(value, name).iter().map(|item| item.as_str().unwrap_or_default()).collect()
}

/// Whether a field counts as not set (CV-41).
pub(super) fn is_unset(value: Option<&Value>, type_: Type) -> bool {
    match (type_, value) {
        (_, None | Some(Value::Null)) => true,
        (Type::Text(_), Some(value)) => value.as_str() == Some(""),
        (Type::Flag, Some(value)) => value.as_bool() == Some(false),
        _ => false,
    }
}
