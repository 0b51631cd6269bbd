//! The parts of CEL rules that can be checked without compiling them (CV-70).

use billhook_apimachinery::{FieldError, FieldErrors, Location};
use billhook_schema::json_path::{ArrayNotation, JsonPath};
use serde_json::Value;

use crate::steps::Written;
use billhook_apimachinery::record::{list, member, text};

const REASONS: [&str; 4] =
    ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/// Checks the rules of a node. Paths are only known for a node that can be converted to a
/// structural schema.
pub(crate) fn check(
    schema: &Value,
    at: &Location<'_>,
    is_convertible: bool,
    errors: &mut FieldErrors,
) {
    let at = at.name("x-kubernetes-validations");
    for (index, rule) in list(schema, "x-kubernetes-validations").iter().enumerate() {
        let at = at.index(index);
        let path = |name: &str| at.name(name).to_path();
        let expression = text(rule, "rule").trim();
        let message = text(rule, "message");
        let trimmed = message.trim();
        if expression.is_empty() {
            errors.push(FieldError::required(path("rule"), "rule is not specified"));
        } else if !message.is_empty() && trimmed.is_empty() {
            let detail = "must be non-empty if specified";
            errors.push(FieldError::invalid(path("message"), message, detail));
        } else if has_line_break(trimmed) {
            let detail = "must not contain line breaks";
            errors.push(FieldError::invalid(path("message"), message, detail));
        } else if has_line_break(expression) && trimmed.is_empty() {
            let detail = "message must be specified if rule contains line breaks";
            errors.push(FieldError::required(path("message"), detail));
        }
        let expression = text(rule, "messageExpression");
        if !expression.is_empty() && expression.trim().is_empty() {
            let detail = "messageExpression must be non-empty if specified";
            errors.push(FieldError::required(path("messageExpression"), detail));
        }
        if let Some(reason) = member(rule, "reason").and_then(Value::as_str)
            && !REASONS.contains(&reason)
        {
            errors.push(FieldError::not_supported(path("reason"), reason, REASONS));
        }
        let field_path = text(rule, "fieldPath");
        let mut refuse = |detail: &str| {
            errors.push(FieldError::invalid(path("fieldPath"), field_path, detail));
        };
        if field_path.is_empty() {
            continue;
        }
        if field_path.trim().is_empty() {
            refuse("must be non-empty if specified");
        }
        if has_line_break(field_path) {
            refuse("must not contain line breaks");
        }
        let brackets = ArrayNotation::Allowed;
        if is_convertible && JsonPath::resolve(field_path, Written(schema), brackets).is_err() {
            refuse("must be a valid path");
        }
    }
}

fn has_line_break(text: &str) -> bool {
    text.contains(['\n', '\r'])
}
