//! The Rust types that fields may have.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::Type;
use crate::base64;
use crate::time::Time;
use crate::value::{DeepValue, Num, Plain, deep_clone};

/// A type that a field may have.
pub trait FieldValue: Sized {
    /// The type in the table of the record.
    const TYPE: Type;

    /// Reads a value whose types have been checked; null if the field is absent.
    fn of(value: &Value) -> Self;

    /// Writes the value.
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error>;

    /// Whether the field is left out unless it is required.
    fn is_empty(&self) -> bool {
        false
    }
}

fn number(value: &Value) -> Num {
    match value {
        Value::Number(number) => Num::of(number),
        _ => Num::Int(0),
    }
}

/// Types that are written as serde writes them, and are empty by default.
macro_rules! scalars {
    ($($scalar:ident: $type:ident = $of:expr;)*) => {$(
        impl FieldValue for $scalar {
            const TYPE: Type = Type::$type;

            fn of(value: &Value) -> Self {
                let of: fn(&Value) -> Option<Self> = $of;
                of(value).unwrap_or_default()
            }

            fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                self.serialize(to)
            }

            fn is_empty(&self) -> bool {
                *self == Self::default()
            }
        }
    )*};
}

scalars! {
    String: Text = |value| value.as_str().map(str::to_owned);
    bool: Flag = Value::as_bool;
    i32: Int32 = |value| number(value).to_i32();
    i64: Int64 = |value| number(value).to_i64();
}

impl FieldValue for f64 {
    const TYPE: Type = Type::Float;

    fn of(value: &Value) -> Self {
        number(value).as_f64()
    }

    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match Num::Float(*self).to_i64() {
            // An integer has no minus before zero.
            Some(0) if self.is_sign_negative() => to.serialize_f64(*self),
            Some(int) => to.serialize_i64(int),
            None => to.serialize_f64(*self),
        }
    }

    fn is_empty(&self) -> bool {
        *self == 0.0
    }
}

/// Base64 text; a list of numbers is read too, as the server does.
impl FieldValue for Vec<u8> {
    const TYPE: Type = Type::Bytes;

    fn of(value: &Value) -> Self {
        let byte = |item: &Value| item.as_u64().and_then(|byte| u8::try_from(byte).ok());
        match value {
            Value::String(text) => base64::decode(text).unwrap_or_default(),
            Value::Array(items) => {
                items.iter().map(|item| byte(item).unwrap_or_default()).collect()
            }
            _ => Vec::new(),
        }
    }

    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&base64::encode(self))
    }

    fn is_empty(&self) -> bool {
        Vec::is_empty(self)
    }
}

/// The zero time is null.
impl FieldValue for Time {
    const TYPE: Type = Type::Time;

    fn of(value: &Value) -> Self {
        value.as_str().and_then(|text| Time::parse(text).ok()).unwrap_or_default()
    }

    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if self.is_zero() { to.serialize_none() } else { to.serialize_str(&self.to_rfc3339()) }
    }

    fn is_empty(&self) -> bool {
        self.is_zero()
    }
}

/// Any value, in an `Option` unless null is one of them.
impl FieldValue for DeepValue {
    const TYPE: Type = Type::Any;

    fn of(value: &Value) -> Self {
        deep_clone(value).into()
    }

    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_some(&Plain(self))
    }
}

impl<T: FieldValue> FieldValue for Option<T> {
    const TYPE: Type = Type::Optional(&T::TYPE);

    fn of(value: &Value) -> Self {
        (!value.is_null()).then(|| T::of(value))
    }

    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Some(value) => value.write(to),
            None => to.serialize_none(),
        }
    }

    fn is_empty(&self) -> bool {
        self.is_none()
    }
}

/// The same for types that hold a value on the heap.
macro_rules! on_the_heap {
    ($($heap:ident)*) => {$(
        impl<T: FieldValue> FieldValue for $heap<T> {
            const TYPE: Type = T::TYPE;

            fn of(value: &Value) -> Self {
                $heap::new(T::of(value))
            }

            fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                (**self).write(to)
            }

            fn is_empty(&self) -> bool {
                (**self).is_empty()
            }
        }
    )*};
}

on_the_heap! { Box Arc }

impl<T: FieldValue> FieldValue for Vec<T> {
    const TYPE: Type = Type::List(&T::TYPE);

    fn of(value: &Value) -> Self {
        value.as_array().map_or(Vec::new(), |items| items.iter().map(T::of).collect())
    }

    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut items = to.serialize_seq(Some(self.len()))?;
        self.iter().try_for_each(|item| items.serialize_element(&Written(item)))?;
        items.end()
    }

    fn is_empty(&self) -> bool {
        Vec::is_empty(self)
    }
}

impl<T: FieldValue> FieldValue for BTreeMap<String, T> {
    const TYPE: Type = Type::Map(&T::TYPE);

    fn of(value: &Value) -> Self {
        let members = value.as_object().into_iter().flatten();
        members.map(|(name, member)| (name.clone(), T::of(member))).collect()
    }

    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut members = to.serialize_map(Some(self.len()))?;
        for (name, member) in self {
            members.serialize_entry(name, &Written(member))?;
        }
        members.end()
    }

    fn is_empty(&self) -> bool {
        BTreeMap::is_empty(self)
    }
}

/// A field or record on its way to a serializer.
pub struct Written<'a, T>(pub &'a T);

impl<T: FieldValue> Serialize for Written<'_, T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.write(to)
    }
}
