//! Compiling and evaluating.

use std::collections::BTreeMap;
use std::sync::Arc;

use billhook_schema::props::ValidationRule;

use crate::check::{Checked, check};
use crate::evaluate::{self, Plan};
use crate::functions;
use crate::parse::parse;
use crate::source::Source;
use crate::types::Type;
use crate::value::{EvaluationError, Value};

/// What expressions may refer to: the variables with their types. The functions are always those
/// of a server (CE-10).
#[derive(Clone, Debug, Default)]
pub struct Environment {
    pub(crate) variables: BTreeMap<Arc<str>, Type>,
}

impl Environment {
    /// With a variable.
    #[must_use]
    pub fn variable(mut self, name: &str, of: Type) -> Self {
        self.variables.insert(name.into(), of);
        self
    }

    /// What a rule may refer to at a node with values of a type (CE-02).
    pub(crate) fn of_rule(rule: &ValidationRule, self_type: Type) -> Self {
        let old_type = match rule.optional_old_self {
            Some(true) => self_type.clone().optional(),
            _ => self_type.clone(),
        };
        Environment::default().variable("self", self_type).variable("oldSelf", old_type)
    }

    /// Parses and checks an expression (CE-10, CE-20).
    ///
    /// # Errors
    ///
    /// If it is no expression of the language, or refers to what does not exist or is of another
    /// type.
    pub fn compile(&self, text: &str) -> Result<Program, CompileError> {
        Program::new(self.check(text)?)
    }

    /// The first half of compiling, after which types are known.
    pub(crate) fn check(&self, text: &str) -> Result<Checked, CompileError> {
        let source = Source::new(text);
        let expr = parse(&source)?;
        check(&source, expr, &self.variables, functions::all())
    }
}

/// Why an expression does not compile; prints as the server does, without `compilation failed: `
/// or `program instantiation failed: `.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct CompileError {
    pub(crate) text: String,
    pub(crate) is_instantiation: bool,
}

impl CompileError {
    /// The conversion of a constant fails.
    fn instantiation(error: &EvaluationError) -> Self {
        CompileError { text: error.to_string(), is_instantiation: true }
    }

    /// The text with what failed in front of it, as the details of the server's errors have it.
    pub fn detail(&self) -> String {
        let step = match self.is_instantiation {
            false => "compilation failed",
            true => "program instantiation failed",
        };
        format!("{step}: {}", self.text)
    }

    /// Whether the expression is well-formed and well-typed, but a conversion of a constant in it
    /// fails: the server calls that a failed instantiation of the program.
    pub fn is_instantiation(&self) -> bool {
        self.is_instantiation
    }
}

/// An expression that is ready to be evaluated, any number of times and from any thread.
#[derive(Clone)]
pub struct Program {
    pub(crate) checked: Arc<Checked>,
    plan: Arc<Plan>,
}

impl Program {
    /// The second half of compiling.
    pub(crate) fn new(checked: Checked) -> Result<Self, CompileError> {
        let plan = evaluate::plan(&checked).map_err(|error| CompileError::instantiation(&error))?;
        Ok(Program { checked: Arc::new(checked), plan: Arc::new(plan) })
    }

    /// The type of the result.
    pub fn result_type(&self) -> &Type {
        self.checked.result_type()
    }

    /// Whether the expression refers to a variable.
    pub fn uses(&self, variable: &str) -> bool {
        self.checked.mentions(variable)
    }

    /// Evaluates the expression with variables by their names, until it has cost more than a limit
    /// (CE-35).
    pub fn evaluate<'a>(&'a self, variables: &[(&str, Value<'a>)], limit: u64) -> Evaluation<'a> {
        evaluate::run(&self.plan, variables, limit)
    }
}

/// What an evaluation gives.
#[derive(Clone, Debug)]
pub struct Evaluation<'a> {
    /// The value, or why there is none.
    pub result: Result<Value<'a>, EvaluationError>,
    /// What it cost (CE-35).
    pub cost: u64,
}
