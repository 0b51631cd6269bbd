//! `billhook explain-expression`: an expression and the value of each part of it.

pub(crate) mod args;
mod values;
mod variables;

use std::fmt::Write as _;
use std::io;

use billhook::KubernetesVersion;
use billhook::webhook::{ConditionInput, Match, RequestVariables, authorizer_variables};
use billhook_cel::schema::SchemaType;
use billhook_cel::{Environment, ExpressionTrace, Program, TracedOutcome, Value};
use serde_json::Map;

use crate::allow;
use crate::json::{Fields, Items};
use crate::problem::{Place, Problem, RunError, Status};
use crate::report::{visible, write};
use crate::traces::to_value;
use args::{ExplainExpression, Format};
use values::Values;
use variables::{Pass, Variables};

/// The most that one expression may cost (CE-35, PO-48).
const LIMIT: u64 = 1_000_000;

/// Runs the command.
pub(crate) fn run(command: &ExplainExpression) -> Result<Status, RunError> {
    let inputs: Vec<_> = command.paths().cloned().collect();
    let config = command.server.config(&inputs)?;
    let values = Values::read(command, &config).map_err(RunError::Problems)?;
    let explained = explain(command, &values, command.server.kubernetes(&config))?;
    Ok(explained.print(command)?)
}

/// The trace of an expression, and those of the variables that it used.
struct Explained {
    trace: ExpressionTrace,
    variables: Vec<(String, ExpressionTrace)>,
}

fn explain(
    command: &ExplainExpression,
    values: &Values,
    kubernetes: KubernetesVersion,
) -> Result<Explained, Box<Problem>> {
    let matched = values.request.as_ref().map(Match::own);
    let input = values.request.as_ref().zip(matched.as_ref()).map(|(request, matched)| {
        let input = ConditionInput::new(request, matched);
        let object = values.object.as_deref().or(input.object);
        let old_object = values.old_object.as_deref().or(input.old_object);
        input.converted(object, old_object)
    });
    let known = input.as_ref().map(RequestVariables::of_policy);
    let mut activation = Vec::new();
    let mut environment = Environment::default();
    if let (Some(known), Some(request)) = (&known, &values.request) {
        activation = known.values().map_err(|error| not_usable("--request", error.to_string()))?;
        environment = RequestVariables::environment(false);
        if let Some(authorizer) = allow::authorizer(&command.allow) {
            environment = RequestVariables::declare_authorizer(environment);
            activation.extend(authorizer_variables(&authorizer, request));
        }
    }
    let any = SchemaType::ANY;
    let [new, old] = &values.of_rule;
    for (name, value, of) in [
        ("object", values.object.as_ref().filter(|_| known.is_none()), &any),
        ("oldObject", values.old_object.as_ref().filter(|_| known.is_none()), &any),
        ("params", values.params.as_ref(), &any),
        ("namespaceObject", values.namespace_object.as_ref(), &any),
        ("self", new.as_ref(), &values.rule_type),
        ("oldSelf", old.as_ref(), &values.rule_type),
    ] {
        let Some(value) = value else { continue };
        let value = Value::of(value, of).map_err(|error| not_usable(name, error.to_string()))?;
        environment = environment.variable(name, of.to_type());
        activation.push((name, value));
    }
    if known.is_some() && values.namespace_object.is_none() {
        activation.push(("namespaceObject", Value::Null));
    }
    if new.is_none() {
        environment = environment.mutations();
    }
    evaluate(command, environment.kubernetes(kubernetes), activation)
}

fn evaluate(
    command: &ExplainExpression,
    mut environment: Environment,
    mut activation: Vec<(&str, Value<'_>)>,
) -> Result<Explained, Box<Problem>> {
    let mut variables = Variables::default();
    for (name, expression) in &command.variable {
        let program = compile(&variables.declare(&environment), expression)?;
        variables.add(name, program);
    }
    environment = variables.declare(&environment);
    let program = compile(&environment, &command.expression)?;
    activation.push(("variables", variables.deferred()));
    let pass = Pass::new(&variables, &activation);
    let trace = program.trace_lazily(&activation, &|name, _| pass.resolve(name), LIMIT);
    Ok(Explained { trace, variables: pass.into_traces() })
}

fn compile(environment: &Environment, expression: &str) -> Result<Program, Box<Problem>> {
    environment.compile(expression).map_err(|error| {
        let detail = error.detail();
        let is_it = |(name, _): &&(&str, &str)| {
            detail.contains(&format!("undeclared reference to '{name}'"))
        };
        let problem = Problem::unusable(Place::file("expression"), detail.clone());
        match OPTIONS.iter().find(is_it) {
            Some((name, option)) => problem.help(format!("`{option}` gives `{name}` a value")),
            None => problem,
        }
    })
}

/// The options that declare variables.
const OPTIONS: [(&str, &str); 9] = [
    ("object", "--object"),
    ("oldObject", "--old-object"),
    ("params", "--params"),
    ("namespaceObject", "--namespace-object"),
    ("request", "--request"),
    ("self", "--self"),
    ("oldSelf", "--old-self"),
    ("variables", "--variable"),
    ("authorizer", "--allow"),
];

fn not_usable(name: &str, text: String) -> Box<Problem> {
    Problem::unusable(Place::file(name), text)
}

impl Explained {
    fn print(&self, command: &ExplainExpression) -> io::Result<Status> {
        match command.format {
            Format::Human => self.print_tree()?,
            Format::Json => {
                let mut items = Items::new("ExpressionReport");
                items.add(self.item(command))?;
                items.finish()?;
            }
        }
        Ok(match &self.trace.outcome {
            TracedOutcome::Error(_) => Status::Refused,
            _ => Status::Fine,
        })
    }

    fn print_tree(&self) -> io::Result<()> {
        let mut text = self.trace.to_string();
        for (name, trace) in &self.variables {
            let _ = write!(text, "\n\nvariables.{name}\n{trace}");
        }
        write(&text.lines().map(|line| visible(line) + "\n").collect::<String>())
    }

    fn item(&self, command: &ExplainExpression) -> Fields {
        let mut item = Fields::default();
        item.text("expression", Some(command.expression.clone()));
        item.value("trace", to_value(&self.trace));
        let variable = |(name, trace): &(String, ExpressionTrace)| (name.clone(), to_value(trace));
        let variables: Map<_, _> = self.variables.iter().map(variable).collect();
        if !variables.is_empty() {
            item.value("variables", variables.into());
        }
        item
    }
}
