//! The expressions of a policy and their branches, and which of them were evaluated.

use billhook::FieldPath;
use billhook_policy::{EvaluatedExpression, ExpressionOutcome};
use serde_json::Value;

use super::{CoverageItem, CoverageKind};
use crate::files::FoundDefinition;

/// The lists of a policy that hold expressions, and where those are in an element. What decides
/// over the request is a rule.
const EXPRESSIONS: [(&str, &str, CoverageKind); 7] = [
    ("matchConditions", "expression", CoverageKind::Rule),
    ("variables", "expression", CoverageKind::Expression),
    ("validations", "expression", CoverageKind::Rule),
    ("validations", "messageExpression", CoverageKind::Expression),
    ("auditAnnotations", "valueExpression", CoverageKind::Expression),
    ("mutations", "applyConfiguration.expression", CoverageKind::Expression),
    ("mutations", "jsonPatch.expression", CoverageKind::Expression),
];

/// Returns the parts of a policy, in the order of the text.
pub(super) fn items(policy: &FoundDefinition) -> Vec<CoverageItem> {
    let mut items = Vec::new();
    for (list, field, kind) in EXPRESSIONS {
        let elements = policy.value.pointer(&format!("/spec/{list}")).and_then(Value::as_array);
        for (index, element) in elements.into_iter().flatten().enumerate() {
            let path = FieldPath::default().name("spec").name(list).index(index);
            let path = field.split('.').fold(path, |path, field| path.name(field));
            let text = element.pointer(&format!("/{}", field.replace('.', "/")));
            if let Some(text) = text.and_then(Value::as_str).filter(|text| !text.is_empty()) {
                add(policy, kind, &path, text, &mut items);
            }
        }
    }
    items.sort_by_key(|item| item.line);
    items
}

/// Adds an expression and its branches.
fn add(
    policy: &FoundDefinition,
    kind: CoverageKind,
    path: &FieldPath,
    text: &str,
    items: &mut Vec<CoverageItem>,
) {
    let place = &policy.place;
    let whole = CoverageItem { text: text.to_owned(), ..CoverageItem::new(kind, place, path) };
    items.push(whole);
    items.extend(CoverageItem::branches(place, path, text));
}

/// Adds what became of an expression.
pub(super) fn count(items: &mut [CoverageItem], expression: &EvaluatedExpression) {
    for item in items.iter_mut().filter(|item| item.path == expression.path) {
        match (item.kind, expression.outcome) {
            (CoverageKind::Branch, _) => {
                let mut branches = expression.branches.iter();
                let branch = branches.find(|branch| item.span.as_ref() == Some(&branch.span));
                item.hits += branch.map_or(0, |branch| branch.truths);
                item.violations += branch.map_or(0, |branch| branch.falsehoods);
            }
            (CoverageKind::Rule, ExpressionOutcome::False) => item.violations += 1,
            (_, ExpressionOutcome::Error) => {}
            _ => item.hits += 1,
        }
    }
}
