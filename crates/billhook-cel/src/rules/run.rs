//! Evaluation of the rules of a schema.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

use billhook_apimachinery::value::{deep_clone, grow, sorted};
use billhook_apimachinery::{FieldError, FieldPath, Location};
use billhook_schema::{NodeRef, Unlisted};
use billhook_validation::Validator;
use serde_json::Value as Json;

use super::rule::Rule;
use super::tree::{Node, RuleTree, Shown};
use super::{CALL_LIMIT, RuleFindings, RuleVerdict};
use crate::language::Branch;
use crate::language::meter::Meter;
use crate::language::program::Program;
use crate::language::schema::SchemaType;
use crate::language::value::{EvaluationError, Value};

/// The longest text that a message expression may give, in bytes (CE-32).
const MAX_MESSAGE: usize = 5 * 1024;

/// An evaluation of rules.
pub(crate) struct Run<'r> {
    tree: &'r RuleTree,
    validator: &'r Validator,
    budget: u64,
    /// Whether what was wrong before and has not changed is only warned of (CE-50).
    ratchets: bool,
    /// Whether the value is a default, which is checked before its schema is accepted (DF-45).
    is_default: bool,
    meter: Meter,
    found: RuleFindings,
    /// The verdicts by node and position, if they are asked for.
    verdicts: Option<BTreeMap<(usize, usize, bool), RuleVerdict>>,
}

/// The nearest value around that has an old counterpart (CE-50).
struct Anchor<'v> {
    schema: NodeRef<'v>,
    value: &'v Json,
    old: &'v Json,
    is_unchanged: OnceCell<bool>,
}

impl Anchor<'_> {
    fn is_unchanged(&self, validator: &Validator) -> bool {
        let compare = || validator.is_unchanged(self.schema.id(), self.value, self.old);
        *self.is_unchanged.get_or_init(compare)
    }
}

/// The outcome of a rule.
#[derive(Default)]
struct Evaluated {
    is_kept: bool,
    /// If verdicts are asked for.
    branches: Vec<Branch>,
    /// The branches of the message expression, if verdicts are asked for and it gave the message.
    message: Option<Vec<Branch>>,
}

/// A value that rules are about.
#[derive(Clone, Copy)]
struct Place<'p> {
    node: &'p Node,
    value: &'p Json,
    /// The old value, if there is one that is not null.
    old: Option<&'p Json>,
    anchor: Option<&'p Anchor<'p>>,
    at: &'p Location<'p>,
}

impl<'r> Run<'r> {
    pub(crate) fn new(tree: &'r RuleTree, validator: &'r Validator, budget: u64) -> Self {
        let meter = Meter::default();
        let found = RuleFindings::default();
        let (ratchets, is_default) = (true, false);
        Run { tree, validator, budget, ratchets, is_default, meter, found, verdicts: None }
    }

    /// The same, but verdicts are noted.
    pub(crate) fn noting_verdicts(self) -> Self {
        Run { verdicts: Some(BTreeMap::new()), ..self }
    }

    /// The same, but everything that is wrong is an error.
    pub(crate) fn strict(self) -> Self {
        Run { ratchets: false, ..self }
    }

    /// The same for a default: everything that is wrong is an error, and nodes without a type are no
    /// part of what is above them.
    pub(crate) fn of_default(self) -> Self {
        Run { is_default: true, ..self.strict() }
    }

    /// Evaluates the rules of a value that is not part of another one.
    pub(crate) fn top(
        mut self,
        schema: NodeRef<'_>,
        value: &Json,
        old: Option<&Json>,
        at: &FieldPath,
    ) -> RuleFindings {
        let at = Location::at(at);
        let untyped =
            self.tree.node(schema.id()).filter(|node| self.is_default && node.lacks_type());
        let result = match untyped {
            Some(node) => {
                let place = Place { node, value, old, anchor: None, at: &at };
                self.fail(
                    place,
                    "rule compiler initialization error: failed to convert to declType for CEL \
                     validation rules",
                );
                ControlFlow::Continue(())
            }
            None => self.node(schema, value, old, None, &at),
        };
        self.found.is_exhausted = result.is_break();
        self.found.verdicts = self.verdicts.unwrap_or_default().into_values().collect();
        self.found
    }

