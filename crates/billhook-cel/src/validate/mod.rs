//! The checks of rules when a definition is written (CE-20, CE-25, CV-75).

mod budget;
mod walk;

use std::cell::OnceCell;

use billhook_apimachinery::{FieldError, FieldPath, KubernetesVersion, Location};
use billhook_schema::{CompileOptions, CompiledSchema, JsonSchemaProps, NodeRef, StructuralSchema};
use billhook_validation::Validator;
use serde_json::Value;

use crate::edition::EDITIONS;
use crate::rules::{RuleFindings, RuleTree, Run, StoredExpressions, Types};
use walk::Walk;

/// A structural schema whose definition is checked. What several checks need of it is made once,
/// when the first one needs it.
pub struct CheckedSchema {
    schema: StructuralSchema,
    resource_root: bool,
    kubernetes: KubernetesVersion,
    compiled: OnceCell<CompiledSchema>,
    validator: OnceCell<Validator>,
    rules: OnceCell<Option<RuleTree>>,
}

impl CheckedSchema {
    /// Prepares the checks of the schema of a resource.
    pub fn new(schema: &StructuralSchema) -> Self {
        CheckedSchema {
            schema: schema.clone(),
            resource_root: true,
            kubernetes: KubernetesVersion::default(),
            compiled: OnceCell::new(),
            validator: OnceCell::new(),
            rules: OnceCell::new(),
        }
    }

    /// The schema of a resource, or of something else.
    #[must_use]
    pub fn resource_root(self, resource_root: bool) -> Self {
        let kubernetes = self.kubernetes;
        CheckedSchema { resource_root, kubernetes, ..CheckedSchema::new(&self.schema) }
    }

    /// The schema for a server of another version.
    #[must_use]
    pub fn kubernetes(self, kubernetes: KubernetesVersion) -> Self {
        let resource_root = self.resource_root;
        CheckedSchema { resource_root, kubernetes, ..CheckedSchema::new(&self.schema) }
    }

    /// The root node of the schema as it is written.
    pub fn root(&self) -> &JsonSchemaProps {
        self.schema.root()
    }

    /// The schema in the form that objects are walked with.
    pub fn compiled(&self) -> &CompiledSchema {
        self.compiled.get_or_init(|| {
            let mut options = CompileOptions::default();
            options.resource_root = self.resource_root;
            options.kubernetes = self.kubernetes;
            CompiledSchema::new(Some(&self.schema), options)
        })
    }

    /// The validator of its defaults, which is that of its structural form (DF-44).
    pub fn validator(&self) -> &Validator {
        self.validator.get_or_init(|| Validator::structural(self.compiled(), self.root()))
    }

    fn rules(&self) -> Option<&RuleTree> {
        self.rules.get_or_init(|| self.compile_rules(None)).as_ref()
    }

    fn compile_rules(&self, stored: Option<&StoredExpressions>) -> Option<RuleTree> {
        RuleTree::new(self.compiled(), self.root(), Types::FromRules, stored)
    }

    /// Evaluates the rules at and below a node for a default that stands there (DF-45): first as
    /// one that has not changed, then as a new one. There are no warnings; the cost is that of the
    /// more expensive evaluation.
    pub fn check_default(
        &self,
        node: NodeRef<'_>,
        default: &Value,
        at: &FieldPath,
        budget: u64,
    ) -> RuleFindings {
        let Some(rules) = self.rules() else { return RuleFindings::default() };
        let run = || Run::new(rules, self.validator(), budget).of_default();
        let unchanged = run().top(node, default, Some(default), at);
        if !unchanged.errors.is_empty() {
            return unchanged;
        }
        let new = run().top(node, default, None, at);
        RuleFindings { cost: new.cost.max(unchanged.cost), ..new }
    }
}

/// How the rules of a schema are checked; by default those of a new definition.
#[derive(Clone, Debug, Default)]
pub struct RuleChecks {
    /// Where the schema is; errors are at this path and below.
    pub base: FieldPath,
    /// Whether only all expressions together have a limit of cost, and not also each (CV-91).
    pub unlimited: bool,
    /// The expressions of the stored definition, which may use more than new ones (CV-91).
    pub stored: StoredExpressions,
}

