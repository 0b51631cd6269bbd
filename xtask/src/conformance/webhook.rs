//! The operations on webhook configurations: selectors, validation, matching.

use billhook::FieldPath;
use billhook::webhook::WebhookConfiguration;
use billhook::webhook::selector::{LabelSelector, Selector};
use billhook_schema::value::DeepValue;
use serde_json::{Map, Value, json};

use super::Outcome;
use super::ops::{Run, field_error, object, ok};

/// `label_selector`.
pub(super) fn label_selector(input: &Value) -> Run {
    let written = input.get("selector").unwrap_or(&Value::Null);
    let document = LabelSelector::from_value(written).map_err(|error| error.to_string())?;
    let mut errors = Vec::new();
    let selector = match written {
        Value::Null => Ok(Selector::nothing()),
        _ => document.parse(),
    };
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

/// `webhook_config`.
pub(super) fn webhook_config(input: &Value) -> Run {
    let written = input.get("configuration").unwrap_or(&Value::Null);
    let (configuration, unknown) =
        WebhookConfiguration::from_value_reporting(written).map_err(|error| error.to_string())?;
    let errors = configuration.validate();
    Ok(Outcome {
        errors: errors.iter().map(|error| field_error(error, None)).collect(),
        ..ok(object([
            ("configuration", configuration.to_value().into_inner()),
            ("valid", Value::from(errors.is_empty())),
            ("strict_errors", Value::from(unknown)),
        ]))
    })
}
