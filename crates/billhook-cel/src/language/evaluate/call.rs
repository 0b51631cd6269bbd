//! Calls functions.

use super::call_cost::{cost, hide_optional, is_container};
use super::machine::{Machine, caught};
use super::node::{Call, Matching};
use super::overloads::choose;
use crate::language::functions::{Overload, operators, regex};
use crate::language::value::{EvaluationError, Outcome, Value};

impl<'a> Machine<'a, '_, '_> {
    pub(super) fn call(&mut self, call: &'a Call) -> Outcome<'a> {
        if let (Some(relation), [left, right]) = (call.relation, call.arguments.as_slice()) {
            return match (caught(self.node(left))?, caught(self.node(right))?) {
                (Ok(Value::Int(left)), Ok(Value::Int(right))) => {
                    self.charge(1)?;
                    self.made(Ok(Value::Bool(relation(left.cmp(&right)))))
                }
                (left, right) => {
                    let mut failure = None;
                    let arguments = [left, right].map(|outcome| or_null(outcome, &mut failure));
                    self.call_with(call, &mut { arguments }, failure)
                }
            };
        }
        let mut few = [Value::Null, Value::Null];
        let mut many = Vec::new();
        let arguments = few.get_mut(..call.arguments.len()).unwrap_or_else(|| {
            many.resize(call.arguments.len(), Value::Null);
            &mut many
        });
        let failure = self.arguments(call, arguments)?;
        self.call_with(call, arguments, failure)
    }

    /// Calls a function with its arguments, which may have failed.
    fn call_with(
        &mut self,
        call: &'a Call,
        arguments: &mut [Value<'a>],
        failure: Option<EvaluationError>,
    ) -> Outcome<'a> {
        let failed = failure.is_some();
        let chosen = choose(&call.overloads, arguments, failed);
        let outcome = match (failure, chosen) {
            (Some(error), _) => Err(error),
            (None, None) => Err(operators::unmatched(call.function(), arguments)),
            (None, Some(overload)) => match &call.pattern {
                Some(pattern) => self.search(overload, pattern, arguments),
                None => {
                    self.look(call, overload, arguments)?;
                    (overload.call)(arguments).map_err(overload.on_error)
                }
            },
        };
        // The server does not get to the cost.
        if matches!(outcome, Err(EvaluationError::Internal(_))) {
            return outcome;
        }
        if !self.plan.weighs_optionals {
            arguments.iter_mut().for_each(hide_optional);
        }
        let result = outcome.as_ref().unwrap_or(&Value::Null);
        let cost = cost(call, chosen, arguments, result, failed)?;
        self.charge(cost)?;
        self.made(outcome)
    }

    /// Evaluates the arguments; null is in the place of those that are errors. Returns the first of
    /// these errors.
    fn arguments(
        &mut self,
        call: &'a Call,
        places: &mut [Value<'a>],
    ) -> Outcome<'a, Option<EvaluationError>> {
        let mut failure = None;
        let count = places.len();
        for (position, (argument, place)) in call.arguments.iter().zip(places).enumerate() {
            let outcome = caught(self.node(argument))?;
            if call.stops_early && position + 1 < count {
                *place = outcome?;
            } else {
                *place = or_null(outcome, &mut failure);
            }
        }
        Ok(failure)
    }

    /// Calls a function that takes a pattern.
    fn search(
        &mut self,
        overload: &Overload,
        pattern: &Matching,
        arguments: &[Value<'a>],
    ) -> Outcome<'a> {
        let pattern = match (pattern, arguments.get(1)) {
            (Matching::Known(pattern), _) => Ok(pattern.clone()),
            (Matching::Computed, Some(Value::String(text))) => {
                self.patterns.get_or_insert_default().get(text.as_str())
            }
            _ => return Err(EvaluationError::NoSuchOverload),
        };
        regex::call(overload.function, pattern, arguments, &mut self.meter)
    }

    /// Counts what a call looks at, unless it costs too much anyway: as its result has no less than
    /// no elements, it costs one less than with null, of size one, at least.
    fn look(
        &mut self,
        call: &Call,
        overload: &Overload,
        arguments: &[Value<'a>],
    ) -> Result<(), EvaluationError> {
        let Some(work) = overload.work.filter(|_| arguments.iter().any(is_container)) else {
            return Ok(());
        };
        let is_weighed =
            |value| self.plan.weighs_optionals || !matches!(value, &Value::Optional(_));
        if arguments.iter().all(is_weighed) {
            let cost = cost(call, Some(overload), arguments, &Value::Null, false)?;
            if self.cost.saturating_add(cost.saturating_sub(1)) > self.limit {
                return self.charge(cost);
            }
        }
        work(arguments, &mut self.meter)
    }
}

/// Returns null in the place of an error, which is kept if it is the first one.
fn or_null<'a>(outcome: Outcome<'a>, failure: &mut Option<EvaluationError>) -> Value<'a> {
    outcome.unwrap_or_else(|error| {
        failure.get_or_insert(error);
        Value::Null
    })
}
