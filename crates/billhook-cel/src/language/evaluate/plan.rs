//! Plans checked expressions.

use std::cmp::Ordering;
use std::sync::Arc;

use billhook_apimachinery::value::grow;
use billhook_regex::Patterns;

use super::entries;
use super::node::{
    Base, Call, Chain, Fold, Key, Made, MapEntry, Matching, Node, Plan, Relation, Step, Turn,
};
use super::overloads::fits;
use super::watch::Watches;
use crate::language::ast::{Comprehension, Expr, Kind, Literal};
use crate::language::check::{Checked, Reference};
use crate::language::functions::Overload;
use crate::language::messages::Message;
use crate::language::objects;
use crate::language::types::Type;
use crate::language::value::{EvaluationError, List, Members, Text, Value};

/// Plans an expression.
///
/// # Errors
///
/// If the conversion of a constant fails.
pub(crate) fn plan(checked: &Checked, patterns: &Patterns) -> Result<Plan, EvaluationError> {
    planned(checked, patterns, None).map(|(plan, _)| plan)
}

/// Plans an expression so that a trace of its parts can be made.
///
/// # Errors
///
/// If the conversion of a constant fails.
pub(crate) fn watched_plan(
    checked: &Checked,
    patterns: &Patterns,
) -> Result<(Plan, Watches), EvaluationError> {
    let mut watches = Watches::default();
    watches.open();
    let (plan, watches) = planned(checked, patterns, Some(watches))?;
    Ok((plan, watches.unwrap_or_default()))
}

fn planned(
    checked: &Checked,
    patterns: &Patterns,
    watches: Option<Watches>,
) -> Result<(Plan, Option<Watches>), EvaluationError> {
    let mut planner = Planner {
        checked,
        patterns,
        variables: Vec::new(),
        scope: Vec::new(),
        slots: 0,
        level: 0,
        levels: 0,
        watches,
    };
    let root = planner.node(&checked.expr)?;
    let Planner { variables, slots, levels, watches, .. } = planner;
    let weighs_optionals = checked.language.edition().weighs_optionals;
    Ok((Plan { root, variables, slots, levels, weighs_optionals }, watches))
}

struct Planner<'c> {
    checked: &'c Checked,
    patterns: &'c Patterns,
    /// The variables of the environment, and their slots.
    variables: Vec<(Arc<str>, usize)>,
    /// The variables of the comprehensions around, and their slots.
    scope: Vec<(Arc<str>, usize)>,
    slots: usize,
    /// The nesting depth, and the greatest so far.
    level: usize,
    levels: usize,
    /// The parts to watch, if there is to be a trace.
    watches: Option<Watches>,
}

type Planned = Result<Node, EvaluationError>;

