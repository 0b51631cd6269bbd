//! The checks of one schema as a whole (CV-40 to CV-45).

use std::sync::Arc;

use billhook_apimachinery::value::DeepValue;
use billhook_apimachinery::{FieldError, FieldPath, Location};
use billhook_cel::{CheckedSchema, RuleChecks, RuleCost, validate_rules};
use billhook_default_validation::{DefaultChecks, validate_defaults};
use billhook_schema::{JsonSchemaProps, StructuralSchema};

use crate::model::Container;
use crate::node;
use crate::options::Options;
use crate::shown::with_rewritten;

/// The findings in a schema and its defaults.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    pub(crate) errors: Vec<FieldError>,
    /// Defaults that are stored in another form (DF-47).
    pub(crate) rewritten: Vec<(FieldPath, DeepValue)>,
    pub(crate) rule_costs: Vec<RuleCost>,
}

/// Checks a schema. `is_structural` tells that it must be structural (CV-22).
pub(crate) fn check(
    container: &Container<'_>,
    is_structural: bool,
    options: &Options<'_>,
) -> Checked {
    let base = container.path.clone().name("openAPIV3Schema");
    // CV-44.
    let mut conversion_error = None;
    let mut rules_of = None;
    let (mut rewritten, mut structural_errors) = (Vec::new(), Vec::new());
    if is_structural {
        match structural(container.schema) {
            Err(error) => conversion_error = Some(error),
            Ok(schema) => {
                let mut found = schema.validate(&base);
                let schema = CheckedSchema::new(&schema).kubernetes(options.kubernetes);
                if found.is_empty() {
                    let checks =
                        DefaultChecks { base: base.clone(), unpruned: options.unpruned_defaults };
                    let defaults = validate_defaults(&schema, &checks);
                    found = defaults.errors;
                    rewritten = defaults.rewritten;
                }
                rules_of = found.is_empty().then_some(schema);
                structural_errors = found;
            }
        }
    }
    let mut errors = Vec::new();
    if container.has_status {
        let schema = with_rewritten(container.written, &base, &rewritten);
        node::status_restrictions(&schema, &base, &mut errors);
    }
    // CV-43.
    if container.schema.nullable {
        let path = base.clone().name("nullable");
        errors.push(FieldError::forbidden(path, "nullable cannot be true at the root"));
    }
    errors.append(&mut structural_errors);
    let found = node::check(container.schema, &base, options.node);
    errors.append(&mut found.errors.into_vec());
    // CV-75.
    let mut rule_costs = Vec::new();
    if let Some(schema) = rules_of.filter(|_| !found.is_cut) {
        let (unlimited, stored) = (options.is_unchanged(container), options.stored.clone());
        let checks = RuleChecks { base: base.clone(), unlimited, stored };
        let is_clean = |at: &Location<'_>| {
            found.unclean.is_empty() || !found.unclean.contains(&at.to_path().to_string())
        };
        let mut rules = validate_rules(&schema, &checks, is_clean);
        errors.append(&mut rules.errors);
        rule_costs = rules.costs;
    }
    if errors.is_empty() {
        errors.extend(conversion_error.map(|error| FieldError::invalid(base, "", &error)));
    }
    Checked { errors, rewritten, rule_costs }
}

/// The structural form of a schema; the error is the server's text (SS-30).
pub(crate) fn structural(schema: &Arc<JsonSchemaProps>) -> Result<StructuralSchema, String> {
    StructuralSchema::new(Arc::clone(schema)).map_err(|error| error.to_string())
}
