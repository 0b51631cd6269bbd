//! Types of expressions.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use billhook_apimachinery::value::grow;

/// A type of CEL.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Type {
    /// Any type; operations on it are checked when they are evaluated.
    Dyn,
    /// The type of null.
    Null,
    /// Booleans.
    Bool,
    /// Signed integers of 64 bits.
    Int,
    /// Unsigned integers of 64 bits.
    Uint,
    /// Floats of 64 bits.
    Double,
    /// Text.
    String,
    /// Bytes.
    Bytes,
    /// A length of time.
    Duration,
    /// A point in time.
    Timestamp,
    /// A list with elements of a type.
    List(Arc<Type>),
    /// A map.
    Map(Arc<Type>, Arc<Type>),
    /// An object with known fields.
    Object(Arc<ObjectType>),
    /// A value that may be missing.
    Optional(Arc<Type>),
    /// The type of a type.
    Type(Arc<Type>),
    /// A type of a library, by its name, e.g. `kubernetes.Quantity`.
    Opaque(&'static str),
    /// A message that is its own value, by its name, e.g. `google.protobuf.Any`.
    Message(&'static str),
    /// A message around a value of a type; null can be in its place.
    Wrapper(Arc<Type>),
    /// A parameter of a function's type.
    Param(&'static str),
}

/// An object type: its name and fields.
#[derive(Debug)]
pub struct ObjectType {
    /// Its name; types of the same name are the same.
    pub name: Arc<str>,
    /// The fields by the names expressions use (CE-07).
    pub fields: BTreeMap<Arc<str>, Type>,
    /// Whether every other name is that of a field too, of any type.
    pub is_open: bool,
}

impl ObjectType {
    /// Returns a type with these fields and no others.
    pub fn new(name: impl Into<Arc<str>>, fields: BTreeMap<Arc<str>, Type>) -> Self {
        ObjectType { name: name.into(), fields, is_open: false }
    }
}

/// Deeply nested types must not overflow the stack.
impl Drop for ObjectType {
    fn drop(&mut self) {
        let fields = std::mem::take(&mut self.fields);
        grow(|| drop(fields));
    }
}

impl PartialEq for ObjectType {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Type {
    /// Returns a list of this.
    pub fn list(self) -> Type {
        Type::List(Arc::new(self))
    }

    /// Returns a map from strings to this.
    pub fn map(self) -> Type {
        Type::Map(Arc::new(Type::String), Arc::new(self))
    }

    /// The name that its values know it by.
    pub(crate) fn runtime_name(&self) -> Cow<'_, str> {
        Cow::Borrowed(match self {
            Type::Null => "null_type",
            Type::Duration => "google.protobuf.Duration",
            Type::Timestamp => "google.protobuf.Timestamp",
            Type::List(_) => "list",
            Type::Map(..) => "map",
            Type::Optional(_) => "optional_type",
            Type::Type(_) => "type",
            Type::Wrapper(of) => return of.runtime_name(),
            of => return Cow::Owned(of.to_string()),
        })
    }

    /// Returns the type as a server names the result of an expression that should have another one:
    /// `list(null_type)`, where the compiler says `list(null)`.
    pub fn declared_name(&self) -> String {
        match self {
            Type::Null | Type::Duration | Type::Timestamp => self.runtime_name().into_owned(),
            Type::List(of) => format!("list({})", of.declared_name()),
            Type::Map(key, value) => {
                format!("map({}, {})", key.declared_name(), value.declared_name())
            }
            Type::Optional(of) => format!("optional_type({})", of.declared_name()),
            Type::Type(of) => format!("type({})", of.declared_name()),
            Type::Wrapper(of) => format!("wrapper({})", of.declared_name()),
            other => other.to_string(),
        }
    }

    /// Returns the type in a wrapper; others are unchanged.
    pub(crate) fn unwrapped(&self) -> &Type {
        match self {
            Type::Wrapper(of) => of,
            of => of,
        }
    }

    /// This, if it is there.
    pub fn optional(self) -> Type {
        Type::Optional(Arc::new(self))
    }
}

/// Prints the type as the compiler names it in errors.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Dyn => f.write_str("dyn"),
            Type::Null => f.write_str("null"),
            Type::Bool => f.write_str("bool"),
            Type::Int => f.write_str("int"),
            Type::Uint => f.write_str("uint"),
            Type::Double => f.write_str("double"),
            Type::String => f.write_str("string"),
            Type::Bytes => f.write_str("bytes"),
            Type::Duration => f.write_str("duration"),
            Type::Timestamp => f.write_str("timestamp"),
            Type::List(of) => write!(f, "list({of})"),
            Type::Map(key, value) => write!(f, "map({key}, {value})"),
            Type::Object(object) => f.write_str(&object.name),
            Type::Optional(of) => write!(f, "optional_type({of})"),
            Type::Type(of) => write!(f, "type({of})"),
            Type::Opaque(name) | Type::Message(name) | Type::Param(name) => f.write_str(name),
            Type::Wrapper(of) => write!(f, "wrapper({of})"),
        }
    }
}