impl Planner<'_> {
    fn node(&mut self, expr: &Expr) -> Planned {
        self.level += 1;
        self.levels = self.levels.max(self.level);
        let node = self.watched_node(expr);
        self.level -= 1;
        node
    }

    fn watched_node(&mut self, expr: &Expr) -> Planned {
        let Some(span) = expr.span else { return grow(|| self.node_here(expr)) };
        self.open();
        let node = grow(|| self.node_here(expr))?;
        let Some(watches) = &mut self.watches else { return Ok(node) };
        if matches!(node, Node::Constant(_)) {
            watches.forget();
            return Ok(node);
        }
        Ok(match watches.close(span) {
            Some(watch) => Node::Watched(watch, Box::new(node)),
            None => node,
        })
    }

    /// Begins something new, of which all that is planned from now on is a part.
    fn open(&mut self) {
        if let Some(watches) = &mut self.watches {
            watches.open();
        }
    }

    /// Returns the base of a selection, as a chain, which is not watched by itself.
    fn base(&mut self, node: Node) -> Chain {
        let Some(watches) = &mut self.watches else { return chain_of(node) };
        match node {
            Node::Watched(watch, node) => match *node {
                Node::Chain(chain) if !chain.is_test => {
                    watches.merge(watch);
                    unwatched(chain, watches)
                }
                node => chain_of(Node::Watched(watch, Box::new(node))),
            },
            node => unwatched(chain_of(node), watches),
        }
    }

    fn node_here(&mut self, expr: &Expr) -> Planned {
        match self.checked.references.get(expr.id) {
            Some(Reference::Variable(name)) => return Ok(self.variable(name)),
            Some(Reference::Constant(value)) => return Ok(Node::Constant(Value::Int(*value))),
            Some(Reference::Type(name)) if Message::named(name).is_none_or(Message::is_type) => {
                return Ok(Node::Constant(Value::Type(name.clone())));
            }
            Some(Reference::Type(name)) => {
                let text = format!("reference to undefined type: {name}");
                return Err(EvaluationError::new(text));
            }
            _ => {}
        }
        match &expr.kind {
            Kind::Literal(literal) => Ok(Node::Constant(constant(literal))),
            Kind::Ident(name) => Ok(self.variable(name)),
            Kind::Select { operand, field, test } => {
                let operand = self.node(operand)?;
                let mut chain = self.base(operand);
                let key = Value::String(Text::Shared(field.clone()));
                push(&mut chain, &Step { key: Key::Constant(key), optional: false });
                chain.is_test = *test;
                Ok(Node::Chain(chain))
            }
            Kind::Call { function, target, arguments } => {
                let count = arguments.len() + usize::from(target.is_some());
                let mut nodes = Vec::with_capacity(count);
                for argument in target.as_deref().into_iter().chain(arguments) {
                    nodes.push(self.node(argument)?);
                }
                self.call(expr, function, nodes)
            }
            Kind::List(elements) => {
                let mut nodes = Vec::with_capacity(elements.len());
                for (element, optional) in elements {
                    nodes.push((self.node(element)?, *optional));
                }
                fold_constants(Node::List(nodes))
            }
            Kind::Map(entries) => {
                let mut nodes = Vec::with_capacity(entries.len());
                for entry in entries {
                    nodes.push(MapEntry {
                        key: self.node(&entry.key)?,
                        value: self.node(&entry.value)?,
                        optional: entry.optional,
                    });
                }
                fold_constants(Node::Map(nodes))
            }
            Kind::Struct { name, fields } => {
                let made = self.made(name)?;
                let mut nodes = Vec::with_capacity(fields.len());
                for field in fields {
                    nodes.push((field.name.clone(), self.node(&field.value)?, field.optional));
                }
                Ok(Node::Struct(made, nodes))
            }
            Kind::Comprehension(comprehension) => self.fold(comprehension),
        }
    }

    /// The kind of value that a literal with fields makes.
    fn made(&self, name: &Arc<str>) -> Result<Made, EvaluationError> {
        match Message::named(name) {
            Some(message) => Ok(Made::Message(message)),
            None if objects::type_named(name, self.checked.language).is_some() => {
                Ok(Made::Object(name.clone()))
            }
            None => Err(EvaluationError::new(format!("unknown type: {name}"))),
        }
    }

    fn variable(&mut self, name: &Arc<str>) -> Node {
        let is_global = name.starts_with('.');
        let local = self.scope.iter().rev().find(|(known, _)| !is_global && known == name);
        let slot = match local {
            Some((_, slot)) => *slot,
            None => self.global(name.strip_prefix('.').unwrap_or(name)),
        };
        Node::Chain(Chain { base: Base::Slot(slot), steps: Vec::new(), is_test: false })
    }

    /// The slot of a variable of the environment.
    fn global(&mut self, name: &str) -> usize {
        if let Some((_, slot)) = self.variables.iter().find(|(known, _)| **known == *name) {
            return *slot;
        }
        let slot = self.new_slot();
        self.variables.push((name.into(), slot));
        slot
    }

    fn call(&mut self, expr: &Expr, function: &str, nodes: Vec<Node>) -> Planned {
        match nodes.len() {
            1 => self.unary(expr, function, nodes),
            2 => self.binary(expr, function, nodes),
            3 if function == "_?_:_" => {
                let [condition, yes, no] = operands(nodes)?;
                let (yes, no) = (Box::new(read_in_place(yes)), Box::new(read_in_place(no)));
                let base = Base::Choice(Box::new(condition), yes, no);
                Ok(Node::Chain(Chain { base, steps: Vec::new(), is_test: false }))
            }
            count => Ok(self.any_call(expr, nodes, count > 2)),
        }
    }

    /// Conversions of constants are constants.
    fn unary(&self, expr: &Expr, function: &str, nodes: Vec<Node>) -> Planned {
        match (function, nodes.as_slice()) {
            ("!_", _) => {
                let [operand] = operands(nodes)?;
                Ok(Node::Not(Box::new(operand)))
            }
            ("@not_strictly_false", _) => {
                let [operand] = operands(nodes)?;
                Ok(Node::NotStrictlyFalse(Box::new(operand)))
            }
            (
                "bool" | "bytes" | "double" | "duration" | "dyn" | "int" | "string" | "timestamp"
                | "type" | "uint",
                [Node::Constant(value)],
            ) => {
                let overloads = self.checked.overloads(expr);
                let found = overloads.iter().find(|overload| {
                    overload.parameters.first().is_some_and(|parameter| fits(parameter, value))
                });
                let call = found.ok_or(EvaluationError::NoSuchOverload)?.call;
                call(std::slice::from_ref(value)).map(Node::Constant)
            }
            _ => Ok(self.any_call(expr, nodes, false)),
        }
    }

    fn binary(&mut self, expr: &Expr, function: &str, nodes: Vec<Node>) -> Planned {
        Ok(match function {
            "_&&_" => Node::And(Box::new(operands(nodes)?)),
            "_||_" => Node::Or(Box::new(operands(nodes)?)),
            "_[_]" | "_[?_]" | "_?._" => {
                let [operand, key] = operands(nodes)?;
                let mut chain = self.base(operand);
                let key = match key {
                    Node::Constant(key) => Key::Constant(qualifier(key)?),
                    node => key_of(node),
                };
                push(&mut chain, &Step { key, optional: function != "_[_]" });
                Node::Chain(chain)
            }
            "or" | "orValue" => {
                let [optional, default] = operands(nodes)?.map(Box::new);
                Node::Otherwise { optional, default, unwraps: function == "orValue" }
            }
            "@in" => return self.membership(expr, nodes),
            "matches" | "find" | "findAll" => {
                let pattern = match nodes.as_slice() {
                    [_, Node::Constant(Value::String(pattern))] => {
                        let pattern = self.patterns.get(pattern.as_str());
                        let pattern =
                            pattern.map_err(|error| EvaluationError::new(error.to_string()))?;
                        Matching::Known(pattern)
                    }
                    _ => Matching::Computed,
                };
                let stops_early = matches!(pattern, Matching::Known(_));
                let call = self.call_of(expr, nodes, stops_early);
                Node::Call(Call { pattern: Some(pattern), ..call })
            }
            _ => self.any_call(expr, nodes, false),
        })
    }

    fn membership(&self, expr: &Expr, nodes: Vec<Node>) -> Planned {
        let constants = match nodes.as_slice() {
            [_, Node::Constant(Value::List(list))] if list.is_empty() => {
                return Ok(Node::Constant(Value::Bool(false)));
            }
            [_, Node::Constant(Value::List(list))] if is_set(list) => {
                let mut constants = Members::default();
                for constant in list.iter() {
                    constants.add(constant?);
                }
                constants
            }
            _ => return Ok(self.any_call(expr, nodes, false)),
        };
        let [value, _] = operands(nodes)?.map(Box::new);
        Ok(Node::OneOf { value, constants })
    }

    fn any_call(&self, expr: &Expr, arguments: Vec<Node>, stops_early: bool) -> Node {
        Node::Call(self.call_of(expr, arguments, stops_early))
    }

    fn call_of(&self, expr: &Expr, arguments: Vec<Node>, stops_early: bool) -> Call {
        let overloads = self.checked.overloads(expr);
        let is_search = overloads.first().is_some_and(|overload| overload.function == "findAll");
        let pattern = is_search.then_some(Matching::Computed);
        let relation = relation(&overloads);
        Call { overloads, arguments, stops_early, pattern, relation }
    }

    fn fold(&mut self, comprehension: &Comprehension) -> Planned {
        let range = self.range(comprehension)?;
        let start = self.node(&comprehension.start)?;
        let outer = self.scope.len();
        let accumulator = self.declare(&comprehension.accumulator);
        let result = self.node(&comprehension.result)?;
        let variable = self.declare(&comprehension.variable);
        let second = comprehension.second.as_ref().map(|name| self.declare(name));
        self.open();
        let condition = self.node(&comprehension.condition)?;
        let step = last_read(self.node(&comprehension.step)?, accumulator);
        let step = self.turn(step, comprehension, [Some(variable), second]);
        self.scope.truncate(outer);
        Ok(Node::Fold(Box::new(Fold {
            range,
            start,
            condition,
            step,
            result,
            accumulator,
            variable,
            second,
        })))
    }

    /// Returns the step of a loop, so that a trace can tell of its turns.
    fn turn(&mut self, step: Node, folded: &Comprehension, slots: [Option<usize>; 2]) -> Node {
        let Some(number) = self.watches.as_mut().and_then(Watches::close_loop) else { return step };
        let names = [Some(&folded.variable), folded.second.as_ref()];
        let variables = names.into_iter().zip(slots);
        let variables = variables.filter_map(|(name, slot)| Some((Arc::clone(name?), slot?)));
        Node::Turn(Box::new(Turn { number, variables: variables.collect(), step }))
    }

    fn range(&mut self, comprehension: &Comprehension) -> Planned {
        let range = self.node(&comprehension.range)?;
        if comprehension.second.is_none() || !self.checked.language.edition().hides_range_errors {
            return Ok(range);
        }
        let error = EvaluationError::new("unsupported comprehension range type: *types.Err");
        Ok(Node::Failing { node: Box::new(range), error })
    }

    /// A slot of its own: where a comprehension starts from is evaluated when it is first read,
    /// in the middle of others.
    fn declare(&mut self, name: &Arc<str>) -> usize {
        let slot = self.new_slot();
        self.scope.push((name.clone(), slot));
        slot
    }

    fn new_slot(&mut self) -> usize {
        self.slots += 1;
        self.slots - 1
    }
}

