//! Which overload takes the arguments of a call.

use crate::language::functions::Overload;
use crate::language::types::Type;
use crate::language::value::{Map, Value};

/// Returns the overload that takes the arguments. If an argument is an error nothing is called, and
/// the choice only matters for the cost.
pub(super) fn choose(
    overloads: &[&'static Overload],
    arguments: &[Value<'_>],
    has_failed: bool,
) -> Option<&'static Overload> {
    if has_failed {
        return overloads.first().copied();
    }
    overloads.iter().copied().find(|overload| {
        overload.parameters.len() == arguments.len()
            && overload.parameters.iter().zip(arguments).all(|(of, value)| fits(of, value))
    })
}

/// Whether a parameter takes a value; in lists and maps only the first element is looked at.
pub(super) fn fits(parameter: &Type, value: &Value<'_>) -> bool {
    match (parameter, value) {
        (Type::Dyn | Type::Param(_), _)
        | (Type::Null, Value::Null)
        | (Type::Bool, Value::Bool(_))
        | (Type::Int, Value::Int(_))
        | (Type::Uint, Value::Uint(_))
        | (Type::Double, Value::Double(_))
        | (Type::String, Value::String(_))
        | (Type::Bytes, Value::Bytes(_))
        | (Type::Duration, Value::Duration(_))
        | (Type::Timestamp, Value::Timestamp(_))
        | (Type::Object(_), Value::Map(_))
        | (Type::Optional(_), Value::Optional(_))
        | (Type::Type(_), Value::Type(_)) => true,
        (Type::List(of), Value::List(list)) => {
            list.get(0).is_none_or(|element| element.is_ok_and(|element| fits(of, &element)))
        }
        (Type::Map(of_key, of_value), Value::Map(map)) => match map {
            // The keys of objects are text, and their values were checked.
            Map::Json(..) => fits(of_key, &Value::text("")),
            Map::Values(entries) => entries
                .first()
                .is_none_or(|(key, value)| fits(of_key, key) && fits(of_value, value)),
        },
        (Type::Opaque(name), Value::Opaque(value)) => *name == value.type_name(),
        _ => false,
    }
}
