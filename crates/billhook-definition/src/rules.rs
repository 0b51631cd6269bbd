//! The parts of CEL rules that can be checked without compiling them (CV-70).

use billhook_apimachinery::{FieldError, FieldErrors, Location, Wording};
use billhook_schema::JsonSchemaProps;
use billhook_schema::json_path::{ArrayNotation, JsonPath};

const REASONS: [&str; 4] =
    ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/// Checks the rules of a node. Paths are only known for a node that can be converted to a
/// structural schema.
pub(crate) fn check(
    schema: &JsonSchemaProps,
    at: &Location<'_>,
    is_convertible: bool,
    wording: &Wording,
    errors: &mut FieldErrors,
) {
    let at = at.name("x-kubernetes-validations");
    for (index, rule) in schema.validations.iter().flatten().enumerate() {
        let at = at.index(index);
        let path = |name: &str| at.name(name).to_path();
        let expression = rule.rule.trim();
        let message = rule.message.as_str();
        let trimmed = message.trim();
        if expression.is_empty() {
            errors.push(FieldError::required(path("rule"), "rule is not specified"));
        } else if !message.is_empty() && trimmed.is_empty() {
            let detail = wording.about("message", "must be non-empty if specified");
            errors.push(FieldError::invalid(path("message"), message, &detail));
        } else if has_line_break(trimmed) {
            let detail = wording.about("message", "must not contain line breaks");
            errors.push(FieldError::invalid(path("message"), message, &detail));
        } else if has_line_break(expression) && trimmed.is_empty() {
            let detail = "message must be specified if rule contains line breaks";
            errors.push(FieldError::required(path("message"), detail));
        }
        let expression = &rule.message_expression;
        if !expression.is_empty() && expression.trim().is_empty() {
            let detail = "messageExpression must be non-empty if specified";
            errors.push(FieldError::required(path("messageExpression"), detail));
        }
        if let Some(reason) = rule.reason.as_deref()
            && !REASONS.contains(&reason)
        {
            errors.push(FieldError::not_supported(path("reason"), reason, REASONS));
        }
        let field_path = rule.field_path.as_str();
        let mut refuse = |detail: &str| {
            let detail = wording.about("fieldPath", detail);
            errors.push(FieldError::invalid(path("fieldPath"), field_path, &detail));
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
        if is_convertible && JsonPath::resolve(field_path, schema, brackets).is_err() {
            refuse("must be a valid path");
        }
    }
}

fn has_line_break(text: &str) -> bool {
    text.contains(['\n', '\r'])
}