/// A step that only appends to the accumulated list, or inserts into the accumulated map, may do so
/// in place.
fn last_read(step: Node, accumulator: usize) -> Node {
    match step {
        Node::Call(call) if is_append(&call, accumulator) => {
            match <[Node; 2]>::try_from(call.arguments) {
                Ok([_, elements]) => {
                    Node::Append { slot: accumulator, elements: Box::new(elements) }
                }
                Err(arguments) => Node::Call(Call { arguments, ..call }),
            }
        }
        Node::Call(mut call) if is_insert(&call, accumulator) => {
            Node::Insert { slot: accumulator, entries: call.arguments.split_off(1) }
        }
        Node::Chain(Chain { base: Base::Choice(condition, yes, no), steps, is_test })
            if steps.is_empty() =>
        {
            match *yes {
                Chain { base: Base::Computed(yes), steps: in_yes, .. } if in_yes.is_empty() => {
                    let yes = last_read(*yes, accumulator);
                    Node::Choose(Box::new((*condition, yes, *no)))
                }
                yes => {
                    let base = Base::Choice(condition, Box::new(yes), no);
                    Node::Chain(Chain { base, steps, is_test })
                }
            }
        }
        step => step,
    }
}

fn is_append(call: &Call, accumulator: usize) -> bool {
    let is_list = |overload: &&Overload| {
        overload.function == "_+_" && matches!(overload.result, Type::List(_))
    };
    starts_with(call, accumulator)
        && matches!(call.arguments.get(1), Some(Node::List(_)))
        && call.overloads.iter().any(is_list)
}