    /// The rules of a node and of those below it (CE-30).
    fn node(
        &mut self,
        schema: NodeRef<'_>,
        value: &Json,
        old: Option<&Json>,
        outer: Option<&Anchor<'_>>,
        at: &Location<'_>,
    ) -> ControlFlow<()> {
        // Null has no rules (CE-03).
        let Some(node) = self.tree.node(schema.id()).filter(|_| !value.is_null()) else {
            return ControlFlow::Continue(());
        };
        if self.is_default && node.lacks_type() {
            return ControlFlow::Continue(());
        }
        let own = old.filter(|_| self.ratchets);
        let own = own.map(|old| Anchor { schema, value, old, is_unchanged: OnceCell::new() });
        let anchor = own.as_ref().or(outer);
        let old = old.filter(|old| !old.is_null());
        let place = Place { node, value, old, anchor, at };
        self.own_rules(schema, place)?;
        if !node.has_rules_below {
            return ControlFlow::Continue(());
        }
        match value {
            Json::Object(members) => grow(|| {
                for (key, member) in sorted(members) {
                    let listed = schema.property(key).filter(|property| property.is_listed());
                    let (edge, at) = match (listed, schema.unlisted()) {
                        (Some(property), _) => (property.edge(), at.name(key)),
                        (None, Unlisted::Descend(edge)) => (edge, at.key(key)),
                        _ => continue,
                    };
                    let old = old.and_then(|old| old.get(key));
                    // The type of the object is none of its content (VV-84).
                    let is_type = schema.id() == self.tree.root()
                        && matches!(key.as_str(), "apiVersion" | "kind");
                    let anchor = anchor.filter(|_| !is_type);
                    self.node(edge.node(), member, old, anchor, &at)?;
                }
                ControlFlow::Continue(())
            }),
            Json::Array(items) => grow(|| {
                let below = schema.items().node();
                let old = old.and_then(|old| self.validator.old_elements(schema.id(), old));
                for (index, item) in items.iter().enumerate() {
                    let old = old.as_ref().and_then(|old| old.get(item));
                    self.node(below, item, old, anchor, &at.index(index))?;
                }
                ControlFlow::Continue(())
            }),
            _ => ControlFlow::Continue(()),
        }
    }

    /// The rules of a node itself.
    fn own_rules(&mut self, schema: NodeRef<'_>, place: Place<'_>) -> ControlFlow<()> {
        for (index, rule) in place.node.rules.iter().enumerate() {
            let (result, evaluated) = self.rule(rule, place);
            if let (Some(verdicts), Some(evaluated)) = (&mut self.verdicts, evaluated) {
                let is_kept = evaluated.is_kept;
                let verdict = verdicts.entry((schema.id().index(), index, is_kept));
                let verdict = verdict.or_insert_with(|| RuleVerdict {
                    schema_path: schema.schema_path(),
                    rule: index,
                    is_kept,
                    branches: Vec::new(),
                    message_branches: None,
                });
                Branch::add(&mut verdict.branches, evaluated.branches);
                if let Some(message) = evaluated.message {
                    Branch::add(verdict.message_branches.get_or_insert_default(), message);
                }
            }
            result?;
        }
        ControlFlow::Continue(())
    }

    /// Evaluates a rule; also returns what became of it, if it was evaluated.
    fn rule(&mut self, rule: &Rule, place: Place<'_>) -> (ControlFlow<()>, Option<Evaluated>) {
        let program = match &rule.program {
            None => return (ControlFlow::Continue(()), None),
            Some(Ok(program)) => program,
            Some(Err(error)) => {
                self.fail(place, &format!("rule compile error: {error}"));
                return (ControlFlow::Continue(()), None);
            }
        };
        let is_optional = rule.written.optional_old_self == Some(true);
        if rule.uses_old && place.old.is_none() && !is_optional {
            return (ControlFlow::Continue(()), None);
        }
        let Some(schema) = place.node.schema.as_deref() else {
            return (ControlFlow::Continue(()), None);
        };
        let own = ("self", Value::variable(place.value, schema));
        let variables: &[_] = match old_variable(schema, place, is_optional) {
            Some(old) => &[own, ("oldSelf", old)],
            None => &[own],
        };
        let evaluation = program.evaluate_sharing(variables, CALL_LIMIT, &mut self.meter);
        if !self.spend(evaluation.cost) {
            self.fail(
                place,
                "validation failed due to running out of cost budget, no further validation \
                 rules will be run",
            );
            return (ControlFlow::Break(()), None);
        }
        let branches = self.branches(program, variables);
        let mut evaluated = Evaluated { branches, ..Evaluated::default() };
        let flow = match evaluation.result {
            Ok(Value::Bool(true)) => {
                evaluated.is_kept = true;
                ControlFlow::Continue(())
            }
            Ok(_) => self.violated(rule, place, variables, &mut evaluated),
            Err(error) => self.error(rule, place, &error),
        };
        (flow, Some(evaluated))
    }

