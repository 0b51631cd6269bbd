//! Plans checked expressions.

use std::sync::Arc;

use billhook_apimachinery::value::grow;
use billhook_regex::Patterns;

use super::entries;
use super::node::{Base, Call, Chain, Fold, Key, Made, MapEntry, Matching, Node, Plan, Step};
use super::overloads::fits;
use crate::language::ast::{Comprehension, Expr, Kind, Literal};
use crate::language::check::{Checked, Reference};
use crate::language::functions::{self, Overload};
use crate::language::messages::Message;
use crate::language::objects;
use crate::language::schema::ListType;
use crate::language::types::Type;
use crate::language::value::{EvaluationError, List, Members, Text, Value};

/// Plans an expression.
///
/// # Errors
///
/// If the conversion of a constant fails.
pub(crate) fn plan(checked: &Checked, patterns: &Patterns) -> Result<Plan, EvaluationError> {
    let mut planner =
        Planner { checked, patterns, variables: Vec::new(), scope: Vec::new(), slots: 0 };
    let root = planner.node(&checked.expr)?;
    let weighs_optionals = checked.edition.weighs_optionals();
    Ok(Plan { root, variables: planner.variables, slots: planner.slots, weighs_optionals })
}

struct Planner<'c> {
    checked: &'c Checked,
    patterns: &'c Patterns,
    variables: Vec<Arc<str>>,
    /// The variables of the comprehensions around, and their slots.
    scope: Vec<(Arc<str>, usize)>,
    slots: usize,
}

type Planned = Result<Node, EvaluationError>;

