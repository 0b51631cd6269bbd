//! The checks of rules when a definition is written (CE-20, CE-25, CV-75).

mod budget;
mod walk;

use std::cell::OnceCell;

use billhook_apimachinery::{FieldError, FieldPath, Location};
use billhook_schema::{JsonSchemaProps, StructuralSchema};
use billhook_validation::Validator;
use serde_json::Value;

use crate::rules::{RuleFindings, RuleTree, Types};
use walk::Walk;

/// A structural schema whose definition is checked. Its rules are compiled once for all checks,
/// when the first one needs them.
pub struct CheckedSchema {
    schema: StructuralSchema,
    rules: OnceCell<Option<RuleTree>>,
}

impl CheckedSchema {
    /// Prepares the checks of a schema.
    pub fn new(schema: &StructuralSchema) -> Self {
        CheckedSchema { schema: schema.clone(), rules: OnceCell::new() }
    }

    /// The root node of the schema.
    pub fn root(&self) -> &JsonSchemaProps {
        self.schema.root()
    }

    fn rules(&self) -> Option<&RuleTree> {
        self.rules.get_or_init(|| RuleTree::new(self.root(), Types::FromRules)).as_ref()
    }

    /// Evaluates the rules at and below a node for a default that stands there (DF-45): first as
    /// one that has not changed, then as a new one. `steps` leads to the node from the top: names
    /// of properties, or none for the elements of a list; `validator` is that of the node. There
    /// are no warnings; the cost is that of the more expensive evaluation.
    pub fn check_default(
        &self,
        node: (&[Option<&str>], &Validator),
        default: &Value,
        at: &FieldPath,
        budget: u64,
    ) -> RuleFindings {
        let check = |rules: &RuleTree| rules.check_default(node, default, at, budget);
        self.rules().map_or_else(RuleFindings::default, check)
    }
}

/// How the rules of a schema are checked.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RuleChecks {
    /// Where the schema is; errors are at this path and below.
    pub base: FieldPath,
    /// Whether each expression has a limit of cost, and not only all together (CV-91).
    pub limit_each: bool,
}

impl Default for RuleChecks {
    /// What holds for the schema of a new definition.
    fn default() -> Self {
        RuleChecks { base: FieldPath::default(), limit_each: true }
    }
}

impl RuleChecks {
    /// The checks of a schema at another path.
    #[must_use]
    pub fn base(mut self, base: FieldPath) -> Self {
        self.base = base;
        self
    }

    /// The checks with or without a limit of cost for each expression.
    #[must_use]
    pub fn limit_each(mut self, limit_each: bool) -> Self {
        self.limit_each = limit_each;
        self
    }
}

/// Checks the rules of a schema and weighs what they may cost. `is_clean` tells whether nothing
/// else is wrong with the node at a place and those below it: only then its rules are looked at
/// (CV-75). Errors come in the order of the walk: what is below a node, then the node.
///
/// ```
/// use billhook_cel::{CheckedSchema, RuleChecks, validate_rules};
/// use billhook_schema::{JsonSchemaProps, StructuralSchema};
/// use serde_json::json;
///
/// let written = json!({"type": "object", "properties": {
///     "replicas": {"type": "integer", "x-kubernetes-validations": [{"rule": "self + 1"}]},
/// }});
/// let schema = StructuralSchema::new(JsonSchemaProps::from_value(&written)?)?;
/// let errors = validate_rules(&CheckedSchema::new(&schema), &RuleChecks::default(), |_| true);
/// assert_eq!(errors[0].detail(), "cel expression must evaluate to a bool");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn validate_rules(
    schema: &CheckedSchema,
    checks: &RuleChecks,
    is_clean: impl Fn(&Location<'_>) -> bool,
) -> Vec<FieldError> {
    let Some(rules) = schema.rules() else { return Vec::new() };
    let mut walk = Walk::new(checks, &is_clean, rules);
    walk.top(schema.root());
    walk.into_errors()
}
