//! Objects and definitions as a server decides on them, with findings as messages.

use std::sync::Arc;

use billhook::{
    CustomResourceDefinition, DecodeOptions, DeepValue, Definition, ErrorType, FieldError,
    ValidateOptions,
};
use billhook_apimachinery::message_error;
use billhook_findings::{Finding, Place, SchemaSource, Severity, Source, human};
use serde::Serialize;
use serde_json::Value;

use crate::install::accepted_definition;

message_error! {
    /// The reason why an assertion does not hold: findings for people.
    pub struct AssertionError;
}

/// The namespace of objects without one.
const NAMESPACE: &str = "default";

/// Checks that a server accepts an object when it is created.
///
/// # Errors
///
/// If it refuses the object.
pub fn check_valid(
    definition: &impl Serialize,
    object: &impl Serialize,
) -> Result<(), AssertionError> {
    let checked = Checked::new(document(definition, "definition")?, document(object, "object")?)?;
    match checked.errors.as_slice() {
        [] => Ok(()),
        errors => {
            Err(format!("a server refuses the object:\n\n{}", checked.findings(errors)).into())
        }
    }
}

/// Checks that a server refuses an object with an error of a field when it is created.
///
/// # Errors
///
/// If it accepts the object, or refuses it with other errors only.
pub fn check_invalid(
    definition: &impl Serialize,
    object: &impl Serialize,
    field: &str,
    error_type: ErrorType,
) -> Result<(), AssertionError> {
    let checked = Checked::new(document(definition, "definition")?, document(object, "object")?)?;
    let is_it =
        |error: &FieldError| error.error_type() == error_type && error.field().to_string() == field;
    if checked.errors.iter().any(is_it) {
        return Ok(());
    }
    let expected = format!("expected {} at `{field}`", error_type.reason());
    match checked.errors.as_slice() {
        [] => Err(format!("{expected}, but a server accepts the object").into()),
        errors => Err(format!("{expected}, but found:\n\n{}", checked.findings(errors)).into()),
    }
}

/// Checks that a server accepts a definition when it is created.
///
/// # Errors
///
/// If it refuses the definition.
pub fn check_structural(definition: &impl Serialize) -> Result<(), AssertionError> {
    let (place, value) = document(definition, "definition")?;
    let read = Definition::from_value(&value).map_err(|error| error.to_string())?;
    let validation = read.validate_create();
    if validation.errors().is_empty() {
        return Ok(());
    }
    let findings = validation.errors().iter().map(|error| human(&finding(error, &place), false));
    Err(format!("a server refuses the definition:\n\n{}", findings.collect::<String>()).into())
}

/// An object and what a server says of it.
struct Checked {
    place: Place,
    schema: Option<SchemaSource>,
    errors: Vec<FieldError>,
}

impl Checked {
    fn new(
        (definition_place, definition): (Place, DeepValue),
        (place, object): (Place, DeepValue),
    ) -> Result<Self, String> {
        let accepted = accepted_definition(&definition, Default::default());
        let definition = accepted.map_err(|error| error.to_string())?;
        let crd = CustomResourceDefinition::from_value(&definition);
        let crd = crd.map_err(|error| error.to_string())?;
        let api_version = object.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
        let name = api_version.split_once('/').map_or(api_version, |(_, version)| version);
        let version = crd.served(name).map_err(|error| error.to_string())?;
        let schema = SchemaSource::new(definition_place, definition, name);
        let body = billhook::to_json(&object);
        let decoded = version.decode(body.as_bytes(), &DecodeOptions::default());
        let mut object = decoded.map_err(|error| error.to_string())?.into_object();
        billhook::remove_server_fields(&mut object);
        version.prepare_create(&mut object, NAMESPACE);
        let validation = version.validate_create(&object, &ValidateOptions::default());
        Ok(Checked { place, schema, errors: validation.errors().to_vec() })
    }

    fn findings(&self, errors: &[FieldError]) -> String {
        let explained = |error: &FieldError| {
            let finding = finding(error, &self.place);
            match &self.schema {
                Some(schema) => schema.explain(finding, error),
                None => finding,
            }
        };
        errors.iter().map(|error| human(&explained(error), false)).collect()
    }
}

fn finding(error: &FieldError, place: &Place) -> Finding {
    let rule = error.error_type().reason();
    Finding::new(Severity::Error, rule, error.to_string()).at(place, error.field().clone())
}

/// A value as a document of YAML.
fn document(value: &impl Serialize, name: &str) -> Result<(Place, DeepValue), String> {
    let value = serde_json::to_value(value);
    let value = value.map_err(|error| format!("the {name} cannot be serialized: {error}"))?;
    let value = DeepValue::from(value);
    let source = Source::new(format!("{name}.yaml"), billhook::to_yaml(&value));
    Ok((Place::document(Arc::new(source), 0), value))
}
