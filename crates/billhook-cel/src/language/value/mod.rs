//! Values of expressions. What comes from an object borrows from it and is converted only where
//! it is read.

mod contents;
mod deferred;
mod entries;
mod equality;
mod error;
mod excerpt;
mod identity;
mod joined;
mod time;
mod to_json;
mod unfit;
mod zone;

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use serde_json::Value as Json;

use crate::language::schema::SchemaType;

pub(crate) use deferred::Deferred;
pub use entries::MapEntries;
pub(crate) use equality::{Members, compare, equal, hash};
pub use error::EvaluationError;
pub(crate) use excerpt::excerpt;
pub(crate) use identity::unite;
pub use joined::Joined;
pub use time::Timestamp;
pub(crate) use time::{Civil, FIRST_SECOND, LAST_SECOND, duration_text, rfc3339, timestamp_text};
pub(crate) use zone::offset_of;

/// A value or an error.
pub(crate) type Outcome<'a, T = Value<'a>> = Result<T, EvaluationError>;

/// JSON without a schema.
static ANY: SchemaType = SchemaType::ANY;

/// A value.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Value<'a> {
    /// Null.
    Null,
    /// A boolean.
    Bool(bool),
    /// A signed integer.
    Int(i64),
    /// An unsigned integer.
    Uint(u64),
    /// A float.
    Double(f64),
    /// Text.
    String(Text<'a>),
    /// Bytes.
    Bytes(Arc<[u8]>),
    /// A length of time in nanoseconds.
    Duration(i64),
    /// A point in time.
    Timestamp(Timestamp),
    /// A list.
    List(List<'a>),
    /// A map, or an object with known fields.
    Map(Map<'a>),
    /// A value that may be missing.
    Optional(Option<Arc<Value<'a>>>),
    /// A type, by its name at run time: `int`, `list`, `map`, `google.protobuf.Duration` ….
    Type(Arc<str>),
    /// A value of a library.
    Opaque(Arc<dyn Opaque>),
}

/// Text that is borrowed or shared.
#[derive(Clone, Debug)]
pub enum Text<'a> {
    /// Borrowed from an object.
    Borrowed(&'a str),
    /// Made by an expression.
    Shared(Arc<str>),
}

impl Text<'_> {
    /// Returns the text.
    pub fn as_str(&self) -> &str {
        match self {
            Text::Borrowed(text) => text,
            Text::Shared(text) => text,
        }
    }
}

impl From<String> for Text<'_> {
    fn from(text: String) -> Self {
        Text::Shared(text.into())
    }
}

/// A list.
#[derive(Clone, Debug)]
pub enum List<'a> {
    /// A list of an object: its elements and the type of the list.
    Json(&'a [Json], &'a SchemaType),
    /// Made by an expression.
    Values(Arc<Vec<Value<'a>>>),
    /// Made by adding to a set or a map of an object: it compares as that does.
    Merged(Arc<Vec<Value<'a>>>, &'a SchemaType),
    /// Two lists, one after the other.
    Joined(Arc<Joined<'a>>),
}

/// A map or an object.
#[derive(Clone, Debug)]
pub enum Map<'a> {
    /// A map or object that is part of an object, and its type.
    Json(&'a serde_json::Map<String, Json>, &'a SchemaType),
    /// Made by an expression; in the order of the entries.
    Values(Arc<MapEntries<'a>>),
}

/// A value that only its library knows.
pub trait Opaque: Any + fmt::Debug + Send + Sync {
    /// The name of its type, e.g. `kubernetes.Quantity`.
    fn type_name(&self) -> &'static str;
    /// Whether another value is equal.
    fn equals(&self, other: &dyn Opaque) -> bool;
    /// Returns the number of bytes by which it is compared, for costs.
    fn size(&self) -> usize {
        1
    }
}

impl dyn Opaque {
    /// Returns the value as one of a type, if it is one.
    pub(crate) fn downcast_ref<T: Opaque>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }
}

/// A type of a library here, whose values equal others of it alone.
pub(crate) trait LibraryValue: PartialEq + fmt::Debug + Send + Sync + 'static {
    /// See [`Opaque::type_name`].
    fn type_name(&self) -> &'static str;
    /// See [`Opaque::size`].
    fn size(&self) -> usize {
        1
    }
}

impl<T: LibraryValue> Opaque for T {
    fn type_name(&self) -> &'static str {
        LibraryValue::type_name(self)
    }

    fn equals(&self, other: &dyn Opaque) -> bool {
        other.downcast_ref::<T>() == Some(self)
    }

    fn size(&self) -> usize {
        LibraryValue::size(self)
    }
}
