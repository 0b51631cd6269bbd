//! Documents of a fixed type. [`record!`](crate::record!) describes the fields of a type once and
//! makes of the description a struct, a table of the fields, a reader and a writer.

mod check;
mod complete;
mod define;
mod field_value;
mod go;
mod normal;
mod nulls;
mod ordered;
pub mod show;

use std::borrow::Cow;

use crate::{KubernetesVersion, message_error};
use serde_json::Value;

pub use check::{InText, RecordError, check_types, too_deep, unknown_fields};
pub(crate) use check::{check_field, check_tree};
pub use complete::{complete, decode};
pub use define::{TypedRecord, expect_type, to_value};
pub use field_value::{FieldValue, Written};
pub use go::go_syntax;
pub(crate) use normal::is_normal;
pub use nulls::fill_nulls;
pub use ordered::{declared_json, declared_json_with_place, patched_json};

/// The names that [`record!`](crate::record!) needs in other crates.
pub mod private {
    pub use super::define::deserialize;
    pub use serde::ser::SerializeMap;
    pub use serde::{Deserialize, Deserializer, Serialize, Serializer};
    pub use serde_json::Value;
}

/// The table of a type's fields.
#[derive(Debug)]
#[non_exhaustive]
pub struct Record {
    /// The name of the type in errors.
    pub name: &'static str,
    /// The Go package of the type in errors: the version of its group.
    pub package: &'static str,
    /// The package of the type in OpenAPI; empty where it is that of the kind (BK-18).
    pub home: &'static str,
    /// The fields, in the order in which they are printed (CV-06).
    pub fields: &'static [Field],
    /// Whether apply treats it as one value.
    pub is_atomic: bool,
}

/// First words of names that are all capitals in Go.
const INITIALISMS: [&str; 20] = [
    "api", "aws", "ca", "csi", "dns", "fc", "fs", "gce", "grpc", "http", "ip", "iscsi", "nfs",
    "os", "rbd", "tcp", "tls", "ttl", "uid", "url",
];

/// A field.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name in documents.
    pub name: &'static str,
    /// Its name in Go, where that does not follow from the other one; else empty.
    pub go_name: &'static str,
    /// Its type.
    pub type_: Type,
    /// Whether it is written even if it is empty.
    pub is_required: bool,
    /// Whether OpenAPI lists it as required (BK-18).
    pub is_needed: bool,
    /// The values that OpenAPI lists; empty if it lists none.
    pub choices: &'static [&'static str],
    /// The first version of the server that knows it.
    pub since: KubernetesVersion,
    /// Its number in protobuf, after those of the messages around it whose fields are fields of the
    /// record. Empty if messages do not have it.
    pub numbers: &'static [u32],
    /// The Go type that declares it, if that is embedded in the type of the record; else empty.
    pub embedded: &'static str,
    /// The default in JSON; empty if it has none.
    pub default: &'static str,
    /// How apply and strategic merge patches merge it.
    pub merge: Merge,
}

/// How apply and strategic merge patches merge the values of a field (BK-07, BK-08).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Merge {
    /// How apply merges a list.
    pub list: ListType,
    /// Whether apply treats a map or a record as one value.
    pub is_atomic: bool,
    /// Whether apply merges a record that it treats as one value elsewhere.
    pub is_granular: bool,
    /// The key by which strategic merge patches find the items of a list; empty for one of scalars.
    /// Without a key a patch replaces the list.
    pub patch_key: Option<&'static str>,
    /// Whether strategic merge patches may name the fields that stay.
    pub retains_keys: bool,
    /// Whether strategic merge patches replace the value instead of merging it.
    pub is_replaced: bool,
}

/// How apply merges the items of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListType {
    /// Not at all.
    Atomic,
    /// As a set of scalars.
    Set,
    /// By these fields of the items.
    Map(&'static [&'static str]),
}

impl Merge {
    /// Lists are replaced, maps and records merged.
    pub const PLAIN: Merge = Merge {
        list: ListType::Atomic,
        is_atomic: false,
        is_granular: false,
        patch_key: None,
        retains_keys: false,
        is_replaced: false,
    };

    /// Apply merges a list of scalars as a set.
    pub const SET: Merge = Merge { list: ListType::Set, ..Merge::PLAIN };

    /// A list of scalars is a set for strategic merge patches, too.
    pub const PATCHED_SET: Merge = Merge { patch_key: Some(""), ..Merge::SET };

    /// Apply finds the items of a list by keys; strategic merge patches replace it.
    pub const fn listed_by(keys: &'static [&'static str]) -> Self {
        Merge { list: ListType::Map(keys), ..Merge::PLAIN }
    }

    /// The items of a list are found by keys, in strategic merge patches by one of them.
    pub const fn by_key(keys: &'static [&'static str], patch_key: &'static str) -> Self {
        Merge { list: ListType::Map(keys), patch_key: Some(patch_key), ..Merge::PLAIN }
    }
}

