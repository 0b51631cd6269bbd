//! JSON patches that expressions make (PO-75).

use billhook::JsonPatch;
use billhook_apimachinery::value::DeepValue;
use billhook_cel::{List, Map, Value};
use serde_json::{Map as JsonMap, Value as Json};

use super::configuration::check_type_names;

/// Returns an object with a patch applied; none if a test in the patch fails.
///
/// # Errors
///
/// Returns the text of the server's error.
pub(super) fn apply(made: &List<'_>, object: &Json) -> Result<Option<DeepValue>, String> {
    let operations = made.iter().flatten().map(|operation| match operation {
        Value::Map(operation) => self::operation(&operation),
        _ => Ok(DeepValue::default()),
    });
    let operations: Vec<DeepValue> = operations.collect::<Result<_, String>>()?;
    match JsonPatch::from_operations(operations).apply(object) {
        Ok(patched) => Ok(Some(patched)),
        Err(error) if error.is_failed_test() => Ok(None),
        Err(error) => Err(format!("JSON Patch: {error}")),
    }
}

fn operation(made: &Map<'_>) -> Result<DeepValue, String> {
    let text = |name: &str| match made.field(name) {
        Some(Ok(Value::String(text))) => text.as_str().to_owned(),
        _ => String::new(),
    };
    let mut operation = JsonMap::new();
    operation.insert("op".to_owned(), text("op").into());
    operation.insert("path".to_owned(), text("path").into());
    let from = text("from");
    if !from.is_empty() {
        operation.insert("from".to_owned(), from.into());
    }
    if let Some(Ok(value)) = made.field("value") {
        // Only the nesting is checked, not where the value goes.
        if let Value::Map(object) = &value
            && let Some(name) = object.type_name()
        {
            check_type_names(&value, name)?;
        }
        let json = value.to_json().map_err(|error| {
            format!(
                "JSONPath valueExpression evaluated to a type that could not marshal to JSON: \
                 {error}"
            )
        })?;
        operation.insert("value".to_owned(), json);
    }
    Ok(DeepValue::from(Json::Object(operation)))
}
