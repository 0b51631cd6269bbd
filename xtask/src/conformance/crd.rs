//! The operation on CustomResourceDefinitions: reading them strictly, create and update.

use std::path::Path;

use billhook::{Definition, DefinitionError, read_manifests};
use billhook_apimachinery::value::{DeepValue, deep_clone};
use billhook_apimachinery::{FieldError, FieldPath};
use serde_json::{Value, json};

use super::Outcome;
use super::input::{Input, Run, field_error, object, ok};

pub(super) fn run(input: Input<'_>) -> Run {
    match input {
        Input::Inline(input) => {
            // Of several errors the server reports the first one in the text.
            let read = |name: &str| {
                let value = input.get(name).filter(|value| !value.is_null())?;
                Some(match (Definition::new(value.clone(), input.kubernetes), input.text(name)) {
                    (Err(DefinitionError::Decode(_)), Some(text)) => {
                        Definition::from_json(text, input.kubernetes)
                    }
                    (read, _) => read,
                })
            };
            let definition = read("crd").unwrap_or(Err(DefinitionError::Kind));
            let spec = |name: &str| input.get(name)?.get("spec");
            let keeps_spec = spec("oldCrd").is_some_and(|old| spec("crd") == Some(old));
            check(definition, read("oldCrd"), keeps_spec)
        }
        Input::Files { vector, directory } => {
            let file = vector.get("crd").and_then(Value::as_str).unwrap_or_default();
            let mut definition = read(&directory.join(file))?;
            if let Value::Object(members) = &mut *definition {
                members.remove("status");
            }
            check(Definition::from_value(&definition), None, false)
        }
    }
}

fn read(file: &Path) -> Result<DeepValue, String> {
    let text = std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let manifests = read_manifests(&text).map_err(|error| error.to_string())?;
    let manifest = manifests.into_iter().next().ok_or("an empty definition")?;
    Ok(manifest.into_value())
}

type Read = Result<Definition, DefinitionError>;

/// `keeps_spec` tells that an update changes nothing that counts for the generation.
fn check(definition: Read, old: Option<Read>, keeps_spec: bool) -> Run {
    let manifest = match definition {
        Ok(manifest) => manifest,
        Err(error) => return Ok(refused(&error.to_string())),
    };
    let old = match old.transpose() {
        Ok(old) => old,
        Err(error) => return Ok(refused(&error.to_string())),
    };
    let verdict = match &old {
        Some(old) => manifest.validate_update(old),
        None => manifest.validate_create(),
    };
    let mut errors = verdict.errors().to_vec();
    errors.extend(keeps_spec.then(decremented));
    let members = [
        ("valid", Value::from(errors.is_empty())),
        ("strict_errors", Value::from(manifest.unknown_fields())),
        ("warnings", Value::from(verdict.warnings())),
    ];
    Ok(Outcome {
        errors: errors.iter().map(|error| field_error(error, None)).collect(),
        ..ok(object(members))
    })
}

/// The vectors' server sets the generation of the old definition to 1, and of an update only if
/// that changes the spec. A whole server keeps the generation before it gets there.
fn decremented() -> FieldError {
    let path = FieldPath::default().name("metadata").name("generation");
    FieldError::invalid(path, 0, "must not be decremented")
}

fn refused(error: &str) -> Outcome {
    let error = json!({"error": error, "source": "decode"});
    Outcome { errors: vec![DeepValue::from(error)], ..Outcome::default() }
}

/// The server meets the properties of a schema in random order, and so it warns.
pub(super) fn sorted_warnings(op: &str, ok: &Value) -> DeepValue {
    let mut ok = DeepValue::from(deep_clone(ok));
    if let (true, Some(Value::Array(warnings))) = (op == "crd", ok.get_mut("warnings")) {
        warnings.sort_by_key(ToString::to_string);
    }
    ok
}
