//! The common parts of the libraries: overloads, and reading arguments.

use std::sync::Arc;

use crate::language::availability::Availability;
use crate::language::meter::Meter;
use crate::language::types::Type;
use crate::language::value::{EvaluationError, Opaque, Outcome, Value};

pub(super) type Result<T> = std::result::Result<T, EvaluationError>;

/// One way to call a function.
pub(crate) struct Overload {
    /// The name of the function or operator, e.g. `startsWith`, `_+_`, `math.greatest`.
    pub(crate) function: &'static str,
    /// Whether it is called as a method; then the receiver is the first parameter.
    pub(crate) is_method: bool,
    pub(crate) parameters: Vec<Type>,
    pub(crate) result: Type,
    pub(crate) call: Call,
    pub(crate) cost: Cost,
    pub(crate) availability: Availability,
    /// Changes its errors.
    pub(crate) on_error: fn(EvaluationError) -> EvaluationError,
    /// Counts what the call looks at, if that is more than its arguments themselves (CE-36).
    pub(crate) work: Option<Work>,
}

pub(crate) type Work = fn(&[Value<'_>], &mut Meter) -> Result<()>;

pub(crate) type Call = for<'a> fn(&[Value<'a>]) -> Outcome<'a>;

/// The cost of a call at run time, given the arguments (the receiver first) and the result. An
/// argument or a result that is an error is replaced by null, whose size is one like that of every
/// value without a length.
#[derive(Clone, Copy)]
pub(crate) enum Cost {
    /// Always the same.
    Fixed(u64),
    /// Depends on the sizes.
    Of(fn(&[Value<'_>], &Value<'_>) -> u64),
    /// Depends on the sizes if the checker left this overload alone, else one.
    Resolved(fn(&[Value<'_>], &Value<'_>) -> u64),
    /// Depends on the sizes; an error in the place of a list ends the whole evaluation.
    OfLists(fn(&[Value<'_>], &Value<'_>) -> u64),
}

impl Overload {
    /// A function that costs one.
    pub(super) fn function(
        function: &'static str,
        parameters: Vec<Type>,
        result: Type,
        call: Call,
    ) -> Self {
        Overload {
            function,
            is_method: false,
            parameters,
            result,
            call,
            cost: Cost::Fixed(1),
            availability: Availability::Always,
            on_error: |error| error,
            work: None,
        }
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

    /// Sets another cost.
    pub(super) fn costs(self, cost: Cost) -> Self {
        Overload { cost, ..self }
    }

    /// Restricts where there is the overload.
    pub(super) fn available(self, availability: Availability) -> Self {
        Overload { availability, ..self }
    }

    /// Changes its errors.
    pub(super) fn on_error(self, on_error: fn(EvaluationError) -> EvaluationError) -> Self {
        Overload { on_error, ..self }
    }

    /// Sets what is counted before a call.
    pub(super) fn works(self, work: Work) -> Self {
        Overload { work: Some(work), ..self }
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
pub(super) fn opaque<'v, T: Opaque>(arguments: &'v [Value<'_>], index: usize) -> Result<&'v T> {
    match argument(arguments, index)? {
        Value::Opaque(opaque) => opaque.downcast_ref().ok_or(EvaluationError::NoSuchOverload),
        _ => Err(EvaluationError::NoSuchOverload),
    }
}

/// A value of a library's type.
pub(super) fn wrap<'a>(opaque: impl Opaque) -> Value<'a> {
    Value::Opaque(Arc::new(opaque))
}
