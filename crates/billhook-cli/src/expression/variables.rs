//! The variables of a policy: evaluated when they are first used (PO-47).

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use billhook_cel::limits::Meter;
use billhook_cel::{
    Environment, EvaluationError, ExpressionTrace, ObjectType, Program, Type, Value,
};

use super::LIMIT;

/// The variables in the order they are written.
#[derive(Default)]
pub(super) struct Variables(Vec<(String, Program)>);

impl Variables {
    pub(super) fn add(&mut self, name: &str, program: Program) {
        self.0.push((name.to_owned(), program));
    }

    /// Declares `variables`, if there are any.
    pub(super) fn declare(&self, environment: &Environment) -> Environment {
        let environment = environment.clone();
        if self.0.is_empty() {
            return environment;
        }
        let type_of = |(name, program): &(String, Program)| {
            (Arc::from(name.as_str()), program.result_type().clone())
        };
        let types = self.0.iter().map(type_of).collect();
        let of = ObjectType::new("kubernetes.variables", types);
        environment.variable("variables", Type::Object(Arc::new(of)))
    }

    pub(super) fn deferred(&self) -> Value<'static> {
        Value::deferred(self.0.iter().map(|(name, _)| name.as_str()))
    }
}

/// One pass over the variables, each of which is evaluated at most once in it.
pub(super) struct Pass<'a, 'v> {
    variables: &'a Variables,
    activation: &'v [(&'v str, Value<'a>)],
    known: RefCell<BTreeMap<&'a str, Result<Value<'a>, EvaluationError>>>,
    /// In the order of their first uses.
    traces: RefCell<Vec<(String, ExpressionTrace)>>,
}

impl<'a, 'v> Pass<'a, 'v> {
    pub(super) fn new(variables: &'a Variables, activation: &'v [(&'v str, Value<'a>)]) -> Self {
        Pass { variables, activation, known: RefCell::default(), traces: RefCell::default() }
    }

    pub(super) fn resolve(&self, name: &str) -> Result<Value<'a>, EvaluationError> {
        let found = self.variables.0.iter().rev().find(|(known, _)| known == name);
        let Some((name, program)) = found else {
            return Err(EvaluationError::new(format!("no such key: {name}")));
        };
        if let Some(known) = self.known.borrow().get(name.as_str()) {
            return known.clone();
        }
        let refers_to_itself = EvaluationError::new(format!("`{name}` refers to itself"));
        self.known.borrow_mut().insert(name, Err(refers_to_itself));
        let resolve = |name: &str, _: &mut Meter| self.resolve(name);
        let mut meter = Meter::default();
        let result = program.evaluate_lazily(self.activation, &resolve, LIMIT, &mut meter).result;
        let trace = program.trace_lazily(self.activation, &resolve, LIMIT);
        self.traces.borrow_mut().push((name.clone(), trace));
        let result = result.map_err(|error| {
            EvaluationError::new(format!(
                "composited variable \"{name}\" fails to evaluate: {error}"
            ))
        });
        self.known.borrow_mut().insert(name, result.clone());
        result
    }

    pub(super) fn into_traces(self) -> Vec<(String, ExpressionTrace)> {
        self.traces.into_inner()
    }
}
