//! The walk through a schema that finds its rules (CE-20).

use std::sync::Arc;

use billhook_apimachinery::print::compact_json;
use billhook_apimachinery::value::grow;
use billhook_apimachinery::{FieldError, FieldErrors, FieldPath, Location};
use billhook_schema::JsonSchemaProps;
use billhook_schema::props::{SchemaOrBool, ValidationRule};
use serde_json::{Value, json};

use super::RuleChecks;
use super::budget::{self, Total, excess};
use crate::language::cost;
use crate::language::program::{Environment, Program};
use crate::language::schema::SchemaType;
use crate::language::types::Type;

pub(super) struct Walk<'w> {
    checks: &'w RuleChecks,
    is_clean: &'w dyn Fn(&Location<'_>) -> bool,
    errors: FieldErrors,
    total: Total,
}

/// What is known of a node from the nodes above it.
struct Context<'p> {
    /// How many values there may be; none if there is no limit.
    most: Option<u64>,
    /// The highest node below which old values cannot be found (CE-20).
    uncorrelatable: Option<&'p Location<'p>>,
}

/// The type of a node, which is made only at rules and below them.
#[derive(Clone)]
enum Typed {
    NotYet,
    As(Arc<SchemaType>),
    /// It has none, and so nothing below it has one.
    Not,
}

impl Typed {
    fn new(schema: &JsonSchemaProps, is_root: bool) -> Typed {
        let is_resource = is_root || schema.extensions.embedded_resource;
        SchemaType::of(schema, is_resource).map_or(Typed::Not, |type_| Typed::As(type_.into()))
    }

    /// The type of a node below; `known` finds it in the type of this one.
    fn below(
        &self,
        schema: &JsonSchemaProps,
        known: impl FnOnce(&SchemaType) -> Option<&Arc<SchemaType>>,
    ) -> Typed {
        match self {
            Typed::As(type_) => match known(type_) {
                Some(type_) => Typed::As(Arc::clone(type_)),
                None => Typed::new(schema, false),
            },
            Typed::NotYet if has_rules(schema) => Typed::new(schema, false),
            other => other.clone(),
        }
    }
}

fn rules(schema: &JsonSchemaProps) -> &[ValidationRule] {
    schema.extensions.validations.as_deref().unwrap_or_default()
}

fn has_rules(schema: &JsonSchemaProps) -> bool {
    !rules(schema).is_empty()
}

