//! The rules that the defaults of a schema obey (DF-45).

use std::cell::LazyCell;
use std::ops::ControlFlow;

use billhook_schema::{FieldPath, StructuralSchema};
use billhook_validation::{RuleErrors, Validator};
use serde_json::Value;

use crate::rules::{BUDGET, Rules};

/// The rules of a schema for its own defaults, with one budget for all of them; for
/// [`billhook_validation::validate_defaults_with`]. They are compiled when a default needs them.
///
/// ```
/// use billhook_cel::default_rules;
/// use billhook_schema::{JsonSchemaProps, StructuralSchema};
/// use billhook_validation::{DefaultChecks, validate_defaults_with};
/// use serde_json::json;
///
/// let written = json!({"type": "object", "properties": {"replicas": {
///     "type": "integer", "default": 0, "x-kubernetes-validations": [{"rule": "self > 0"}],
/// }}});
/// let schema = StructuralSchema::new(JsonSchemaProps::from_value(&written)?)?;
/// let checks = DefaultChecks::default();
/// let findings = validate_defaults_with(&schema, &checks, &mut default_rules(&schema));
/// assert_eq!(
///     findings.errors[0].to_string(),
///     "properties[replicas].default: Invalid value: 0: failed rule: self > 0",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn default_rules(
    schema: &StructuralSchema,
) -> impl FnMut(&[Option<&str>], &Value, &FieldPath) -> RuleErrors {
    let rules = LazyCell::new(|| Rules::new(schema.root(), &Validator::new(schema.root())));
    let mut budget = BUDGET;
    move |steps, default, at| {
        let Some(rules) = &*rules else { return ControlFlow::Continue(Vec::new()) };
        let found = rules.check_default(steps, default, at, budget);
        budget = budget.saturating_sub(found.cost);
        match found.is_exhausted {
            true => ControlFlow::Break(found.errors),
            false => ControlFlow::Continue(found.errors),
        }
    }
}
