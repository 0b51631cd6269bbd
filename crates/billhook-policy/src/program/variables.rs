//! The variables of a policy: compiled in order, evaluated when they are first used (PO-11, PO-47).

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use billhook_apimachinery::value::grow;
use billhook_cel::limits::Meter;
use billhook_cel::{Environment, EvaluationError, ObjectType, Program, Type, Value};

use super::{CALL_LIMIT, Role};
use crate::document::PolicyKind;
use crate::expression::EvaluatedExpression;
use crate::observer::PolicyObserver;

/// A variable: its position, and its program.
#[derive(Clone)]
struct Variable {
    index: usize,
    program: Result<Program, String>,
}

/// The name of the type of `variables`.
const TYPE_NAME: &str = "kubernetes.variables";

/// The variables of a policy.
#[derive(Clone, Default)]
pub(crate) struct Variables {
    /// By name; of several the last one (PO-11).
    programs: BTreeMap<Arc<str>, Variable>,
    /// How many were added.
    count: usize,
    types: BTreeMap<Arc<str>, Type>,
    /// The value of `variables`.
    deferred: OnceLock<Value<'static>>,
}

impl Variables {
    /// Adds a variable, which those after it may use, even if it does not compile (PO-47).
    pub(crate) fn add(&mut self, name: &str, program: Result<Program, String>) {
        self.declare_as(name, program.as_ref().map_or(&Type::Dyn, Program::result_type));
        self.programs.insert(name.into(), Variable { index: self.count, program });
        self.count += 1;
        self.deferred = OnceLock::new();
    }

    /// Returns the programs, or the texts of the compiler.
    pub(crate) fn programs(&self) -> impl Iterator<Item = &Result<Program, String>> {
        self.programs.values().map(|variable| &variable.program)
    }

    /// Declares a variable of a type without a program.
    pub(crate) fn declare_as(&mut self, name: &str, type_: &Type) {
        self.types.insert(name.into(), kept(type_));
    }

    /// Declares `variables` with those that were added.
    pub(crate) fn declare(&self, environment: Environment) -> Environment {
        declare(environment, self.types.clone())
    }

    /// Declares `variables` for an expression, with those that were added and whose names are in it: it cannot
    /// refer to others.
    pub(crate) fn declare_for(&self, expression: &str, environment: Environment) -> Environment {
        let names = expression.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let types = names.filter_map(|name| self.types.get_key_value(name));
        let types = types.map(|(name, type_)| (Arc::clone(name), type_.clone()));
        declare(environment, types.collect())
    }

    /// Returns the value of `variables`.
    pub(crate) fn deferred<'a>(&self) -> Value<'a> {
        let names = || self.programs.keys().map(|name| &**name);
        self.deferred.get_or_init(|| Value::deferred(names())).clone()
    }
}

fn declare(environment: Environment, types: BTreeMap<Arc<str>, Type>) -> Environment {
    let of = ObjectType::new(TYPE_NAME, types);
    environment.variable("variables", Type::Object(Arc::new(of)))
}

/// Returns what a server keeps of the type of a variable: objects and opaque types become dynamic.
fn kept(type_: &Type) -> Type {
    match type_ {
        Type::List(of) => Type::List(Arc::new(kept(of))),
        Type::Map(key, value) => Type::Map(Arc::new(kept(key)), Arc::new(kept(value))),
        Type::Null
        | Type::Bool
        | Type::Int
        | Type::Uint
        | Type::Double
        | Type::String
        | Type::Bytes
        | Type::Duration
        | Type::Timestamp => type_.clone(),
        _ => Type::Dyn,
    }
}

/// One pass over an activation: each variable is evaluated at most once in it.
pub(crate) struct Pass<'a, 'v> {
    variables: &'a Variables,
    activation: &'v [(&'static str, Value<'a>)],
    known: RefCell<BTreeMap<&'a str, Known<'a>>>,
    cost: Cell<u64>,
    /// The bounds that all evaluations of the pass share (CE-36).
    meter: Cell<Meter>,
    /// Who wants to know of each expression.
    noting: Option<Noting<'v>>,
}

/// Who wants to know of the expressions of a policy.
struct Noting<'n> {
    observer: &'n dyn PolicyObserver,
    kind: PolicyKind,
    policy: &'n str,
}

