//! Objects that violate rules.

use billhook::{FieldError, FieldPath};
use billhook_generation::{Fit, RulePlace};
use billhook_schema::SchemaView;
use serde_json::Value;

use super::constraints::{Broken, Constraints};

impl Constraints<'_> {
    /// Looks for an object that violates a rule and, if there is one, nothing else.
    pub(super) fn rule(
        &mut self,
        rule: &Value,
        place: RulePlace<'_>,
        schema: SchemaView<'_>,
        object: Option<&Value>,
        at: &FieldPath,
    ) {
        let name = words(rule);
        match object.and_then(|object| self.broken_rule(rule, place, schema, object, at)) {
            Some(broken) => self.found.push(Broken { name: name.to_owned(), ..broken }),
            None => {
                self.leave("x-kubernetes-validations", at, name, self.reason(object));
            }
        }
    }

    fn broken_rule(
        &self,
        rule: &Value,
        place: RulePlace<'_>,
        schema: SchemaView<'_>,
        object: &Value,
        at: &FieldPath,
    ) -> Option<Broken> {
        let found =
            self.oracle.violation(rule, place, schema.written(), object, at, &mut |violation| {
                match violation.errors.len() {
                    0 => Fit::None,
                    1 => Fit::Good,
                    _ => Fit::Fair,
                }
            })?;
        let status_of = self.oracle.status_of();
        let is_status = status_of.is_some();
        let error = error_of(rule, found.errors)?;
        let (name, object, old) = (String::new(), found.object, found.old.or(status_of));
        Some(Broken { name, object, old, changed: None, is_status, error, needs_text: true })
    }
}

/// A rule as its error shows it.
fn words(rule: &Value) -> &str {
    let rule = SchemaView::new(rule);
    match rule.text("message").trim() {
        "" => rule.text("rule").trim(),
        message => message,
    }
}

/// The error about a rule; one with another message comes after those of the other
/// constraints.
fn error_of(rule: &Value, mut errors: Vec<FieldError>) -> Option<FieldError> {
    let last = errors.len().checked_sub(1)?;
    let is_own = |error: &FieldError| error.detail().contains(words(rule));
    let index = errors.iter().position(is_own).unwrap_or(last);
    Some(errors.swap_remove(index))
}