fn is_insert(call: &Call, accumulator: usize) -> bool {
    starts_with(call, accumulator)
        && call.overloads.iter().any(|overload| overload.function == "cel.@mapInsert")
}

/// Returns whether the first argument is the accumulator.
fn starts_with(call: &Call, accumulator: usize) -> bool {
    call.arguments.first().and_then(Node::as_slot) == Some(accumulator)
}

/// Returns the relation of integers that a call asks for, if it may be called with integers.
fn relation(overloads: &[&'static Overload]) -> Option<Relation> {
    let takes_integers = |overload: &&&Overload| match overload.parameters.as_slice() {
        [left, right] => [left, right].iter().all(|of| matches!(of, Type::Int | Type::Param(_))),
        _ => false,
    };
    Some(match overloads.iter().find(takes_integers)?.function {
        "_<_" => Ordering::is_lt,
        "_<=_" => Ordering::is_le,
        "_>_" => Ordering::is_gt,
        "_>=_" => Ordering::is_ge,
        "_==_" => Ordering::is_eq,
        "_!=_" => Ordering::is_ne,
        _ => return None,
    })
}

fn constant(literal: &Literal) -> Value<'static> {
    match literal {
        Literal::Null => Value::Null,
        Literal::Bool(value) => Value::Bool(*value),
        Literal::Int(int) => Value::Int(*int),
        Literal::Uint(uint) => Value::Uint(*uint),
        Literal::Double(double) => Value::Double(*double),
        Literal::String(text) => Value::String(Text::Shared(text.clone())),
        Literal::Bytes(bytes) => Value::Bytes(bytes.clone()),
    }
}