#[derive(Clone)]
enum Known<'a> {
    /// It is being evaluated.
    Open,
    Value(Result<Value<'a>, EvaluationError>),
}

/// The result of an expression, and what is left of the budget.
pub(crate) struct Evaluated<'a> {
    /// The value, or the error as CEL says it.
    pub(crate) result: Result<Value<'a>, EvaluationError>,
    pub(crate) left: u64,
}

/// The shared budget is used up (WM-82).
const OUT_OF_BUDGET: &str =
    "validation failed due to running out of cost budget, no further validation rules will be run";

impl<'a, 'v> Pass<'a, 'v> {
    pub(crate) fn new(
        variables: &'a Variables,
        activation: &'v [(&'static str, Value<'a>)],
    ) -> Self {
        let (cost, meter) = (Cell::new(0), Cell::new(Meter::default()));
        Pass { variables, activation, known: RefCell::default(), cost, meter, noting: None }
    }

    /// Tells the observer of the expressions of a policy, if it wants to know.
    pub(crate) fn noting(
        mut self,
        observer: Option<&'v dyn PolicyObserver>,
        (kind, policy): (PolicyKind, &'v str),
    ) -> Self {
        let observer = observer.filter(|observer| observer.wants_expressions());
        self.noting = observer.map(|observer| Noting { observer, kind, policy });
        self
    }

    /// Tells of an expression that was evaluated; for that it is evaluated once more.
    fn note(
        &self,
        program: &'a Program,
        (role, index): (Role, usize),
        result: Result<&Value<'a>, &EvaluationError>,
    ) {
        let Some(Noting { observer, kind, policy }) = &self.noting else { return };
        let cost = self.cost.get();
        let resolve = |name: &str, meter: &mut Meter| self.resolve(name, meter);
        let branches = program.branches_lazily(self.activation, &resolve, CALL_LIMIT);
        self.cost.set(cost);
        observer.expression_evaluated(EvaluatedExpression {
            kind: *kind,
            policy: (*policy).to_owned(),
            path: role.path(index),
            outcome: result.into(),
            branches,
        });
    }

    /// Evaluates an expression within a budget, which the variables that it uses share; fails if
    /// that is used up.
    pub(crate) fn evaluate(
        &self,
        program: &'a Program,
        place: (Role, usize),
        left: u64,
    ) -> Result<Evaluated<'a>, String> {
        let mut meter = self.meter.get();
        let resolve = |name: &str, meter: &mut Meter| self.resolve(name, meter);
        let evaluation = program.evaluate_lazily(self.activation, &resolve, CALL_LIMIT, &mut meter);
        self.meter.set(meter);
        self.note(program, place, evaluation.result.as_ref());
        let cost = self.cost.take().saturating_add(evaluation.cost);
        let left = left.checked_sub(cost).ok_or(OUT_OF_BUDGET)?;
        Ok(Evaluated { result: evaluation.result, left })
    }

    fn resolve(&self, name: &str, meter: &mut Meter) -> Result<Value<'a>, EvaluationError> {
        let Some((name, variable)) = self.variables.programs.get_key_value(name) else {
            return Err(EvaluationError::new(format!("no such key: {name}")));
        };
        let failed = |what: &str, error: &dyn std::fmt::Display| {
            EvaluationError::new(format!("composited variable \"{name}\" fails to {what}: {error}"))
        };
        let known = self.known.borrow().get(&**name).cloned();
        match known {
            Some(Known::Value(result)) => return result,
            // Only a repeated name can lead here (PO-11).
            Some(Known::Open) => return Err(failed("evaluate", &"it refers to itself")),
            None => {}
        }
        self.known.borrow_mut().insert(name, Known::Open);
        let result = match &variable.program {
            Err(error) => Err(failed("compile", error)),
            Ok(program) => {
                let evaluation = grow(|| {
                    let resolve = |name: &str, meter: &mut Meter| self.resolve(name, meter);
                    program.evaluate_lazily(self.activation, &resolve, CALL_LIMIT, meter)
                });
                self.cost.set(self.cost.get().saturating_add(evaluation.cost));
                let place = (Role::Variable, variable.index);
                self.note(program, place, evaluation.result.as_ref());
                evaluation.result.map_err(|error| failed("evaluate", &error))
            }
        };
        self.known.borrow_mut().insert(name, Known::Value(result.clone()));
        result
    }
}
