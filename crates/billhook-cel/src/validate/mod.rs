//! The checks of rules when a definition is written (CE-20, CE-25, CV-75).

mod budget;
mod walk;

use billhook_apimachinery::{FieldError, FieldPath, Location};
use billhook_schema::StructuralSchema;

use walk::Walk;

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

/// Compiles the rules of a schema and weighs what they may cost. `is_clean` tells whether nothing
/// else is wrong with the node at a place and those below it: only then its rules are looked at
/// (CV-75). Errors come in the order of the walk: what is below a node, then the node.
///
/// ```
/// use billhook_cel::{RuleChecks, validate_rules};
/// use billhook_schema::{JsonSchemaProps, StructuralSchema};
/// use serde_json::json;
///
/// let written = json!({"type": "object", "properties": {
///     "replicas": {"type": "integer", "x-kubernetes-validations": [{"rule": "self + 1"}]},
/// }});
/// let schema = StructuralSchema::new(JsonSchemaProps::from_value(&written)?)?;
/// let errors = validate_rules(&schema, &RuleChecks::default(), |_| true);
/// assert_eq!(errors[0].detail(), "cel expression must evaluate to a bool");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn validate_rules(
    schema: &StructuralSchema,
    checks: &RuleChecks,
    is_clean: impl Fn(&Location<'_>) -> bool,
) -> Vec<FieldError> {
    let mut walk = Walk::new(checks, &is_clean);
    walk.root(schema.root());
    walk.into_errors()
}
