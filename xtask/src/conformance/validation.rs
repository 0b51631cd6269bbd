//! Validation of values: `validate` with its tables, `listtype` and
//! `defaults_validate`.

use billhook_schema::JsonSchemaProps;
use billhook_validation::{DefaultChecks, Validator, validate_defaults};
use serde_json::{Value, json};

use super::ops::{Run, field_error, flag, object_of, ok, schema_of};
use crate::conformance::Outcome;

fn validator(input: &Value) -> Result<Validator, String> {
    let schema = input.get("schema").unwrap_or(&Value::Null);
    let schema = JsonSchemaProps::from_value(schema).map_err(|error| error.to_string())?;
    Ok(Validator::new(&schema))
}

/// None if the case needs rules in CEL.
pub(super) fn validate(input: &Value) -> Option<Run> {
    (!flag(input, "cel")).then(|| run_validate(input))
}

fn run_validate(input: &Value) -> Run {
    let validator = validator(input)?;
    let object = object_of(input);
    let mut check = validator.check(&object);
    if let Some(old) = input.get("oldObject") {
        check = check.update_of(old);
    }
    let errors = check.errors();
    if check.is_valid() != errors.is_empty() || check.validate().err() != errors.first().cloned() {
        return Err("the verbs differ".to_owned());
    }
    Ok(Outcome {
        errors: errors.iter().map(|error| field_error(error, Some("schema"))).collect(),
        ..ok(json!({"schema_valid": errors.is_empty()}))
    })
}

pub(super) fn listtype(input: &Value) -> Run {
    let validator = validator(input)?;
    let object = object_of(input);
    let errors = validator.list_errors(&object);
    if validator.has_valid_lists(&object) != errors.is_empty() {
        return Err("the verbs differ".to_owned());
    }
    Ok(Outcome {
        errors: errors.iter().map(|error| field_error(error, None)).collect(),
        ..ok(json!({"valid": errors.is_empty()}))
    })
}

pub(super) fn defaults_validate(input: &Value) -> Run {
    let schema = schema_of(input)?.ok_or("no schema")?;
    let checks = DefaultChecks::default()
        .resource_root(flag(input, "isResourceRoot"))
        .require_pruned(flag(input, "requirePrunedDefaults"));
    let findings = validate_defaults(&schema, &checks);
    if !findings.not_evaluated.is_empty() {
        return Err("needs rules in CEL".to_owned());
    }
    Ok(Outcome {
        errors: findings.errors.iter().map(|error| field_error(error, None)).collect(),
        ..ok(json!({"valid": findings.errors.is_empty()}))
    })
}
