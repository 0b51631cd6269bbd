//! The checks of one schema as a whole (CV-40 to CV-45).

use std::sync::Arc;

use billhook_schema::value::DeepValue;
use billhook_schema::{FieldError, FieldPath, JsonSchemaProps, StructuralSchema};
use billhook_validation::{DefaultChecks, validate_defaults};

use super::model::Container;
use super::node;
use super::options::Options;
use super::record::flag;

/// What was found in a schema and its defaults.
#[derive(Debug, Default)]
pub(super) struct Checked {
    pub(super) errors: Vec<FieldError>,
    /// Rules, and defaults under rules, that the server would look at (CV-75, DF-45).
    pub(super) not_evaluated: Vec<FieldPath>,
    /// Defaults that are stored in another form (DF-47).
    pub(super) rewritten: Vec<(FieldPath, DeepValue)>,
}

/// Checks a schema. `is_structural` tells that it must be structural (CV-22).
pub(super) fn check(
    container: &Container<'_>,
    is_structural: bool,
    options: &Options<'_>,
) -> Checked {
    let base = container.path.clone().name("openAPIV3Schema");
    let mut errors = Vec::new();
    if container.has_status {
        node::status_restrictions(container.schema, &base, &mut errors);
    }
    // CV-43.
    if flag(container.schema, "nullable") {
        let path = base.clone().name("nullable");
        errors.push(FieldError::forbidden(path, "nullable cannot be true at the root"));
    }
    // CV-44.
    let mut conversion_error = None;
    let mut compiles_rules = false;
    let (mut not_evaluated, mut rewritten) = (Vec::new(), Vec::new());
    if is_structural {
        match structural(container) {
            Err(error) => conversion_error = Some(error),
            Ok(schema) => {
                let mut found = schema.validate(&base);
                if found.is_empty() {
                    let checks = DefaultChecks::default().base(base.clone());
                    let checks = checks.require_pruned(options.pruned_defaults);
                    let mut defaults = validate_defaults(&schema, &checks);
                    found = defaults.errors;
                    rewritten = defaults.rewritten;
                    not_evaluated.append(&mut defaults.not_evaluated);
                }
                compiles_rules = found.is_empty();
                errors.append(&mut found);
            }
        }
    }
    let mut found = node::check(container.schema, &base, options.node);
    errors.append(&mut found.errors.into_vec());
    if errors.is_empty() {
        errors.extend(conversion_error.map(|error| FieldError::invalid(base, "", &error)));
    }
    if compiles_rules {
        not_evaluated.append(&mut found.rules);
    }
    Checked { errors, not_evaluated, rewritten }
}

/// The structural form of a schema; the error is the server's text (SS-30).
pub(super) fn structural(container: &Container<'_>) -> Result<StructuralSchema, String> {
    let props = JsonSchemaProps::from_value(container.schema).map_err(|error| error.to_string())?;
    StructuralSchema::new(Arc::new(props)).map_err(|error| error.to_string())
}
