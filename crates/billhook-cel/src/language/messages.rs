//! The messages that expressions can make: `google.protobuf.Int64Value{value: 1}` (CE-10).
//!
//! Only well-known messages exist, and each becomes the value that it represents: a wrapper the
//! wrapped value, `Struct`, `ListValue` and `Value` their JSON.

use std::sync::Arc;

use billhook_apimachinery::base64;
use billhook_apimachinery::value::grow;

use crate::language::types::Type;
use crate::language::value::{
    EvaluationError, FIRST_SECOND, LAST_SECOND, LibraryValue, Map, Outcome, Timestamp, Value,
    duration_text, timestamp_text,
};

const NANOS: i64 = 1_000_000_000;
/// The largest integer that is a number in JSON; others are text.
const LARGEST_IN_JSON: u64 = (1 << 53) - 1;

/// A field by its name, and its value.
pub(crate) type FieldValue<'a> = (Arc<str>, Value<'a>);

/// A message: its full name and the kind of its value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message {
    pub(crate) name: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Any,
    Bool,
    Bytes,
    Double,
    Duration,
    Empty,
    Float,
    Int32,
    Int64,
    List,
    String,
    Struct,
    Timestamp,
    Uint32,
    Uint64,
    Value,
}

const fn message(name: &'static str, kind: Kind) -> Message {
    Message { name, kind }
}

static MESSAGES: [Message; 16] = [
    message("google.protobuf.Any", Kind::Any),
    message("google.protobuf.BoolValue", Kind::Bool),
    message("google.protobuf.BytesValue", Kind::Bytes),
    message("google.protobuf.DoubleValue", Kind::Double),
    message("google.protobuf.Duration", Kind::Duration),
    message("google.protobuf.Empty", Kind::Empty),
    message("google.protobuf.FloatValue", Kind::Float),
    message("google.protobuf.Int32Value", Kind::Int32),
    message("google.protobuf.Int64Value", Kind::Int64),
    message("google.protobuf.ListValue", Kind::List),
    message("google.protobuf.StringValue", Kind::String),
    message("google.protobuf.Struct", Kind::Struct),
    message("google.protobuf.Timestamp", Kind::Timestamp),
    message("google.protobuf.UInt32Value", Kind::Uint32),
    message("google.protobuf.UInt64Value", Kind::Uint64),
    message("google.protobuf.Value", Kind::Value),
];

/// The name that the names of all messages begin with.
pub(crate) const NAMESPACE: &str = "google";

impl Message {
    /// A message by its name.
    pub(crate) fn named(name: &str) -> Option<Message> {
        if !name.starts_with(NAMESPACE) {
            return None;
        }
        MESSAGES.iter().find(|message| message.name == name).copied()
    }

    /// Returns the type of its value.
    pub(crate) fn type_(self) -> Type {
        let wrapper = |of: Type| Type::Wrapper(of.into());
        match self.kind {
            Kind::Any | Kind::Empty => Type::Message(self.name),
            Kind::Bool => wrapper(Type::Bool),
            Kind::Bytes => wrapper(Type::Bytes),
            Kind::Double | Kind::Float => wrapper(Type::Double),
            Kind::Duration => Type::Duration,
            Kind::Int32 | Kind::Int64 => wrapper(Type::Int),
            Kind::List => Type::Dyn.list(),
            Kind::String => wrapper(Type::String),
            Kind::Struct => Type::Dyn.map(),
            Kind::Timestamp => Type::Timestamp,
            Kind::Uint32 | Kind::Uint64 => wrapper(Type::Uint),
            Kind::Value => Type::Dyn,
        }
    }

    /// Whether its name can be used as a value. The names of most say nothing that the types of
    /// their values would not.
    pub(crate) fn is_type(self) -> bool {
        matches!(self.kind, Kind::Duration | Kind::Empty | Kind::Timestamp)
    }

    /// The type of a field.
    pub(crate) fn field(self, name: &str) -> Option<Type> {
        Some(match (self.kind, name) {
            (Kind::Any, "type_url") => Type::String,
            (Kind::Any, "value") => Type::Bytes,
            (Kind::Duration | Kind::Timestamp, "seconds" | "nanos") => Type::Int,
            (Kind::List, "values") => Type::Dyn.list(),
            (Kind::Struct, "fields") => Type::Dyn.map(),
            (Kind::Value, "null_value") => Type::Int,
            (Kind::Value, "number_value") => Type::Double,
            (Kind::Value, "string_value") => Type::String,
            (Kind::Value, "bool_value") => Type::Bool,
            (Kind::Value, "struct_value") => Type::Dyn.map(),
            (Kind::Value, "list_value") => Type::Dyn.list(),
            (_, "value") => match self.type_() {
                Type::Wrapper(of) => (*of).clone(),
                _ => return None,
            },
            _ => return None,
        })
    }

