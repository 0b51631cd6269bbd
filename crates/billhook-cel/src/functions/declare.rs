//! What the libraries share: building overloads and reading arguments.

use std::sync::Arc;

use super::{Call, Cost, Overload};
use crate::types::Type;
use crate::value::{EvaluationError, Opaque, Value};

pub(super) type Result<T> = std::result::Result<T, EvaluationError>;

impl Overload {
    /// A function that costs one.
    pub(super) fn function(
        function: &'static str,
        parameters: Vec<Type>,
        result: Type,
        call: Call,
    ) -> Self {
        Overload { function, is_method: false, parameters, result, call, cost: Cost::Fixed(1) }
    }

    /// A method that costs one; the first parameter is the receiver.
    pub(super) fn method(
        function: &'static str,
        parameters: Vec<Type>,
        result: Type,
        call: Call,
    ) -> Self {
        Overload { is_method: true, ..Overload::function(function, parameters, result, call) }
    }

    /// With another cost.
    pub(super) fn costs(self, cost: Cost) -> Self {
        Overload { cost, ..self }
    }
}

/// An argument, by its position.
pub(super) fn argument<'v, 'a>(arguments: &'v [Value<'a>], index: usize) -> Result<&'v Value<'a>> {
    arguments.get(index).ok_or(EvaluationError::NoSuchOverload)
}

/// An argument that is text.
pub(super) fn text<'v>(arguments: &'v [Value<'_>], index: usize) -> Result<&'v str> {
    match argument(arguments, index)? {
        Value::String(text) => Ok(text.as_str()),
        _ => Err(EvaluationError::NoSuchOverload),
    }
}

/// An argument that is an integer.
pub(super) fn int(arguments: &[Value<'_>], index: usize) -> Result<i64> {
    match argument(arguments, index)? {
        Value::Int(int) => Ok(*int),
        _ => Err(EvaluationError::NoSuchOverload),
    }
}

/// An argument that is of a library's type.
pub(super) fn opaque<'v, T: Opaque + 'static>(
    arguments: &'v [Value<'_>],
    index: usize,
) -> Result<&'v T> {
    match argument(arguments, index)? {
        Value::Opaque(opaque) => {
            opaque.as_any().downcast_ref().ok_or(EvaluationError::NoSuchOverload)
        }
        _ => Err(EvaluationError::NoSuchOverload),
    }
}

/// A value of a library's type.
pub(super) fn wrap<'a>(opaque: impl Opaque + 'static) -> Value<'a> {
    Value::Opaque(Arc::new(opaque))
}