    /// Returns the outcomes of the branches of an expression, if verdicts are asked for: for this it is
    /// evaluated once more.
    fn branches(&self, program: &Program, variables: &[(&str, Value<'_>)]) -> Vec<Branch> {
        let branches = self.verdicts.is_some().then(|| program.branches(variables, CALL_LIMIT));
        branches.unwrap_or_default()
    }

    /// Takes a cost from the budget.
    fn spend(&mut self, cost: u64) -> bool {
        self.found.cost = self.found.cost.saturating_add(cost);
        self.found.cost <= self.budget
    }

    /// An error that names the type of the value in place of the value (CE-33).
    fn fail(&mut self, place: Place<'_>, detail: &str) {
        let error = FieldError::invalid(place.at.to_path(), &*place.node.type_, detail);
        self.found.errors.push(error);
    }

    /// CE-33, CE-35.
    fn error(&mut self, rule: &Rule, place: Place<'_>, error: &EvaluationError) -> ControlFlow<()> {
        let name = name(rule);
        let detail = match error {
            EvaluationError::CostLimit => format!(
                "'{error}': no further validation rules will be run due to call cost exceeds \
                 limit for rule: {name}"
            ),
            EvaluationError::NoSuchOverload | EvaluationError::NoSuchOverloadOf(_) => format!(
                "'{error}': call arguments did not match a supported operator, function or macro \
                 signature for rule: {name}"
            ),
            EvaluationError::Other(_)
            | EvaluationError::Internal(_)
            | EvaluationError::MemoryLimit
            | EvaluationError::WorkLimit => format!("{error} evaluating rule: {name}"),
        };
        self.fail(place, &detail);
        if error.is_limit() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// The rule is false (CE-31).
    fn violated(
        &mut self,
        rule: &Rule,
        place: Place<'_>,
        variables: &[(&str, Value<'_>)],
        evaluated: &mut Evaluated,
    ) -> ControlFlow<()> {
        let mut message = None;
        if let Some(Ok(program)) = &rule.message_expression {
            let evaluation = program.evaluate_sharing(variables, CALL_LIMIT, &mut self.meter);
            if !self.spend(evaluation.cost) {
                self.fail(
                    place,
                    "messageExpression evaluation failed due to running out of cost budget, no \
                     further validation rules will be run",
                );
                return ControlFlow::Break(());
            }
            message = evaluation.result.ok().and_then(|value| usable(&value));
            if message.is_some() {
                evaluated.message = Some(self.branches(program, variables));
            }
        }
        let message = message.unwrap_or_else(|| match rule.written.message.trim() {
            "" => format!("failed rule: {}", rule.written.rule.trim()),
            message => message.to_owned(),
        });
        let mut path = place.at.to_path();
        if let Some(field_path) = &rule.field_path {
            path = path.name(field_path);
        }
        let value = || match place.node.shown {
            Shown::Type => Json::from(&*place.node.type_),
            Shown::Value | Shown::Nothing => deep_clone(place.value),
        };
        let error = match rule.written.reason.as_deref() {
            Some("FieldValueForbidden") => FieldError::forbidden(path, &message),
            Some("FieldValueRequired") => FieldError::required(path, &message),
            Some("FieldValueDuplicate") => FieldError::duplicate(path, value()),
            _ => FieldError::invalid(path, value(), &message),
        };
        let error = match place.node.shown {
            Shown::Nothing => error.omit_value(),
            Shown::Value | Shown::Type => error,
        };
        if !rule.uses_old && place.anchor.is_some_and(|anchor| anchor.is_unchanged(self.validator))
        {
            self.found.warnings.push(error.to_string());
        } else {
            self.found.errors.push(error);
        }
        ControlFlow::Continue(())
    }
}

/// Returns the old value, which has a name only if one of the rules uses it (CE-02).
fn old_variable<'v>(
    schema: &'v SchemaType,
    place: Place<'v>,
    is_optional: bool,
) -> Option<Value<'v>> {
    if !place.node.uses_old {
        return None;
    }
    let old = place.old.map(|old| Value::variable(old, schema));
    if is_optional { Some(Value::Optional(old.map(Into::into))) } else { old }
}

/// A rule as errors name it.
fn name(rule: &Rule) -> &str {
    match rule.written.message.trim() {
        "" => rule.written.rule.trim(),
        message => message,
    }
}

/// CE-32.
fn usable(value: &Value<'_>) -> Option<String> {
    let Value::String(text) = value else { return None };
    let text = text.as_str().trim();
    let is_usable = !text.is_empty() && text.len() <= MAX_MESSAGE && !text.contains(['\n', '\r']);
    is_usable.then(|| text.to_owned())
}
