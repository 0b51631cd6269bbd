//! Validation of values: `validate` with its tables, `listtype`,
//! `defaults_validate` and `validate_cr`.

use billhook::{DecodeOptions, Scope, ValidateOptions, Validation};
use billhook_cel::CheckedSchema;
use billhook_cel::rules::{BUDGET, Rules};
use billhook_default_validation::{DefaultChecks, validate_defaults};
use billhook_schema::{CompileOptions, CompiledSchema, JsonSchemaProps};
use billhook_validation::Validator;
use serde_json::{Value, json};

use super::input::{
    Given, Input, Run, definition, field_error, flag, object_of, ok, schema_of, subject,
};
use crate::conformance::Outcome;

fn validator(input: Given<'_>) -> Result<Validator, String> {
    let schema = input.get("schema").unwrap_or(&Value::Null);
    let schema = JsonSchemaProps::from_value(schema).map_err(|error| error.to_string())?;
    Ok(validator_of(&schema, input))
}

fn validator_of(schema: &JsonSchemaProps, input: Given<'_>) -> Validator {
    let mut options = CompileOptions::default();
    options.resource_root = false;
    options.kubernetes = input.kubernetes;
    Validator::of(&CompiledSchema::of_part(schema, options), schema)
}

/// With `cel: true` the rules are evaluated too.
pub(super) fn validate(input: Given<'_>) -> Run {
    let schema = JsonSchemaProps::from_value(input.get("schema").unwrap_or(&Value::Null));
    let schema = schema.map_err(|error| error.to_string())?;
    let validator = validator_of(&schema, input);
    let object = object_of(input);
    let mut check = validator.check(&object);
    if let Some(old) = input.get("oldObject") {
        check = check.update_of(old);
    }
    let errors = check.errors();
    if check.is_valid() != errors.is_empty() || check.validate().err() != errors.first().cloned() {
        return Err("the verbs differ".to_owned());
    }
    let mut found: Vec<_> = errors.iter().map(|error| field_error(error, Some("schema"))).collect();
    let mut verdict = json!({"schema_valid": errors.is_empty()});
    if flag(input, "cel") {
        let rules = Rules::new(&schema, &validator);
        let findings =
            rules.as_ref().map(|rules| rules.check(&object, input.get("oldObject"), BUDGET));
        let findings = findings.unwrap_or_default();
        found.extend(findings.errors.iter().map(|error| field_error(error, Some("cel"))));
        if let Value::Object(verdict) = &mut verdict {
            verdict.insert("has_rules".to_owned(), rules.is_some().into());
            verdict.insert("cel_valid".to_owned(), findings.errors.is_empty().into());
            verdict.insert("cel_cost".to_owned(), findings.cost.into());
        }
    }
    Ok(Outcome { errors: found, ..ok(verdict) })
}

pub(super) fn listtype(input: Given<'_>) -> Run {
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

pub(super) fn defaults_validate(input: Given<'_>) -> Run {
    let schema = schema_of(input)?.ok_or("no schema")?;
    let schema = CheckedSchema::new(&schema).resource_root(flag(input, "isResourceRoot"));
    let schema = schema.kubernetes(input.kubernetes);
    let unpruned = !flag(input, "requirePrunedDefaults");
    let checks = DefaultChecks { unpruned, ..DefaultChecks::default() };
    let findings = validate_defaults(&schema, &checks);
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
            let mut object = decoded.into_object();
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
    Outcome {
        errors: errors.iter().map(|error| field_error(error, None)).collect(),
        ..ok(json!({"valid": errors.is_empty()}))
    }
}