/// Returns the operands of a call that has so many.
fn operands<const N: usize>(nodes: Vec<Node>) -> Result<[Node; N], EvaluationError> {
    nodes.try_into().map_err(|_| EvaluationError::NoSuchOverload)
}

/// A constant that selects something.
fn qualifier(key: Value<'static>) -> Result<Value<'static>, EvaluationError> {
    use Value::{Bool, Double, Int, String, Uint};
    match key {
        Bool(_) | Double(_) | Int(_) | String(_) | Uint(_) => Ok(key),
        key => {
            let text = format!("invalid qualifier type: {}", key.go_type());
            Err(EvaluationError::new(text))
        }
    }
}

/// Returns the base of a selection, as a chain.
fn chain_of(node: Node) -> Chain {
    match node {
        Node::Chain(chain) if !chain.is_test => chain,
        node => Chain { base: Base::Computed(Box::new(node)), steps: Vec::new(), is_test: false },
    }
}

/// Returns a node as a chain that is read where it stands, without the cost of reading it.
fn read_in_place(node: Node) -> Chain {
    match node {
        Node::Watched(watch, node) => match *node {
            Node::Chain(chain) if !chain.is_test => {
                let base = Base::Watched(watch, Box::new(chain));
                Chain { base, steps: Vec::new(), is_test: false }
            }
            node => chain_of(Node::Watched(watch, Box::new(node))),
        },
        node => chain_of(node),
    }
}

/// Returns a node as a key that is not a constant.
fn key_of(node: Node) -> Key {
    let is_chain = |node: &Node| matches!(node, Node::Chain(_));
    match node {
        Node::Watched(watch, node) if is_chain(&node) => {
            Key::Chain(Arc::new(read_in_place(Node::Watched(watch, node))))
        }
        Node::Chain(chain) => Key::Chain(Arc::new(chain)),
        node => Key::Computed(Arc::new(node)),
    }
}

/// Takes away the watches of a chain whose outcome is not what it is alone.
fn unwatched(chain: Chain, watches: &mut Watches) -> Chain {
    let base = match chain.base {
        Base::Watched(watch, chain) => {
            watches.merge(watch);
            return grow(|| unwatched(*chain, watches));
        }
        Base::Choice(condition, yes, no) => {
            let mut unwatched = |chain: Chain| Box::new(grow(|| unwatched(chain, watches)));
            let (yes, no) = (unwatched(*yes), unwatched(*no));
            Base::Choice(condition, yes, no)
        }
        base => base,
    };
    Chain { base, ..chain }
}

/// A selection from a choice applies to both alternatives.
fn push(chain: &mut Chain, step: &Step) {
    match &mut chain.base {
        Base::Choice(_, yes, no) => {
            push(yes, step);
            push(no, step);
        }
        _ => chain.steps.push(step.clone()),
    }
}

/// Whether a constant list has nothing but scalars, so that membership is a look-up.
fn is_set(list: &List<'_>) -> bool {
    list.iter().all(|element| {
        matches!(
            element,
            Ok(Value::Bool(_)
                | Value::Int(_)
                | Value::Uint(_)
                | Value::Double(_)
                | Value::String(_))
        )
    })
}

/// A list or map of constants is a constant.
fn fold_constants(node: Node) -> Planned {
    let is_constant = match &node {
        Node::List(elements) => {
            elements.iter().all(|(element, _)| matches!(element, Node::Constant(_)))
        }
        Node::Map(entries) => entries.iter().all(|entry| {
            matches!((&entry.key, &entry.value), (Node::Constant(_), Node::Constant(_)))
        }),
        _ => false,
    };
    if is_constant { entries::constant(&node).map(Node::Constant) } else { Ok(node) }
}
