//! Runs plans.

use std::sync::Arc;

use billhook_apimachinery::value::grow;
use billhook_regex::Patterns;

use super::call_cost::{cost, hide_optional, is_container};
use super::entries::{Entries, insert_new, object, optional_element};
use super::node::{Base, Call, Chain, Fold, Key, Made, MapEntry, Matching, Node, Plan, Step, Turn};
use super::overloads::choose;
use super::recorder::Recorder;
use super::select::find;
use crate::language::functions::price::{LIST, MAP, STRUCT};
use crate::language::functions::{Overload, arithmetic, operators, regex};
use crate::language::messages::FieldValue;
use crate::language::meter::Meter;
use crate::language::value::{Deferred, EvaluationError, List, Map, Outcome, Value, excerpt};

/// The result of an evaluation and its cost.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Evaluation<'a> {
    /// The value, or the error.
    pub result: Result<Value<'a>, EvaluationError>,
    /// The cost (CE-35).
    pub cost: u64,
}

/// The end of the whole evaluation.
struct Abort(EvaluationError);

/// Evaluates what a [`Value::deferred`] stands for, by its name, within what is left of the bounds.
pub(crate) type Resolve<'m, 'a> = dyn Fn(&str, &mut Meter) -> Outcome<'a> + 'm;

/// Runs a plan with variables by their names, up to a limit of cost. A plan with watches tells the
/// recorder what they saw.
pub(crate) fn run<'a>(
    plan: &'a Plan,
    variables: &[(&str, Value<'a>)],
    resolve: Option<&Resolve<'_, 'a>>,
    limit: u64,
    meter: &mut Meter,
    recorder: Option<&mut Recorder<'_>>,
) -> Evaluation<'a> {
    let mut machine = Machine {
        plan,
        variables: plan
            .variables
            .iter()
            .map(|name| {
                let known = variables.iter().find(|(known, _)| *known == &**name);
                known.map(|(_, value)| value.clone())
            })
            .collect(),
        resolve,
        slots: vec![Slot::Unset; plan.slots],
        cost: 0,
        limit,
        meter: *meter,
        patterns: None,
        recorder,
    };
    let result = match machine.node(&plan.root) {
        Ok(outcome) => outcome,
        Err(Abort(error)) => Err(error),
    };
    *meter = machine.meter;
    Evaluation { result, cost: machine.cost }
}

/// A variable of a comprehension.
#[derive(Clone)]
enum Slot<'a> {
    Unset,
    /// The node of its initial value, not yet evaluated.
    Start(&'a Node),
    Set(Outcome<'a>),
}

struct Machine<'a, 'm, 'w> {
    plan: &'a Plan,
    variables: Vec<Option<Value<'a>>>,
    resolve: Option<&'m Resolve<'m, 'a>>,
    slots: Vec<Slot<'a>>,
    cost: u64,
    limit: u64,
    meter: Meter,
    /// Patterns that are no literals.
    patterns: Option<Patterns>,
    recorder: Option<&'m mut Recorder<'w>>,
}

impl<'a> Machine<'a, '_, '_> {
    fn charge(&mut self, cost: u64) -> Result<(), Abort> {
        self.cost = self.cost.saturating_add(cost);
        if self.cost > self.limit { Err(Abort(EvaluationError::CostLimit)) } else { Ok(()) }
    }

