//! Runs plans.

use std::sync::Arc;

use billhook_regex::Patterns;

use super::entries::{Entries, object, optional_element};
use super::node::{Made, MapEntry, Node, Plan, Turn};
use super::recorder::Recorder;
use crate::language::functions::price::{LIST, MAP, STRUCT};
use crate::language::messages::FieldValue;
use crate::language::meter::Meter;
use crate::language::value::{EvaluationError, Outcome, Value, excerpt};

/// Stack for one level of a plan, generously, and for the functions that are called there.
const STACK_PER_LEVEL: usize = 16 * 1024;
const STACK: usize = 128 * 1024;

/// The variables of most plans.
const FEW: usize = 4;

/// The result of an evaluation and its cost.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Evaluation<'a> {
    /// The value, or the error.
    pub result: Result<Value<'a>, EvaluationError>,
    /// The cost (CE-35).
    pub cost: u64,
}

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
    let mut few = [const { Slot::Unset }; FEW];
    let mut many = Vec::new();
    let slots = few.get_mut(..plan.slots).unwrap_or_else(|| {
        many.resize_with(plan.slots, || Slot::Unset);
        &mut many
    });
    for (name, slot) in &plan.variables {
        let known = variables.iter().find(|(known, _)| *known == &**name);
        if let (Some((_, value)), Some(place)) = (known, slots.get_mut(*slot)) {
            *place = Slot::Set(value.clone().read());
        }
    }
    let mut machine =
        Machine { plan, resolve, slots, cost: 0, limit, meter: *meter, patterns: None, recorder };
    let result = machine.on_stack(&plan.root);
    *meter = machine.meter;
    Evaluation { result, cost: machine.cost }
}

/// A variable.
pub(super) enum Slot<'a> {
    Unset,
    /// The node of its initial value, not yet evaluated.
    Start(&'a Node),
    Set(Outcome<'a>),
}

/// The state of an evaluation. Its methods return errors that end the evaluation (see
/// [`EvaluationError::ends_evaluation`]) whatever the expression makes of others.
pub(super) struct Machine<'a, 'm, 'w> {
    pub(super) plan: &'a Plan,
    pub(super) resolve: Option<&'m Resolve<'m, 'a>>,
    pub(super) slots: &'m mut [Slot<'a>],
    pub(super) cost: u64,
    pub(super) limit: u64,
    pub(super) meter: Meter,
    /// Patterns that are no literals.
    pub(super) patterns: Option<Patterns>,
    recorder: Option<&'m mut Recorder<'w>>,
}

