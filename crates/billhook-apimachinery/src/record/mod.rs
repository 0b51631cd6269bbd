//! Documents of a fixed type. [`record!`](crate::record!) describes the fields of a type once and
//! makes of the description a struct, a table of the fields, a reader and a writer.

mod check;
mod define;
mod field_value;
mod go;
mod normal;
mod nulls;
mod ordered;
pub mod show;

use std::borrow::Cow;

use crate::KubernetesVersion;
use serde_json::Value;

pub use check::{InText, RecordError, check_types, too_deep, unknown_fields};
pub(crate) use check::{check_field, check_tree};
pub use define::{TypedRecord, to_value};
pub use field_value::{FieldValue, Written};
pub use go::go_syntax;
pub(crate) use normal::is_normal;
pub use nulls::fill_nulls;
pub use ordered::declared_json;

/// The names that [`record!`](crate::record!) needs in other crates.
pub mod private {
    pub use super::define::deserialize;
    pub use serde::ser::SerializeMap;
    pub use serde::{Deserialize, Deserializer, Serialize, Serializer};
    pub use serde_json::Value;
}

/// The table of a type's fields.
#[derive(Debug)]
pub struct Record {
    /// The name of the type in errors.
    pub name: &'static str,
    /// The fields, in the order in which they are printed (CV-06).
    pub fields: &'static [Field],
}

/// A field.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name in documents.
    pub name: &'static str,
    /// Its name in Go, where it is not the other one with a capital letter; else empty.
    pub go_name: &'static str,
    /// Its type.
    pub type_: Type,
    /// Whether it is written even if it is empty.
    pub is_required: bool,
    /// The first version of the server that knows it.
    pub since: KubernetesVersion,
}

impl Record {
    /// The field of a name.
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

impl Field {
    /// Its name in printed values (CV-06).
    pub fn go_name(&self) -> Cow<'static, str> {
        if !self.go_name.is_empty() {
            return Cow::Borrowed(self.go_name);
        }
        let mut letters = self.name.chars();
        let first = letters.next().unwrap_or_default().to_ascii_uppercase();
        Cow::Owned(std::iter::once(first).chain(letters).collect())
    }
}

/// Returns the table of a record; tables of records that hold themselves refer to it so.
pub type Table = fn() -> &'static Record;

/// The type of a field. Lists and maps that are absent are empty.
#[derive(Clone, Copy, Debug)]
pub enum Type {
    /// A string; empty when absent.
    Text,
    /// A boolean; false when absent.
    Flag,
    /// A 32-bit integer; 0 when absent.
    Int32,
    /// A 64-bit integer; 0 when absent.
    Int64,
    /// A number; 0 when absent.
    Float,
    /// Base64 text.
    Bytes,
    /// A time.
    Time,
    /// A string that a function accepts or refuses.
    Parsed(fn(&str) -> Result<(), String>),
    /// Any value; null is absent.
    Any,
    /// A record; all its fields are absent when it is.
    Record(Table),
    /// A value that may be absent.
    Optional(&'static Type),
    /// A list.
    List(&'static Type),
    /// A map.
    Map(&'static Type),
    /// A type with a name of its own in errors.
    Named(&'static str, &'static Type),
    /// A record, or a list of them (SS-11).
    RecordOrList(Table),
    /// A record, or a yes or no (SS-11).
    RecordOrFlag(Table),
    /// A record, or a list of strings (SS-11).
    RecordOrTexts(Table),
}

/// A member that is there and not null.
pub fn member<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    value.get(name).filter(|member| !member.is_null())
}

/// A text member; empty when absent.
pub fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    member(value, name).and_then(Value::as_str).unwrap_or_default()
}

/// Whether a field counts as not set (CV-41).
pub fn is_unset(value: Option<&Value>, type_: Type) -> bool {
    match (type_.unnamed(), value) {
        (_, None | Some(Value::Null)) => true,
        (Type::Text, Some(value)) => value.as_str() == Some(""),
        (Type::Flag, Some(value)) => value.as_bool() == Some(false),
        _ => false,
    }
}