/// Checks the rules of a schema and weighs what they may cost. `is_clean` tells whether nothing
/// else is wrong with the node at a place and those below it: only then its rules are looked at
/// (CV-75). Errors come in the order of the walk: what is below a node, then the node.
///
/// ```
/// use billhook_cel::{CheckedSchema, RuleChecks, validate_rules};
/// use billhook_schema::{CompileOptions, CompiledSchema, JsonSchemaProps, NodeRef, StructuralSchema};
/// use serde_json::json;
///
/// let written = json!({"type": "object", "properties": {
///     "replicas": {"type": "integer", "x-kubernetes-validations": [{"rule": "self + 1"}]},
/// }});
/// let schema = StructuralSchema::new(JsonSchemaProps::from_value(&written)?)?;
/// let checked = validate_rules(&CheckedSchema::new(&schema), &RuleChecks::default(), |_| true);
/// assert_eq!(checked.errors[0].detail(), "cel expression must evaluate to a bool");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn validate_rules(
    schema: &CheckedSchema,
    checks: &RuleChecks,
    is_clean: impl Fn(&Location<'_>) -> bool,
) -> CheckedRules {
    walked(schema, checks, is_clean, |walk| walk.into_checked())
}

/// The rules of a schema, checked.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CheckedRules {
    /// The errors, in the order of the walk, and then those of all rules together.
    pub errors: Vec<FieldError>,
    /// The costs of the rules that compile, in the order of the walk; of those whose paths take some
    /// megabytes together, the first.
    pub costs: Vec<RuleCost>,
}

/// The estimate of what a rule costs (CE-25).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuleCost {
    /// The path of the rule, below the base of the checks.
    pub path: FieldPath,
    /// The most that it may cost for an object, in units of the language.
    pub cost: u64,
}

impl RuleCost {
    /// The cost that a server allows for one rule.
    pub const LIMIT: u64 = budget::EACH;
}

/// Returns the rules of a schema that may cost more than a server allows for one, in the order of
/// the walk.
pub fn costly_rules(schema: &CheckedSchema, checks: &RuleChecks) -> Vec<RuleCost> {
    let mut rules = walked(schema, checks, |_| true, |walk| walk.costs);
    rules.retain(|rule| rule.cost > RuleCost::LIMIT);
    rules
}

/// Returns the rules of a schema that cost most, the most expensive ones first; none if a server allows
/// all rules together.
///
/// ```
/// use billhook_cel::{CheckedSchema, RuleChecks, costly_together};
/// use billhook_schema::{JsonSchemaProps, StructuralSchema};
/// use serde_json::{Value, json};
///
/// let text = json!({"type": "string", "x-kubernetes-validations": [{"rule": "self.contains(self)"}]});
/// let texts = |count: usize, most: usize| {
///     let fields = (0..count).map(|number| (format!("f{number}"), text.clone()));
///     let mut schema = json!({"type": "object", "properties": fields.collect::<Value>()});
///     for (_, part) in schema["properties"].as_object_mut().into_iter().flatten() {
///         part["maxLength"] = most.into();
///     }
///     let schema = StructuralSchema::new(JsonSchemaProps::from_value(&schema)?)?;
///     let rules = costly_together(&CheckedSchema::new(&schema), &RuleChecks::default());
///     Ok::<usize, Box<dyn std::error::Error>>(rules.len())
/// };
/// assert_eq!(texts(30, 6_000)?, 30);
/// assert_eq!(texts(10, 6_000)?, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn costly_together(schema: &CheckedSchema, checks: &RuleChecks) -> Vec<RuleCost> {
    let all = |walk: Walk<'_>| match walk.total.is_too_much() {
        true => walk.costs,
        false => Vec::new(),
    };
    let mut rules = walked(schema, checks, |_| true, all);
    rules.retain(|rule| rule.cost >= budget::NAMED_FROM);
    rules.sort_by_key(|rule| std::cmp::Reverse(rule.cost));
    rules
}

fn walked<R: Default>(
    schema: &CheckedSchema,
    checks: &RuleChecks,
    is_clean: impl Fn(&Location<'_>) -> bool,
    result: impl FnOnce(Walk<'_>) -> R,
) -> R {
    let compiled;
    let rules = if EDITIONS.of(schema.compiled().root().kubernetes()).has_new_libraries {
        compiled = schema.compile_rules(Some(&checks.stored));
        compiled.as_ref()
    } else {
        schema.rules()
    };
    let Some(rules) = rules else { return R::default() };
    let mut walk = Walk::new(checks, &is_clean, rules);
    walk.top(schema.root());
    result(walk)
}
