//! Reads variables, and what is selected from values.

use std::sync::Arc;

use super::machine::{Machine, Slot, caught};
use super::node::{Base, Chain, Key};
use super::select::find;
use crate::language::value::{Deferred, EvaluationError, Outcome, Value};

/// Where something is selected from.
enum From<'a> {
    /// The value of a variable, which need not be copied for it.
    Slot(usize),
    Value(Value<'a>),
}

impl<'a> Machine<'a, '_, '_> {
    /// Evaluates a chain, with the cost of reading its base.
    pub(super) fn read(&mut self, chain: &'a Chain) -> Outcome<'a> {
        let outcome = self.chain(chain);
        let is_free = chain.is_test || matches!(chain.base, Base::Choice(..));
        self.charged(outcome, u64::from(!is_free))
    }

    /// Evaluates a chain, without the cost of reading its base.
    pub(super) fn chain(&mut self, chain: &'a Chain) -> Outcome<'a> {
        let base = match &chain.base {
            Base::Slot(slot) if !chain.steps.is_empty() && self.has_parts(*slot) => {
                return self.steps(From::Slot(*slot), false, chain);
            }
            Base::Slot(slot) => self.slot(*slot)?,
            Base::Choice(condition, yes, no) => {
                let chosen = if self.truth(condition)? { yes } else { no };
                self.chain(chosen)?
            }
            Base::Computed(node) => self.node(node)?,
            Base::Watched(watch, chain) => self.watched(*watch, |machine| machine.chain(chain))?,
        };
        match base {
            Value::Optional(Some(value)) => match Value::clone(&value).read() {
                Ok(value) => self.steps(From::Value(value.without_schema()), true, chain),
                Err(error) if !chain.steps.is_empty() => Err(error),
                Err(_) => Ok(Value::Optional(Some(value))),
            },
            Value::Optional(None) if chain.is_test => Ok(Value::Bool(false)),
            base @ Value::Optional(None) => Ok(base),
            base if chain.steps.is_empty() => Ok(base),
            base => self.steps(From::Value(base), false, chain),
        }
    }

    /// Whether a variable has a value whose parts are there.
    fn has_parts(&self, slot: usize) -> bool {
        matches!(self.slots.get(slot), Some(Slot::Set(Ok(Value::Map(_) | Value::List(_)))))
    }

    /// Selects one thing after the other; a missing part of an optional value is none.
    fn steps(
        &mut self,
        mut from: From<'a>,
        mut is_optional: bool,
        chain: &'a Chain,
    ) -> Outcome<'a> {
        let last = chain.steps.len().saturating_sub(1);
        for (position, step) in chain.steps.iter().enumerate() {
            let is_test = chain.is_test && position == last;
            is_optional |= step.optional;
            let computed;
            let key = match &step.key {
                Key::Constant(key) => Ok(key),
                Key::Chain(key) => {
                    computed = caught(self.chain(key))?;
                    computed.as_ref()
                }
                Key::Computed(key) => {
                    computed = caught(self.node(key))?;
                    computed.as_ref()
                }
            };
            let found = match key {
                Ok(key) => self.find(&from, key, is_optional || is_test),
                Err(error) => Err(error.clone()),
            };
            if !is_optional || matches!(found, Ok(Some(_))) {
                self.charge(1)?;
            }
            match found? {
                found if is_test => return Ok(Value::Bool(found.is_some())),
                Some(found) if position == last && !is_optional => return self.resolved(found),
                Some(found) => from = From::Value(self.resolved(found)?),
                None if chain.is_test => return Ok(Value::Bool(false)),
                None => return Ok(Value::Optional(None)),
            }
        }
        let value = match from {
            From::Slot(slot) => self.slot(slot)?,
            From::Value(value) => value,
        };
        Ok(if is_optional { Value::Optional(Some(Arc::new(value))) } else { value })
    }

    #[inline]
    fn find(
        &self,
        from: &From<'a>,
        key: &Value<'_>,
        may_be_missing: bool,
    ) -> Outcome<'a, Option<Value<'a>>> {
        let value = match from {
            From::Value(value) => value,
            From::Slot(slot) => match self.slots.get(*slot) {
                Some(Slot::Set(Ok(value))) => value,
                _ => return Err(self.unset(*slot)),
            },
        };
        find(value, key, may_be_missing)
    }

    /// A value that is evaluated when it is first selected (PO-47).
    #[inline]
    fn resolved(&mut self, value: Value<'a>) -> Outcome<'a> {
        let Value::Opaque(opaque) = &value else { return Ok(value) };
        match (opaque.downcast_ref::<Deferred>(), self.resolve) {
            (Some(Deferred(name)), Some(resolve)) => resolve(name, &mut self.meter),
            _ => Ok(value),
        }
    }

    /// Reads a variable. The initial value of a comprehension is evaluated when it is first read.
    pub(super) fn slot(&mut self, slot: usize) -> Outcome<'a> {
        match self.slots.get(slot) {
            Some(Slot::Set(outcome)) => outcome.clone(),
            Some(Slot::Start(start)) => {
                let outcome = caught(self.on_stack(start))?;
                self.set(slot, outcome.clone());
                outcome
            }
            _ => Err(self.unset(slot)),
        }
    }

    #[cold]
    fn unset(&self, slot: usize) -> EvaluationError {
        match self.plan.variables.iter().find(|(_, known)| *known == slot) {
            Some((name, _)) => EvaluationError::new(format!("no such attribute(s): {name}")),
            None => EvaluationError::NoSuchOverload,
        }
    }

    #[inline]
    pub(super) fn set(&mut self, slot: usize, outcome: Outcome<'a>) {
        if let Some(place) = self.slots.get_mut(slot) {
            *place = Slot::Set(outcome);
        }
    }
}