    /// Returns the value of the message with these fields.
    pub(crate) fn value<'a>(self, fields: &[FieldValue<'a>]) -> Outcome<'a> {
        let mut made = self.empty()?;
        let (mut seconds, mut nanos) = (0, 0);
        for (name, value) in fields {
            let mismatch = |problem: String| {
                EvaluationError::new(format!(
                    "field type conversion error for {}.{name} value type: {problem}",
                    self.name
                ))
            };
            made = match (self.kind, &**name, value) {
                (Kind::Duration | Kind::Timestamp, "seconds", Value::Int(given)) => {
                    seconds = *given;
                    made
                }
                (Kind::Duration | Kind::Timestamp, "nanos", Value::Int(given)) => {
                    let given = i32::try_from(*given);
                    nanos = given.map_err(|_| mismatch("integer overflow".to_owned()))?;
                    made
                }
                (Kind::Value, "null_value", Value::Int(_)) => Value::Null,
                (Kind::Int32, _, Value::Int(given)) if i32::try_from(*given).is_err() => {
                    return Err(mismatch("integer overflow".to_owned()));
                }
                (Kind::Uint32, _, Value::Uint(given)) if u32::try_from(*given).is_err() => {
                    return Err(mismatch("unsigned integer overflow".to_owned()));
                }
                (Kind::Float, _, Value::Double(given)) => Value::Double(f64::from(*given as f32)),
                (Kind::Bool, _, Value::Bool(_))
                | (Kind::Bytes, _, Value::Bytes(_))
                | (Kind::Double, _, Value::Double(_))
                | (Kind::Int32 | Kind::Int64, _, Value::Int(_))
                | (Kind::String, _, Value::String(_))
                | (Kind::Uint32 | Kind::Uint64, _, Value::Uint(_))
                | (Kind::Value, "number_value", Value::Double(_))
                | (Kind::Value, "string_value", Value::String(_))
                | (Kind::Value, "bool_value", Value::Bool(_)) => value.clone(),
                (Kind::List, _, Value::List(_))
                | (Kind::Struct, _, Value::Map(_))
                | (Kind::Value, "struct_value", Value::Map(_))
                | (Kind::Value, "list_value", Value::List(_)) => {
                    json(value).map_err(|error| mismatch(error.to_string()))?
                }
                _ => return Err(mismatch(unsupported(value).to_string())),
            };
        }
        match self.kind {
            Kind::Duration => {
                Ok(Value::Duration(seconds.saturating_mul(NANOS).saturating_add(i64::from(nanos))))
            }
            Kind::Timestamp => moment(seconds, i64::from(nanos)),
            _ => Ok(made),
        }
    }

    /// Returns the value without fields.
    fn empty<'a>(self) -> Outcome<'a> {
        Ok(match self.kind {
            Kind::Any => {
                return Err(EvaluationError::new(
                    "unsupported conversion to ref.Val: (*anypb.Any)",
                ));
            }
            Kind::Bool => Value::Bool(false),
            Kind::Bytes => Value::Bytes(Arc::default()),
            Kind::Double | Kind::Float => Value::Double(0.0),
            Kind::Empty => Value::Opaque(Arc::new(Empty)),
            Kind::Int32 | Kind::Int64 => Value::Int(0),
            Kind::List => Value::list(Vec::new()),
            Kind::String => Value::text(""),
            Kind::Struct => Value::Map(Map::Values(Arc::default())),
            Kind::Uint32 | Kind::Uint64 => Value::Uint(0),
            Kind::Duration | Kind::Timestamp | Kind::Value => Value::Null,
        })
    }
}

/// Returns the value of a name for a number in a message.
pub(crate) fn constant(name: &str) -> Option<i64> {
    (name == "google.protobuf.NullValue.NULL_VALUE").then_some(0)
}

fn unsupported(value: &Value<'_>) -> EvaluationError {
    EvaluationError::new(format!("unsupported type conversion from '{}'", value.type_name()))
}

fn moment<'a>(seconds: i64, nanos: i64) -> Outcome<'a> {
    let seconds = seconds.saturating_add(nanos.div_euclid(NANOS));
    let nanos = u32::try_from(nanos.rem_euclid(NANOS)).unwrap_or_default();
    if !(FIRST_SECOND..=LAST_SECOND).contains(&seconds) {
        return Err(EvaluationError::new("timestamp overflow"));
    }
    Ok(Value::Timestamp(Timestamp { seconds, nanos, offset: 0 }))
}

/// Returns a value as it is in JSON: integers are floats if these are exact, values that JSON does
/// not know are text.
fn json<'a>(value: &Value<'a>) -> Outcome<'a> {
    Ok(match value {
        Value::Null | Value::Bool(_) | Value::Double(_) | Value::String(_) => value.clone(),
        Value::Int(int) if int.unsigned_abs() <= LARGEST_IN_JSON => Value::Double(*int as f64),
        Value::Int(int) => Value::text(int.to_string()),
        Value::Uint(uint) if *uint <= LARGEST_IN_JSON => Value::Double(*uint as f64),
        Value::Uint(uint) => Value::text(uint.to_string()),
        Value::Bytes(bytes) => Value::text(base64::encode(bytes)),
        Value::Duration(duration) => Value::text(duration_text(*duration)),
        Value::Timestamp(time) => Value::text(timestamp_text(*time)),
        Value::List(list) => {
            let values = grow(|| list.iter().map(|value| json(&value?)).collect::<Result<_, _>>());
            Value::list(values?)
        }
        Value::Map(map) => {
            let entry = |(key, value): (Value<'a>, Outcome<'a>)| match key {
                Value::String(_) => Ok((key, json(&value?)?)),
                key => Err(unsupported(&key)),
            };
            let entries = grow(|| map.entries().into_iter().map(entry).collect::<Result<_, _>>());
            Value::Map(Map::Values(Arc::new(entries?)))
        }
        Value::Optional(Some(value)) => return grow(|| json(value)),
        Value::Optional(None) | Value::Type(_) | Value::Opaque(_) => {
            return Err(unsupported(value));
        }
    })
}

/// The message without fields.
#[derive(Debug, PartialEq)]
struct Empty;

impl LibraryValue for Empty {
    fn type_name(&self) -> &'static str {
        "google.protobuf.Empty"
    }
}