    /// Counts a value that was made.
    fn made(&mut self, outcome: Outcome<'a>) -> Result<Outcome<'a>, Abort> {
        match &outcome {
            Ok(value) => self.meter.made(value).map_err(Abort)?,
            Err(error) if error.ends_evaluation() => return Err(Abort(error.clone())),
            Err(_) => {}
        }
        Ok(outcome)
    }

    fn node(&mut self, node: &'a Node) -> Result<Outcome<'a>, Abort> {
        grow(|| self.node_here(node))
    }

    fn node_here(&mut self, node: &'a Node) -> Result<Outcome<'a>, Abort> {
        match node {
            Node::Constant(value) => Ok(Ok(value.clone())),
            Node::Chain(chain) => {
                let outcome = self.chain(chain)?;
                let is_free = chain.is_test || matches!(chain.base, Base::Choice(..));
                self.charge(u64::from(!is_free))?;
                Ok(outcome)
            }
            Node::And(operands) => self.logic(operands, false),
            Node::Or(operands) => self.logic(operands, true),
            Node::NotStrictlyFalse(operand) => {
                let outcome = self.node(operand)?;
                self.charge(1)?;
                Ok(Ok(Value::Bool(!matches!(outcome, Ok(Value::Bool(false))))))
            }
            Node::Call(call) => self.call(call),
            Node::OneOf { value, constants } => {
                let outcome = self.node(value)?;
                Ok(outcome.and_then(|value| Ok(Value::Bool(constants.contain(&value)?))))
            }
            Node::Otherwise { optional, default, unwraps } => match self.node(optional)? {
                Ok(Value::Optional(Some(value))) if *unwraps => Ok(Value::clone(&value).read()),
                Ok(value @ Value::Optional(Some(_))) => Ok(Ok(value)),
                Ok(Value::Optional(None)) => self.node(default),
                Ok(_) => Ok(Err(EvaluationError::NoSuchOverload)),
                Err(error) => Ok(Err(error)),
            },
            Node::List(elements) => {
                let outcome = self.list(elements)?;
                self.charge(LIST)?;
                self.made(outcome)
            }
            Node::Map(entries) => {
                let outcome = self.map(entries)?;
                self.charge(MAP)?;
                self.made(outcome)
            }
            Node::Struct(made, fields) => {
                let outcome = self.fields(fields)?.and_then(|fields| match made {
                    Made::Message(message) => message.value(&fields),
                    Made::Object(name) => Ok(object(name, fields)),
                });
                self.charge(STRUCT)?;
                self.made(outcome)
            }
            Node::Fold(fold) => self.fold(fold),
            Node::Failing { node, error } => Ok(self.node(node)?.map_err(|_| error.clone())),
            Node::Append { slot, elements } => self.append(*slot, elements),
            Node::Insert { slot, entries } => self.insert(*slot, entries),
            Node::Choose(parts) => {
                let (condition, yes, no) = &**parts;
                match self.node(condition)? {
                    Ok(Value::Bool(true)) => self.node(yes),
                    Ok(Value::Bool(false)) => self.chain(no),
                    Ok(_) => Ok(Err(EvaluationError::NoSuchOverload)),
                    Err(error) => Ok(Err(error)),
                }
            }
            Node::Watched(watch, node) => self.watched(*watch, |machine| machine.node(node)),
            Node::Turn(turn) => self.recorded_turn(turn),
        }
    }

    /// Evaluates a part and records what came of it.
    #[cold]
    fn watched(
        &mut self,
        watch: usize,
        evaluate: impl FnOnce(&mut Self) -> Result<Outcome<'a>, Abort>,
    ) -> Result<Outcome<'a>, Abort> {
        let before = self.cost;
        let outcome = evaluate(self);
        if let Some(recorder) = &mut self.recorder {
            let result = match &outcome {
                Ok(outcome) => outcome.as_ref(),
                Err(Abort(error)) => Err(error),
            };
            recorder.record(watch, result, self.cost.saturating_sub(before));
        }
        outcome
    }

    #[cold]
    fn recorded_turn(&mut self, turn: &'a Turn) -> Result<Outcome<'a>, Abort> {
        let outcome = self.node(&turn.step);
        if let Some(recorder) = &mut self.recorder {
            let variable = |(name, slot): &(Arc<str>, usize)| {
                let shown = match self.slots.get(*slot) {
                    Some(Slot::Set(Ok(value))) => excerpt(value),
                    Some(Slot::Set(Err(error))) => format!("error: {error}"),
                    _ => return None,
                };
                Some((name.to_string(), shown))
            };
            let variables = turn.variables.iter().filter_map(variable).collect();
            recorder.end_turn(turn.number, variables);
        }
        outcome
    }

    /// Evaluates `&&`, which false decides, or `||`, which true does, whatever the other operands are. Returns the first error if nothing
    /// decides.
    fn logic(&mut self, operands: &'a [Node; 2], decisive: bool) -> Result<Outcome<'a>, Abort> {
        let mut failure = None;
        for operand in operands {
            let error = match self.node(operand)? {
                Ok(Value::Bool(value)) if value == decisive => return Ok(Ok(Value::Bool(value))),
                Ok(Value::Bool(_)) => continue,
                Ok(_) => EvaluationError::NoSuchOverload,
                Err(error) => error,
            };
            failure.get_or_insert(error);
        }
        Ok(failure.map_or(Ok(Value::Bool(!decisive)), Err))
    }

    fn list(&mut self, elements: &'a [(Node, bool)]) -> Result<Outcome<'a>, Abort> {
        let mut values = Vec::with_capacity(elements.len());
        for (element, optional) in elements {
            match self.node(element)?.and_then(|value| optional_element(value, *optional)) {
                Ok(value) => values.extend(value),
                Err(error) => return Ok(Err(error)),
            }
        }
        Ok(Ok(Value::list(values)))
    }

    fn map(&mut self, entries: &'a [MapEntry]) -> Result<Outcome<'a>, Abort> {
        let mut made = Entries::default();
        for MapEntry { key, value, optional } in entries {
            let key = match self.node(key)? {
                Ok(key) => key,
                Err(error) => return Ok(Err(error)),
            };
            match self.node(value)?.and_then(|value| optional_element(value, *optional)) {
                Ok(value) => made.insert(key, value),
                Err(error) => return Ok(Err(error)),
            }
        }
        Ok(Ok(made.into_value()))
    }

    /// The fields of a message that are there.
    fn fields(
        &mut self,
        nodes: &'a [(Arc<str>, Node, bool)],
    ) -> Result<Outcome<'a, Vec<FieldValue<'a>>>, Abort> {
        let mut fields = Vec::with_capacity(nodes.len());
        for (name, node, optional) in nodes {
            match self.node(node)?.and_then(|value| optional_element(value, *optional)) {
                Ok(value) => fields.extend(value.map(|value| (Arc::clone(name), value))),
                Err(error) => return Ok(Err(error)),
            }
        }
        Ok(Ok(fields))
    }

    /// Evaluates a chain, without the cost of reading its base.
    fn chain(&mut self, chain: &'a Chain) -> Result<Outcome<'a>, Abort> {
        let base = match &chain.base {
            Base::Local(slot) => self.slot(*slot)?,
            Base::Variable(index) => self.variable(*index),
            Base::Choice(condition, yes, no) => match self.node(condition)? {
                Ok(Value::Bool(true)) => grow(|| self.chain(yes))?,
                Ok(Value::Bool(false)) => grow(|| self.chain(no))?,
                Ok(_) => Err(EvaluationError::NoSuchOverload),
                Err(error) => Err(error),
            },
            Base::Computed(node) => self.node(node)?,
            Base::Watched(watch, chain) => {
                self.watched(*watch, |machine| grow(|| machine.chain(chain)))?
            }
        };
        match base {
            Ok(Value::Optional(Some(value))) => match Value::clone(&value).read() {
                Ok(value) => self.steps(value.without_schema(), true, chain),
                Err(error) if !chain.steps.is_empty() => Ok(Err(error)),
                Err(_) => Ok(Ok(Value::Optional(Some(value)))),
            },
            Ok(Value::Optional(None)) if chain.is_test => Ok(Ok(Value::Bool(false))),
            Ok(base @ Value::Optional(None)) => Ok(Ok(base)),
            Ok(base) if chain.steps.is_empty() => Ok(Ok(base)),
            Ok(base) => self.steps(base, false, chain),
            Err(error) => Ok(Err(error)),
        }
    }

    /// Selects one thing after the other; a missing part of an optional value is none.
    fn steps(
        &mut self,
        mut value: Value<'a>,
        mut is_optional: bool,
        chain: &'a Chain,
    ) -> Result<Outcome<'a>, Abort> {
        let last = chain.steps.len().saturating_sub(1);
        for (position, step) in chain.steps.iter().enumerate() {
            let is_test = chain.is_test && position == last;
            is_optional |= step.optional;
            let key = self.key(step)?;
            let found = key.and_then(|key| find(&value, &key, is_optional || is_test));
            if !is_optional || !matches!(found, Ok(None) | Err(_)) {
                self.charge(1)?;
            }
            match found {
                Err(error) => return Ok(Err(error)),
                Ok(found) if is_test => return Ok(Ok(Value::Bool(found.is_some()))),
                Ok(Some(found)) => match self.resolved(found) {
                    Ok(found) => value = found,
                    Err(error) => return Ok(Err(error)),
                },
                Ok(None) if chain.is_test => return Ok(Ok(Value::Bool(false))),
                Ok(None) => return Ok(Ok(Value::Optional(None))),
            }
        }
        Ok(Ok(if is_optional { Value::Optional(Some(Arc::new(value))) } else { value }))
    }

    /// A value that is evaluated when it is first selected (PO-47).
    fn resolved(&mut self, value: Value<'a>) -> Outcome<'a> {
        let Value::Opaque(opaque) = &value else { return Ok(value) };
        match (opaque.downcast_ref::<Deferred>(), self.resolve) {
            (Some(Deferred(name)), Some(resolve)) => resolve(name, &mut self.meter),
            _ => Ok(value),
        }
    }

    fn key(&mut self, step: &'a Step) -> Result<Outcome<'a>, Abort> {
        match &step.key {
            Key::Constant(key) => Ok(Ok(key.clone())),
            Key::Chain(chain) => self.chain(chain),
            Key::Computed(node) => self.node(node),
        }
    }

    fn variable(&self, index: usize) -> Outcome<'a> {
        match self.variables.get(index) {
            Some(Some(value)) => value.clone().read(),
            _ => {
                let name = self.plan.variables.get(index).map_or("", |name| name);
                Err(EvaluationError::new(format!("no such attribute(s): {name}")))
            }
        }
    }

    fn slot(&mut self, slot: usize) -> Result<Outcome<'a>, Abort> {
        match self.slots.get(slot) {
            Some(Slot::Set(outcome)) => Ok(outcome.clone()),
            Some(Slot::Start(start)) => {
                let start = *start;
                let outcome = self.node(start)?;
                self.set(slot, outcome.clone());
                Ok(outcome)
            }
            _ => Ok(Err(EvaluationError::NoSuchOverload)),
        }
    }

    fn set(&mut self, slot: usize, outcome: Outcome<'a>) {
        if let Some(place) = self.slots.get_mut(slot) {
            *place = Slot::Set(outcome);
        }
    }

    fn call(&mut self, call: &'a Call) -> Result<Outcome<'a>, Abort> {
        let mut arguments = Vec::with_capacity(call.arguments.len());
        let mut failure: Option<(usize, EvaluationError)> = None;
        for (position, argument) in call.arguments.iter().enumerate() {
            match self.node(argument)? {
                Ok(value) => arguments.push(value),
                Err(error) if call.stops_early && position + 1 < call.arguments.len() => {
                    return Ok(Err(error));
                }
                Err(error) => {
                    failure.get_or_insert((position, error));
                    arguments.push(Value::Null);
                }
            }
        }
        let chosen = choose(&call.overloads, &arguments, failure.is_some());
        let failed = failure.is_some();
        let outcome = match (failure, chosen) {
            (Some((_, error)), _) => Err(error),
            (None, None) => Err(operators::unmatched(call.function(), &arguments)),
            (None, Some(overload)) => match &call.pattern {
                Some(pattern) => self.search(overload, pattern, &arguments),
                None => {
                    self.look(call, overload, &arguments)?;
                    (overload.call)(&arguments).map_err(overload.on_error)
                }
            },
        };
        // The server does not get to the cost.
        if let Err(error @ EvaluationError::Internal(_)) = outcome {
            return Err(Abort(error));
        }
        if !self.plan.weighs_optionals {
            arguments.iter_mut().for_each(hide_optional);
        }
        let result = outcome.as_ref().unwrap_or(&Value::Null);
        let cost = cost(call, chosen, &arguments, result, failed).map_err(Abort)?;
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
    ) -> Result<(), Abort> {
        let Some(work) = overload.work.filter(|_| arguments.iter().any(is_container)) else {
            return Ok(());
        };
        let is_weighed =
            |value| self.plan.weighs_optionals || !matches!(value, &Value::Optional(_));
        if arguments.iter().all(is_weighed) {
            let cost = cost(call, Some(overload), arguments, &Value::Null, false).map_err(Abort)?;
            if self.cost.saturating_add(cost.saturating_sub(1)) > self.limit {
                return self.charge(cost);
            }
        }
        work(arguments, &mut self.meter).map_err(Abort)
    }

    fn fold(&mut self, fold: &'a Fold) -> Result<Outcome<'a>, Abort> {
        let range = match self.node(&fold.range)? {
            Ok(range) => range,
            Err(error) => return Ok(Err(error)),
        };
        if let Some(place) = self.slots.get_mut(fold.accumulator) {
            *place = Slot::Start(&fold.start);
        }
        match range {
            Value::List(list) => {
                for (index, element) in list.iter().enumerate() {
                    let position = Ok(Value::Int(i64::try_from(index).unwrap_or(i64::MAX)));
                    if !self.turn(fold, position, element, false)? {
                        break;
                    }
                }
            }
            Value::Map(map) => {
                self.meter.look(map.len() as u64).map_err(Abort)?;
                for (key, value) in map.entries() {
                    if !self.turn(fold, Ok(key), value, true)? {
                        break;
                    }
                }
            }
            other if fold.second.is_some() => {
                let text = format!("unsupported comprehension range type: {}", other.go_type());
                return Ok(Err(EvaluationError::new(text)));
            }
            other => {
                let found = other.go_type();
                let text = format!("got '{found}', expected iterable type");
                return Ok(Err(EvaluationError::new(text)));
            }
        }
        self.node(&fold.result)
    }

    /// One turn of a loop; whether another may follow. With one variable that is the key of a map
    /// or the element of a list.
    fn turn(
        &mut self,
        fold: &'a Fold,
        key: Outcome<'a>,
        value: Outcome<'a>,
        is_map: bool,
    ) -> Result<bool, Abort> {
        match fold.second {
            Some(second) => {
                self.set(fold.variable, key);
                self.set(second, value);
            }
            None => self.set(fold.variable, if is_map { key } else { value }),
        }
        if matches!(self.node(&fold.condition)?, Ok(Value::Bool(false))) {
            return Ok(false);
        }
        let step = self.node(&fold.step)?;
        self.set(fold.accumulator, step);
        Ok(true)
    }

    /// Costs what reading the map and inserting into it costs.
    fn insert(&mut self, slot: usize, entries: &'a [Node]) -> Result<Outcome<'a>, Abort> {
        let accumulated = self.slot(slot)?;
        self.charge(1)?;
        let is_entry = entries.len() > 1;
        if is_entry && accumulated.is_err() {
            return Ok(accumulated);
        }
        let mut values = Vec::with_capacity(entries.len());
        for node in entries {
            values.push(self.node(node)?);
        }
        self.charge(1)?;
        // The map is changed in place, as it is read nowhere else.
        match accumulated {
            Ok(Value::Map(map)) => drop(map),
            Ok(_) => return Ok(Err(EvaluationError::NoSuchOverload)),
            Err(error) => return Ok(Err(error)),
        }
        let values: Vec<Value<'a>> = match values.into_iter().collect() {
            Ok(values) => values,
            Err(error) => return Ok(Err(error)),
        };
        let taken = self.slots.get_mut(slot).map(|place| std::mem::replace(place, Slot::Unset));
        let Some(Slot::Set(Ok(Value::Map(Map::Values(mut map))))) = taken else {
            return Ok(Err(EvaluationError::NoSuchOverload));
        };
        let into = Arc::make_mut(&mut map);
        let outcome = match values.as_slice() {
            [key, value] => insert_new(into, key.clone(), value.clone()),
            [Value::Map(map)] => {
                map.entries().into_iter().try_for_each(|(key, value)| insert_new(into, key, value?))
            }
            _ => Err(EvaluationError::NoSuchOverload),
        };
        Ok(outcome.map(|()| Value::Map(Map::Values(map))))
    }

    /// Costs what reading the list and adding to it costs.
    fn append(&mut self, slot: usize, elements: &'a Node) -> Result<Outcome<'a>, Abort> {
        let accumulated = self.slot(slot)?;
        self.charge(1)?;
        let added = self.node(elements)?;
        self.charge(1)?;
        if let Err(error) = accumulated {
            return Ok(Err(error));
        }
        drop(accumulated);
        let added = match added {
            Ok(added) => added,
            Err(error) => return Ok(Err(error)),
        };
        let taken = self.slots.get_mut(slot).map(|place| std::mem::replace(place, Slot::Unset));
        match (taken, added) {
            (Some(Slot::Set(Ok(Value::List(List::Values(mut list))))), Value::List(added)) => {
                let values = Arc::make_mut(&mut list);
                for value in added.iter() {
                    match value {
                        Ok(value) => values.push(value),
                        Err(error) => return Ok(Err(error)),
                    }
                }
                Ok(Ok(Value::List(List::Values(list))))
            }
            (Some(Slot::Set(Ok(list))), added) => Ok(arithmetic::add(&[list, added])),
            _ => Ok(Err(EvaluationError::NoSuchOverload)),
        }
    }
}