impl Record {
    /// Creates the table of a type in a package `v1`.
    pub const fn new(name: &'static str, fields: &'static [Field]) -> Self {
        Record { name, package: "v1", home: "", fields, is_atomic: false }
    }

    /// The table of a type in another package.
    #[must_use]
    pub const fn in_package(mut self, package: &'static str) -> Self {
        self.package = package;
        self
    }

    /// The table of a type that OpenAPI names in a package.
    #[must_use]
    pub const fn at_home(mut self, home: &'static str) -> Self {
        self.home = home;
        self
    }

    /// The table of a type that apply treats as one value.
    #[must_use]
    pub const fn atomic(mut self) -> Self {
        self.is_atomic = true;
        self
    }

    /// Returns the place of a field among those of the record, and its type: after all others if the
    /// record does not have it.
    pub fn place(&self, name: &str) -> (usize, Type) {
        let place = self.fields.iter().position(|field| field.name == name);
        let field = place.and_then(|place| self.fields.get(place));
        (place.unwrap_or(usize::MAX), field.map_or(Type::Any, |field| field.type_))
    }

    /// The field of a name.
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

impl Field {
    /// Creates a field that is left out when it is empty.
    pub const fn new(name: &'static str, type_: Type) -> Self {
        Field {
            name,
            go_name: "",
            type_,
            is_required: false,
            is_needed: false,
            choices: &[],
            since: KubernetesVersion::V1_32,
            numbers: &[],
            embedded: "",
            default: "",
            merge: Merge::PLAIN,
        }
    }

    /// The field with its number in protobuf, after those of the messages around it.
    #[must_use]
    pub const fn numbered(mut self, numbers: &'static [u32]) -> Self {
        self.numbers = numbers;
        self
    }

    /// The field, written even if it is empty.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.is_required = true;
        self
    }

    /// The field that OpenAPI lists as required.
    #[must_use]
    pub const fn needed(mut self) -> Self {
        self.is_needed = true;
        self
    }

    /// The field of which OpenAPI lists the values.
    #[must_use]
    pub const fn one_of(mut self, choices: &'static [&'static str]) -> Self {
        self.choices = choices;
        self
    }

    /// The field of a type that a version was the first to have.
    #[must_use]
    pub const fn since(mut self, since: KubernetesVersion) -> Self {
        self.since = since;
        self
    }

    /// The field of a Go type that is embedded in the type of the record.
    #[must_use]
    pub const fn embedded(mut self, type_: &'static str) -> Self {
        self.embedded = type_;
        self
    }

    /// The field with a default in JSON.
    #[must_use]
    pub const fn default(mut self, default: &'static str) -> Self {
        self.default = default;
        self
    }

    /// The list whose items apply merges so.
    #[must_use]
    pub const fn list(mut self, list: ListType) -> Self {
        self.merge.list = list;
        self
    }

    /// The map or record that apply treats as one value.
    #[must_use]
    pub const fn atomic(mut self) -> Self {
        self.merge.is_atomic = true;
        self
    }

    /// The record that apply merges, though it treats it as one value elsewhere.
    #[must_use]
    pub const fn granular(mut self) -> Self {
        self.merge.is_granular = true;
        self
    }

    /// The list whose items strategic merge patches find by a key; an empty one for scalars.
    #[must_use]
    pub const fn patched_by(mut self, key: &'static str) -> Self {
        self.merge.patch_key = Some(key);
        self
    }

    /// The field of which strategic merge patches may name the fields that stay.
    #[must_use]
    pub const fn retaining_keys(mut self) -> Self {
        self.merge.retains_keys = true;
        self
    }

    /// The field that strategic merge patches replace.
    #[must_use]
    pub const fn replaced(mut self) -> Self {
        self.merge.is_replaced = true;
        self
    }

    /// Its name in printed values (CV-06).
    pub fn go_name(&self) -> Cow<'static, str> {
        if !self.go_name.is_empty() {
            return Cow::Borrowed(self.go_name);
        }
        let word = self.name.find(|c: char| c.is_ascii_uppercase()).unwrap_or(self.name.len());
        let (word, rest) = self.name.split_at_checked(word).unwrap_or_default();
        if INITIALISMS.contains(&word) {
            return Cow::Owned(word.to_ascii_uppercase() + rest);
        }
        let mut letters = self.name.chars();
        let first = letters.next().unwrap_or_default().to_ascii_uppercase();
        Cow::Owned(std::iter::once(first).chain(letters).collect())
    }
}

message_error! {
    /// A text that a field does not accept, in the server's words.
    pub struct TextError;
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
    /// A time in whole seconds.
    Time,
    /// A time in microseconds.
    MicroTime,
    /// An amount of a resource: text or a number (BK-25).
    Quantity,
    /// A 32-bit integer or text (BK-23).
    IntOrString,
    /// A string that a function accepts or refuses.
    Parsed(fn(&str) -> Result<(), TextError>),
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
