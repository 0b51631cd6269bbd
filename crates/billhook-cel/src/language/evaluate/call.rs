//! Calls functions.

use super::call_cost::{cost, hide_optional, is_container};
use super::machine::Machine;
use super::node::{Call, Matching, Node};
use super::overloads::choose;
use crate::language::functions::{Overload, operators, regex};
use crate::language::value::{EvaluationError, Outcome, Value};

impl<'a> Machine<'a, '_, '_> {
    pub(super) fn call(&mut self, call: &'a Call) -> Outcome<'a> {
        let mut failure = None;
        match call.arguments.as_slice() {
            [only] => {
                let only = self.argument(only, false, &mut failure)?;
                self.call_with(call, &mut [only], failure)
            }
            [left, right] => {
                let left = self.argument(left, call.stops_early, &mut failure)?;
                let right = self.argument(right, false, &mut failure)?;
                match (call.relation, left, right) {
                    (Some(relation), Value::Int(left), Value::Int(right)) => {
                        self.charge(1)?;
                        self.made(Ok(Value::Bool(relation(left.cmp(&right)))))
                    }
                    (_, left, right) => self.call_with(call, &mut [left, right], failure),
                }
            }
            more => {
                let mut arguments = Vec::with_capacity(more.len());
                for (position, argument) in more.iter().enumerate() {
                    let stops = call.stops_early && position + 1 < more.len();
                    arguments.push(self.argument(argument, stops, &mut failure)?);
                }
                self.call_with(call, &mut arguments, failure)
            }
        }
    }

    /// Evaluates an argument. If that fails and does not stop the call, null is in its place, and
    /// the error is kept if it is the first one.
    #[inline(always)]
    fn argument(
        &mut self,
        argument: &'a Node,
        stops: bool,
        failure: &mut Option<EvaluationError>,
    ) -> Outcome<'a> {
        match self.node(argument) {
            Err(error) if !stops && !error.ends_evaluation() => {
                failure.get_or_insert(error);
                Ok(Value::Null)
            }
            outcome => outcome,
        }
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