/// Separates errors that an expression may make something of from those that end the evaluation.
#[inline]
pub(super) fn caught<T>(outcome: Outcome<'_, T>) -> Result<Outcome<'_, T>, EvaluationError> {
    match outcome {
        Err(error) if error.ends_evaluation() => Err(error),
        outcome => Ok(outcome),
    }
}

impl<'a> Machine<'a, '_, '_> {
    /// Evaluates a node on a stack that is large enough for all nodes in each other.
    pub(super) fn on_stack(&mut self, node: &'a Node) -> Outcome<'a> {
        let needed = STACK + STACK_PER_LEVEL.saturating_mul(self.plan.levels);
        stacker::maybe_grow(needed, needed, || self.node(node))
    }

    #[inline]
    pub(super) fn charge(&mut self, cost: u64) -> Result<(), EvaluationError> {
        self.cost = self.cost.saturating_add(cost);
        if self.cost > self.limit { Err(EvaluationError::CostLimit) } else { Ok(()) }
    }

    /// Charges for an outcome, unless it ended the evaluation.
    #[inline]
    pub(super) fn charged(&mut self, outcome: Outcome<'a>, cost: u64) -> Outcome<'a> {
        if !matches!(&outcome, Err(error) if error.ends_evaluation()) {
            self.charge(cost)?;
        }
        outcome
    }

    /// Counts a value that was made.
    #[inline]
    pub(super) fn made(&mut self, outcome: Outcome<'a>) -> Outcome<'a> {
        if let Ok(value) = &outcome {
            self.meter.made(value)?;
        }
        outcome
    }

    #[inline]
    pub(super) fn node(&mut self, node: &'a Node) -> Outcome<'a> {
        match node {
            Node::Constant(value) => Ok(value.lend()),
            Node::Chain(chain) => self.read(chain),
            node => self.compound(node),
        }
    }

    /// Evaluates a node that has others in it.
    #[inline(never)]
    fn compound(&mut self, node: &'a Node) -> Outcome<'a> {
        match node {
            Node::And(_) | Node::Or(_) | Node::Not(_) | Node::NotStrictlyFalse(_) => {
                self.truth(node).map(Value::Bool)
            }
            Node::Call(call) => self.call(call),
            Node::Fold(fold) => self.fold(fold),
            other => self.other(other),
        }
    }

    /// Evaluates a node of a kind that most expressions do not have.
    #[inline(never)]
    fn other(&mut self, node: &'a Node) -> Outcome<'a> {
        match node {
            Node::OneOf { value, constants } => {
                let value = self.node(value)?;
                Ok(Value::Bool(constants.contain(&value)?))
            }
            Node::Otherwise { optional, default, unwraps } => match self.node(optional)? {
                Value::Optional(Some(value)) if *unwraps => Value::clone(&value).read(),
                value @ Value::Optional(Some(_)) => Ok(value),
                Value::Optional(None) => self.node(default),
                _ => Err(EvaluationError::NoSuchOverload),
            },
            Node::List(elements) => {
                let list = self.list(elements);
                let list = self.charged(list, LIST);
                self.made(list)
            }
            Node::Map(entries) => {
                let map = self.map(entries);
                let map = self.charged(map, MAP);
                self.made(map)
            }
            Node::Struct(made, fields) => {
                let fields = self.fields(fields);
                let made = fields.and_then(|fields| match made {
                    Made::Message(message) => message.value(&fields),
                    Made::Object(name) => Ok(object(name, fields)),
                });
                let made = self.charged(made, STRUCT);
                self.made(made)
            }
            Node::Failing { node, error } => caught(self.node(node))?.map_err(|_| error.clone()),
            Node::Append { slot, elements } => self.append(*slot, elements),
            Node::Insert { slot, entries } => self.insert(*slot, entries),
            Node::Choose(parts) => {
                let (condition, yes, no) = &**parts;
                if self.truth(condition)? { self.node(yes) } else { self.chain(no) }
            }
            Node::Watched(watch, node) => self.watched(*watch, |machine| machine.node(node)),
            Node::Turn(turn) => self.recorded_turn(turn),
            plain => self.node(plain),
        }
    }

    /// Evaluates a part and records what came of it.
    #[cold]
    pub(super) fn watched(
        &mut self,
        watch: usize,
        evaluate: impl FnOnce(&mut Self) -> Outcome<'a>,
    ) -> Outcome<'a> {
        let before = self.cost;
        let outcome = evaluate(self);
        if let Some(recorder) = &mut self.recorder {
            recorder.record(watch, outcome.as_ref(), self.cost.saturating_sub(before));
        }
        outcome
    }

    #[cold]
    fn recorded_turn(&mut self, turn: &'a Turn) -> Outcome<'a> {
        let outcome = caught(self.node(&turn.step))?;
        if let Some(recorder) = self.recorder.as_mut().filter(|recorder| recorder.keeps_turns()) {
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

    /// Evaluates a node to a boolean.
    pub(super) fn truth(&mut self, node: &'a Node) -> Outcome<'a, bool> {
        match node {
            Node::And(operands) => self.logic(operands, false),
            Node::Or(operands) => self.logic(operands, true),
            Node::Not(operand) => {
                let outcome = caught(self.truth(operand))?;
                self.charge(1)?;
                let value = !outcome?;
                self.meter.made(&Value::Bool(value))?;
                Ok(value)
            }
            Node::NotStrictlyFalse(operand) => {
                let outcome = caught(self.truth(operand))?;
                self.charge(1)?;
                Ok(outcome.unwrap_or(true))
            }
            node => {
                if let Some(value) = self.held(node) {
                    self.charge(1)?;
                    return Ok(value);
                }
                match self.node(node)? {
                    Value::Bool(value) => Ok(value),
                    _ => Err(EvaluationError::NoSuchOverload),
                }
            }
        }
    }

    /// Returns the value of a variable that is a boolean.
    #[inline]
    fn held(&self, node: &Node) -> Option<bool> {
        match self.slots.get(node.as_slot()?)? {
            Slot::Set(Ok(Value::Bool(value))) => Some(*value),
            _ => None,
        }
    }

    /// Evaluates `&&`, which false decides, or `||`, which true does, whatever the other operand is.
    /// Returns the first error if nothing decides.
    fn logic(&mut self, [left, right]: &'a [Node; 2], decisive: bool) -> Outcome<'a, bool> {
        let left = caught(self.truth(left))?;
        if matches!(left, Ok(left) if left == decisive) {
            return left;
        }
        let right = caught(self.truth(right))?;
        match (left, right) {
            (Ok(_), right) => right,
            (Err(_), Ok(right)) if right == decisive => Ok(right),
            (left, _) => left,
        }
    }

    fn list(&mut self, elements: &'a [(Node, bool)]) -> Outcome<'a> {
        let mut values = Vec::with_capacity(elements.len());
        for (element, optional) in elements {
            values.extend(optional_element(self.node(element)?, *optional)?);
        }
        Ok(Value::list(values))
    }

    fn map(&mut self, entries: &'a [MapEntry]) -> Outcome<'a> {
        let mut made = Entries::default();
        for MapEntry { key, value, optional } in entries {
            made.insert(self.node(key)?, optional_element(self.node(value)?, *optional)?);
        }
        Ok(made.into_value())
    }

    /// The fields of a message that are there.
    fn fields(&mut self, nodes: &'a [(Arc<str>, Node, bool)]) -> Outcome<'a, Vec<FieldValue<'a>>> {
        let mut fields = Vec::with_capacity(nodes.len());
        for (name, node, optional) in nodes {
            let value = optional_element(self.node(node)?, *optional)?;
            fields.extend(value.map(|value| (Arc::clone(name), value)));
        }
        Ok(fields)
    }
}