impl Planner<'_> {
    fn node(&mut self, expr: &Expr) -> Planned {
        grow(|| self.node_here(expr))
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
                let mut chain = chain_of(self.node(operand)?);
                let key = Value::String(Text::Shared(field.clone()));
                push(&mut chain, &Step { key: Key::Constant(key), optional: false });
                chain.is_test = *test;
                Ok(Node::Chain(chain))
            }
            Kind::Call { function, target, arguments } => {
                let mut nodes = Vec::with_capacity(arguments.len() + 1);
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
                let made = match Message::named(name) {
                    Some(message) => Made::Message(message),
                    None if objects::type_named(name, self.checked.edition).is_some() => {
                        Made::Object(name.clone())
                    }
                    None => return Err(EvaluationError::new(format!("unknown type: {name}"))),
                };
                let mut nodes = Vec::with_capacity(fields.len());
                for field in fields {
                    nodes.push((field.name.clone(), self.node(&field.value)?, field.optional));
                }
                Ok(Node::Struct(made, nodes))
            }
            Kind::Comprehension(comprehension) => self.fold(comprehension),
        }
    }

    fn variable(&mut self, name: &Arc<str>) -> Node {
        let is_global = name.starts_with('.');
        let local = self.scope.iter().rev().find(|(known, _)| !is_global && known == name);
        let base = match local {
            Some((_, slot)) => Base::Local(*slot),
            None => {
                let name = name.strip_prefix('.').unwrap_or(name);
                let known = self.variables.iter().position(|known| **known == *name);
                Base::Variable(known.unwrap_or_else(|| {
                    self.variables.push(name.into());
                    self.variables.len() - 1
                }))
            }
        };
        Node::Chain(Chain { base, steps: Vec::new(), is_test: false })
    }

    fn call(&mut self, expr: &Expr, function: &str, nodes: Vec<Node>) -> Planned {
        let nodes = match (function, <[Node; 1]>::try_from(nodes)) {
            ("@not_strictly_false", Ok([value])) => {
                return Ok(Node::NotStrictlyFalse(Box::new(value)));
            }
            (_, Ok([value])) => return self.unary(expr, function, value),
            (_, Err(nodes)) => nodes,
        };
        let nodes = match <[Node; 2]>::try_from(nodes) {
            Ok(pair) => return self.binary(expr, function, pair),
            Err(nodes) => nodes,
        };
        match (function, <[Node; 3]>::try_from(nodes)) {
            ("_?_:_", Ok([condition, yes, no])) => Ok(Node::Chain(Chain {
                base: Base::Choice(
                    Box::new(condition),
                    Box::new(chain_of(yes)),
                    Box::new(chain_of(no)),
                ),
                steps: Vec::new(),
                is_test: false,
            })),
            (_, Ok(nodes)) => Ok(self.any_call(expr, nodes.into(), true)),
            (_, Err(nodes)) => {
                let stops_early = nodes.len() > 2;
                Ok(self.any_call(expr, nodes, stops_early))
            }
        }
    }

    /// Conversions of constants are constants.
    fn unary(&self, expr: &Expr, function: &str, value: Node) -> Planned {
        let is_conversion = matches!(
            function,
            "bool"
                | "bytes"
                | "double"
                | "duration"
                | "dyn"
                | "int"
                | "string"
                | "timestamp"
                | "type"
                | "uint"
        );
        if is_conversion && let Node::Constant(value) = &value {
            let overloads = self.overloads(expr);
            let found = overloads.iter().find(|overload| {
                overload.parameters.first().is_some_and(|parameter| fits(parameter, value))
            });
            let call = found.ok_or(EvaluationError::NoSuchOverload)?.call;
            return call(std::slice::from_ref(value)).map(Node::Constant);
        }
        Ok(self.any_call(expr, vec![value], false))
    }

    fn binary(&self, expr: &Expr, function: &str, nodes: [Node; 2]) -> Planned {
        match function {
            "_&&_" => return Ok(Node::And(Box::new(nodes))),
            "_||_" => return Ok(Node::Or(Box::new(nodes))),
            _ => {}
        }
        let [first, second] = nodes;
        Ok(match function {
            "_[_]" | "_[?_]" | "_?._" => {
                let mut chain = chain_of(first);
                let key = match second {
                    Node::Constant(key) => Key::Constant(qualifier(key)?),
                    Node::Chain(chain) => Key::Chain(Arc::new(chain)),
                    node => Key::Computed(Arc::new(node)),
                };
                push(&mut chain, &Step { key, optional: function != "_[_]" });
                Node::Chain(chain)
            }
            "or" | "orValue" => Node::Otherwise {
                optional: Box::new(first),
                default: Box::new(second),
                unwraps: function == "orValue",
            },
            "@in" => match second {
                Node::Constant(Value::List(list)) if list.is_empty() => {
                    Node::Constant(Value::Bool(false))
                }
                Node::Constant(Value::List(list)) if is_set(&list) => {
                    let mut constants = Members::new(&ListType::Atomic);
                    for constant in list.iter() {
                        constants.add(constant?)?;
                    }
                    Node::OneOf { value: Box::new(first), constants }
                }
                second => self.any_call(expr, vec![first, second], false),
            },
            "matches" | "find" | "findAll" => {
                let pattern = match &second {
                    Node::Constant(Value::String(pattern)) => {
                        let pattern = self.patterns.get(pattern.as_str());
                        let pattern =
                            pattern.map_err(|error| EvaluationError::new(error.to_string()))?;
                        Matching::Known(pattern)
                    }
                    _ => Matching::Computed,
                };
                let stops_early = matches!(pattern, Matching::Known(_));
                let call = self.call_of(expr, vec![first, second], stops_early);
                Node::Call(Call { pattern: Some(pattern), ..call })
            }
            _ => self.any_call(expr, vec![first, second], false),
        })
    }

    fn any_call(&self, expr: &Expr, arguments: Vec<Node>, stops_early: bool) -> Node {
        Node::Call(self.call_of(expr, arguments, stops_early))
    }

    fn call_of(&self, expr: &Expr, arguments: Vec<Node>, stops_early: bool) -> Call {
        let overloads = self.overloads(expr);
        let is_search = overloads.first().is_some_and(|overload| overload.function == "findAll");
        let pattern = is_search.then_some(Matching::Computed);
        Call { overloads, arguments, stops_early, pattern }
    }

    fn overloads(&self, expr: &Expr) -> Vec<&'static Overload> {
        match self.checked.references.get(expr.id) {
            Some(Reference::Overloads(positions)) => {
                positions.iter().copied().filter_map(functions::overload).collect()
            }
            _ => Vec::new(),
        }
    }

    fn fold(&mut self, comprehension: &Comprehension) -> Planned {
        let range = self.range(comprehension)?;
        let start = self.node(&comprehension.start)?;
        let outer = self.scope.len();
        let accumulator = self.declare(&comprehension.accumulator);
        let result = self.node(&comprehension.result)?;
        let variable = self.declare(&comprehension.variable);
        let second = comprehension.second.as_ref().map(|name| self.declare(name));
        let condition = self.node(&comprehension.condition)?;
        let step = last_read(self.node(&comprehension.step)?, accumulator);
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

    fn range(&mut self, comprehension: &Comprehension) -> Planned {
        let range = self.node(&comprehension.range)?;
        if comprehension.second.is_none() || !self.checked.edition.hides_range_errors() {
            return Ok(range);
        }
        let error = EvaluationError::new("unsupported comprehension range type: *types.Err");
        Ok(Node::Failing { node: Box::new(range), error })
    }

    /// A slot of its own: where a comprehension starts from is evaluated when it is first read,
    /// in the middle of others.
    fn declare(&mut self, name: &Arc<str>) -> usize {
        let slot = self.slots;
        self.slots += 1;
        self.scope.push((name.clone(), slot));
        slot
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
    matches!(
        call.arguments.first(),
        Some(Node::Chain(Chain { base: Base::Local(slot), steps, .. }))
            if *slot == accumulator && steps.is_empty()
    )
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

/// A constant that selects something.
fn qualifier(key: Value<'static>) -> Result<Value<'static>, EvaluationError> {
    use Value::{Bool, Double, Int, String, Uint};
    match key {
        Bool(_) | Double(_) | Int(_) | String(_) | Uint(_) => Ok(key),
        key => {
            let text = format!("invalid qualifier type: {}", super::machine::go_type(&key));
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
