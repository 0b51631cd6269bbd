//! The operations on webhook configurations: selectors, validation, matching.

use billhook::FieldPath;
use billhook::webhook::selector::LabelSelector;
use billhook_schema::value::DeepValue;
use serde_json::{Map, Value, json};

use super::Outcome;
use super::ops::{Run, field_error, ok};

/// `label_selector`.
pub(super) fn label_selector(input: &Value) -> Run {
    let written = input.get("selector").unwrap_or(&Value::Null);
    let document = LabelSelector::from_value(written).map_err(|error| error.to_string())?;
    let mut errors = Vec::new();
    let selector = document.parse();
    if let Err(error) = &selector {
        let error = json!({"error": error.to_string(), "source": "selector"});
        errors.push(DeepValue::from(error));
    }
    let invalid = document.validate(&FieldPath::default());
    errors.extend(invalid.iter().map(|error| field_error(error, Some("validation"))));
    match selector {
        Ok(selector) if errors.is_empty() => {
            let none = Map::new();
            let labels = input.get("labels").and_then(Value::as_object).unwrap_or(&none);
            Ok(ok(json!({
                "matches": selector.matches(labels),
                "empty": selector.is_everything(),
                "selector": selector.to_string(),
            })))
        }
        _ => Ok(Outcome { errors, ..Outcome::default() }),
    }
}
