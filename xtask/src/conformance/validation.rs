//! Validation of values: `validate` with its tables, `listtype`,
//! `defaults_validate` and `validate_cr`.

use billhook::{DecodeOptions, Scope, ValidateOptions, Validation};
use billhook_schema::JsonSchemaProps;
use billhook_schema::value::{DeepValue, deep_clone};
use billhook_validation::{DefaultChecks, Validator, validate_defaults};
use serde_json::{Value, json};

use super::ops::{Input, Run, definition, field_error, flag, object_of, ok, schema_of, subject};
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

pub(super) fn validate_cr(input: Input<'_>) -> Run {
    // The vectors leave out the checks that are there for any kind.
    let options = ValidateOptions::default().generic_checks(false);
    match input {
        Input::Inline(input) => {
            let object = object_of(input);
            let version = definition(input, &object)?;
            Ok(outcome(&match input.get("oldObject") {
                Some(old) => version.validate_update(&object, old, &options),
                None => version.validate_create(&object, &options),
            }))
        }
        Input::Files { .. } => {
            let (version, body) = subject(input)?;
            let decoded = version.decode(&body, &DecodeOptions::default());
            let decoded = decoded.map_err(|error| error.to_string())?;
            let mut object = DeepValue::from(decoded.into_object());
            if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
                if version.definition().scope() == Scope::Cluster {
                    metadata.remove("namespace");
                } else {
                    metadata.entry("namespace").or_insert_with(|| Value::from("default"));
                }
            }
            Ok(outcome(&version.validate_create(&object, &options)))
        }
    }
}

fn outcome(validation: &Validation) -> Outcome {
    let errors = validation.errors();
    let pending = validation.not_evaluated();
    let is_valid = pending.is_empty().then_some(errors.is_empty());
    Outcome {
        errors: errors.iter().map(|error| field_error(error, None)).collect(),
        pending: pending.iter().map(|rule| rule.rule.clone()).collect(),
        ..ok(json!({"valid": is_valid}))
    }
}

/// An expectation without the errors that only rules in CEL can have given: those of the types and
/// without the words of the other checks, as far as these did not give them.
pub(super) fn without_pending(expect: &Value, found: &[DeepValue]) -> DeepValue {
    let mut expect = DeepValue::from(deep_clone(expect));
    if let Some(Value::Array(errors)) = expect.get_mut("errors") {
        errors.retain(|error| {
            let text = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
            let is_of_rules = matches!(
                text("type"),
                "FieldValueInvalid"
                    | "FieldValueForbidden"
                    | "FieldValueRequired"
                    | "FieldValueDuplicate"
            ) && !text("detail").contains(" in body ");
            !is_of_rules || found.iter().any(|found| found.get("error") == error.get("error"))
        });
    }
    if let Some(Value::Object(ok)) = expect.get_mut("ok") {
        ok.remove("valid");
    }
    expect
}
