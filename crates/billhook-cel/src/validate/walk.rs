//! The walk through the rules of a schema that finds what is wrong with them (CE-20).

use billhook_apimachinery::print::compact_json;
use billhook_apimachinery::record::{FieldValue, go_syntax};
use billhook_apimachinery::value::grow;
use billhook_apimachinery::{FieldError, FieldErrors, FieldPath, Location};
use billhook_schema::props::ValidationRule;
use billhook_schema::{JsonSchemaProps, NodeId, SchemaStep};
use serde_json::{Value, json};

use super::budget::{self, Total, excess};
use super::{CheckedRules, RuleChecks, RuleCost};
use crate::language::cost;
use crate::language::schema::SchemaType;
use crate::rules::{Node, Rule, RuleTree};

/// How many bytes the paths of rules whose costs are kept take together, at most: those of nodes that lie
/// deep take the square of their number.
const MAX_PATHS: usize = 4 << 20;

pub(super) struct Walk<'w> {
    checks: &'w RuleChecks,
    is_clean: &'w dyn Fn(&Location<'_>) -> bool,
    tree: &'w RuleTree,
    errors: FieldErrors,
    pub(super) total: Total,
    /// The costs of the rules that compile.
    pub(super) costs: Vec<RuleCost>,
    paths: usize,
}

/// Facts about the nodes above a node.
struct Context<'p> {
    /// How many values there may be; none if there is no limit.
    most: Option<u64>,
    /// The highest node below which old values cannot be found (CE-20).
    uncorrelatable: Option<&'p Location<'p>>,
}