impl<'w> Walk<'w> {
    pub(super) fn new(checks: &'w RuleChecks, is_clean: &'w dyn Fn(&Location<'_>) -> bool) -> Self {
        Walk { checks, is_clean, errors: FieldErrors::default(), total: Total::default() }
    }

    pub(super) fn root(&mut self, schema: &JsonSchemaProps) {
        let typed = match has_rules(schema) {
            true => Typed::new(schema, true),
            false => Typed::NotYet,
        };
        let context = Context { most: Some(1), uncorrelatable: None };
        self.node(schema, &typed, &context, &Location::at(&self.checks.base));
    }

    pub(super) fn into_errors(self) -> Vec<FieldError> {
        let mut errors = self.errors.into_vec();
        errors.extend(self.total.errors(&self.checks.base));
        errors
    }

    fn node(
        &mut self,
        schema: &JsonSchemaProps,
        typed: &Typed,
        context: &Context<'_>,
        at: &Location<'_>,
    ) {
        if self.errors.is_full() {
            return;
        }
        let most =
            context.most.zip(most_below(schema)).map(|(most, below)| most.saturating_mul(below));
        let context_below = |is_correlatable: bool| Context {
            most,
            uncorrelatable: context.uncorrelatable.or((!is_correlatable).then_some(at)),
        };
        grow(|| {
            if let Some(SchemaOrBool::Schema(values)) = &schema.additional_properties {
                let typed = typed.below(values, SchemaType::elements);
                let at = at.name("additionalProperties");
                self.node(values, &typed, &context_below(true), &at);
            }
            let is_known = |type_: &str| matches!(type_, "granular" | "atomic");
            let map_type = schema.extensions.map_type.as_deref();
            let below = context_below(map_type.is_none_or(is_known));
            let properties_at = at.name("properties");
            for (name, property) in schema.properties.iter().flatten() {
                let typed = typed.below(property, |type_| type_.property(name));
                self.node(property, &typed, &below, &properties_at.key(name));
            }
            if let Some(items) = schema.items_schema() {
                let is_map = schema.extensions.list_type.as_deref() == Some("map");
                let typed = typed.below(items, SchemaType::elements);
                self.node(items, &typed, &context_below(is_map), &at.name("items"));
            }
        });
        if has_rules(schema) && (self.is_clean)(at) {
            self.rules(schema, typed, context, at);
        }
    }

    fn rules(
        &mut self,
        schema: &JsonSchemaProps,
        typed: &Typed,
        context: &Context<'_>,
        at: &Location<'_>,
    ) {
        let at = at.name("x-kubernetes-validations");
        let Typed::As(type_) = typed else {
            let detail = "internal error: failed to construct type information for \
                          x-kubernetes-validations rules: unable to convert structural schema to \
                          CEL declarations";
            self.errors.push(FieldError::internal(at.to_path(), detail));
            return;
        };
        let most = context.most.unwrap_or_else(|| type_.most_in_request());
        let self_type = type_.to_type();
        for (index, rule) in rules(schema).iter().enumerate() {
            let environment = Environment::of_rule(rule, self_type.clone());
            let at = at.index(index);
            self.rule(&RuleAt { rule, type_, environment, at: &at }, most, context);
        }
    }

    fn rule(&mut self, rule: &RuleAt<'_>, most: u64, context: &Context<'_>) {
        if rule.rule.rule.trim().is_empty() {
            return;
        }
        let uses_old = self.expression(rule, most);
        if uses_old {
            if let Some(within) = context.uncorrelatable {
                let detail = format!(
                    "oldSelf cannot be used on the uncorrelatable portion of the schema within {}",
                    within.to_path()
                );
                let text = rule.rule.rule.as_str();
                self.errors.push(FieldError::invalid(rule.path("rule"), text, &detail));
            }
        } else if let Some(is_optional) = rule.rule.optional_old_self {
            let detail = "may not be set if oldSelf is not used in rule";
            let path = rule.path("optionalOldSelf");
            self.errors.push(FieldError::invalid(path, is_optional, detail));
        }
    }

    /// Checks the expressions of a rule; tells whether the rule uses the old value, as far as it
    /// compiles.
    fn expression(&mut self, rule: &RuleAt<'_>, most: u64) -> bool {
        let checked = match rule.environment.check(&rule.rule.rule) {
            Ok(checked) => checked,
            Err(error) => {
                self.refuse(rule, "rule", &format!("compilation failed: {error}"));
                return false;
            }
        };
        if *checked.result_type() != Type::Bool {
            self.refuse(rule, "rule", "cel expression must evaluate to a bool");
            return false;
        }
        let uses_old = checked.mentions("oldSelf");
        let cost = cost::estimate(&checked, rule.type_).saturating_mul(most);
        if let Err(error) = Program::new(checked) {
            self.refuse(rule, "rule", &format!("program instantiation failed: {error}"));
            return uses_old;
        }
        self.weigh(rule, "rule", "estimated rule cost", cost);
        if !rule.rule.message_expression.is_empty() {
            self.message(rule);
        }
        uses_old
    }

    fn message(&mut self, rule: &RuleAt<'_>) {
        let name = "messageExpression";
        let checked = match rule.environment.check(&rule.rule.message_expression) {
            Ok(checked) => checked,
            Err(error) => {
                let detail = format!("messageExpression compilation failed: {error}");
                return self.refuse(rule, name, &detail);
            }
        };
        if *checked.result_type() != Type::String {
            return self.refuse(rule, name, "messageExpression must evaluate to a string");
        }
        let cost = cost::estimate(&checked, rule.type_);
        if let Err(error) = Program::new(checked) {
            let detail = format!("messageExpression instantiation failed: {error}");
            return self.refuse(rule, name, &detail);
        }
        self.weigh(rule, name, "estimated messageExpression cost", cost);
    }

    fn weigh(&mut self, rule: &RuleAt<'_>, name: &str, what: &str, cost: u64) {
        if self.checks.limit_each && cost > budget::EACH {
            let detail = excess(what, cost, budget::EACH);
            self.errors.push(FieldError::forbidden(rule.path(name), &detail));
        }
        self.total.add(cost, || rule.path(name));
    }

    fn refuse(&mut self, rule: &RuleAt<'_>, name: &str, detail: &str) {
        let (value, shown) = show(rule.rule);
        let error = FieldError::invalid(rule.path(name), value, detail).show_value_as(shown);
        self.errors.push(error);
    }
}

/// A rule, and what its expressions are compiled with.
struct RuleAt<'r> {
    rule: &'r ValidationRule,
    type_: &'r SchemaType,
    environment: Environment,
    at: &'r Location<'r>,
}

impl RuleAt<'_> {
    fn path(&self, name: &str) -> FieldPath {
        self.at.name(name).to_path()
    }
}

/// How often what is directly below a node may occur in it; none if there is no limit.
fn most_below(schema: &JsonSchemaProps) -> Option<u64> {
    let validations = schema.value_validations();
    let limit = match schema.type_.as_str() {
        "object" if schema.additional_properties.is_some() => validations.max_properties,
        "array" => validations.max_items,
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