impl<'w> Walk<'w> {
    pub(super) fn new(
        checks: &'w RuleChecks,
        is_clean: &'w dyn Fn(&Location<'_>) -> bool,
        tree: &'w RuleTree,
    ) -> Self {
        let (errors, total) = (FieldErrors::default(), Total::default());
        Walk { checks, is_clean, tree, errors, total, costs: Vec::new(), paths: 0 }
    }

    pub(super) fn top(&mut self, schema: &JsonSchemaProps) {
        let context = Context { most: Some(1), uncorrelatable: None };
        self.node(self.tree.root(), schema, &context, &Location::at(&self.checks.base));
    }

    pub(super) fn into_checked(self) -> CheckedRules {
        let mut errors = self.errors.into_vec();
        errors.extend(self.total.errors(&self.checks.base));
        let wording = self.tree.schema().root().wording();
        let errors = errors.into_iter().map(|error| error.worded(wording)).collect();
        CheckedRules { errors, costs: self.costs }
    }

    fn node(
        &mut self,
        id: NodeId,
        schema: &JsonSchemaProps,
        context: &Context<'_>,
        at: &Location<'_>,
    ) {
        let Some(node) = self.tree.node(id).filter(|_| !self.errors.is_full()) else { return };
        let most =
            context.most.zip(most_below(schema)).map(|(most, below)| most.saturating_mul(below));
        let extensions = schema;
        let is_known = |type_: &str| matches!(type_, "granular" | "atomic");
        grow(|| {
            for (step, part, id) in self.tree.schema().node(id).children(schema) {
                let properties = at.name("properties");
                let (is_correlatable, at_part) = match step {
                    SchemaStep::AdditionalProperties => (true, at.name("additionalProperties")),
                    SchemaStep::Property(name) => {
                        (extensions.map_type.as_deref().is_none_or(is_known), properties.key(name))
                    }
                    SchemaStep::Items => {
                        (extensions.list_type.as_deref() == Some("map"), at.name("items"))
                    }
                };
                let uncorrelatable = context.uncorrelatable.or((!is_correlatable).then_some(at));
                self.node(id, part, &Context { most, uncorrelatable }, &at_part);
            }
        });
        if !node.rules.is_empty() && (self.is_clean)(at) {
            self.rules(node, context, at);
        }
    }

    fn rules(&mut self, node: &Node, context: &Context<'_>, at: &Location<'_>) {
        let at = at.name("x-kubernetes-validations");
        let Some(type_) = node.schema.as_deref().filter(|_| !node.is_untyped) else {
            let detail = "internal error: failed to construct type information for \
                          x-kubernetes-validations rules: unable to convert structural schema to \
                          CEL declarations";
            self.errors.push(FieldError::internal(at.to_path(), detail));
            return;
        };
        let most = context.most.unwrap_or_else(|| type_.most_in_request());
        for (index, rule) in node.rules.iter().enumerate() {
            let at = at.index(index);
            self.rule(&RuleAt { rule, type_, at: &at }, most, context);
        }
    }

    fn rule(&mut self, at: &RuleAt<'_>, most: u64, context: &Context<'_>) {
        let Some(program) = &at.rule.program else { return };
        match program {
            Ok(program) => {
                let cost = cost::estimate(&program.checked, at.type_).saturating_mul(most);
                self.weigh(at, "rule", "estimated rule cost", cost);
                if self.paths <= MAX_PATHS {
                    let path = at.at.to_path();
                    self.paths += path.size();
                    self.costs.push(RuleCost { path, cost });
                }
                self.message(at);
            }
            Err(error) => self.refuse(at, "rule", error),
        }
        let written = &at.rule.written;
        if at.rule.uses_old {
            if let Some(within) = context.uncorrelatable {
                let detail = format!(
                    "oldSelf cannot be used on the uncorrelatable portion of the schema within {}",
                    within.to_path()
                );
                let text = written.rule.as_str();
                self.errors.push(FieldError::invalid(at.path("rule"), text, &detail));
            }
        } else if let Some(is_optional) = written.optional_old_self {
            let detail = "may not be set if oldSelf is not used in rule";
            let path = at.path("optionalOldSelf");
            self.errors.push(FieldError::invalid(path, is_optional, detail));
        }
    }

    fn message(&mut self, at: &RuleAt<'_>) {
        let name = "messageExpression";
        match &at.rule.message_expression {
            None => {}
            Some(Ok(program)) => {
                let cost = cost::estimate(&program.checked, at.type_);
                self.weigh(at, name, "estimated messageExpression cost", cost);
            }
            Some(Err(error)) => self.refuse(at, name, error),
        }
    }

    fn weigh(&mut self, rule: &RuleAt<'_>, name: &str, what: &str, cost: u64) {
        if !self.checks.unlimited && cost > budget::EACH {
            let detail = excess(what, cost, budget::EACH);
            self.errors.push(FieldError::forbidden(rule.path(name), &detail));
        }
        self.total.add(cost, || rule.path(name));
    }

    fn refuse(&mut self, rule: &RuleAt<'_>, name: &str, detail: &str) {
        let (value, shown) = show(&rule.rule.written);
        let in_go = go_syntax(&value, ValidationRule::TYPE, "apiextensions");
        let error = FieldError::invalid(rule.path(name), value, detail).show_value_as(shown);
        self.errors.push(error.show_value_in_go_as(in_go));
    }
}

/// A rule, the type of its values, and where it is written.
struct RuleAt<'r> {
    rule: &'r Rule,
    type_: &'r SchemaType,
    at: &'r Location<'r>,
}

impl RuleAt<'_> {
    fn path(&self, name: &str) -> FieldPath {
        self.at.name(name).to_path()
    }
}

/// How often what is directly below a node may occur in it; none if there is no limit.
fn most_below(schema: &JsonSchemaProps) -> Option<u64> {
    let limit = match schema.type_.as_str() {
        "object" if schema.additional_properties.is_some() => schema.max_properties,
        "array" => schema.max_items,
        _ => return Some(1),
    };
    limit.map(|limit| u64::try_from(limit).unwrap_or_default())
}

/// A rule as errors show it (CV-06).
fn show(rule: &ValidationRule) -> (Value, String) {
    let members = [
        ("Rule", json!(rule.rule)),
        ("Message", json!(rule.message)),
        ("MessageExpression", json!(rule.message_expression)),
        ("Reason", json!(rule.reason)),
        ("FieldPath", json!(rule.field_path)),
        ("OptionalOldSelf", json!(rule.optional_old_self)),
    ];
    let shown = members.iter().map(|(name, value)| format!("\"{name}\":{}", compact_json(value)));
    let shown = format!("{{{}}}", shown.collect::<Vec<_>>().join(","));
    let members = members.into_iter().map(|(name, value)| (name.to_owned(), value));
    (Value::Object(members.collect()), shown)
}
