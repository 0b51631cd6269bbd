//! Outcomes as JSON, with every change.

use std::io;

use billhook::{Change, ChangeKind};
use billhook_apimachinery::value::deep_clone;
use serde_json::Value;

use super::outcome::Outcome;
use crate::json::{Fields, Items, error};
use crate::report;

/// Adds an outcome; `with_object` says whether its object is wanted. Errors go to standard error
/// too.
pub(super) fn add(
    items: &mut Items,
    outcome: Outcome<'_>,
    is_reported: bool,
    with_object: bool,
) -> io::Result<()> {
    let mut item = Fields::of_object(outcome.place, outcome.identity);
    let changes = match outcome.result {
        Ok(done) => {
            item.value("warnings", Value::from(done.warnings));
            if with_object {
                item.value("object", done.object.into_inner());
            }
            done.changes
        }
        Err(problem) => {
            if !is_reported {
                report::problem(&problem);
            }
            item.value("warnings", Value::Array(Vec::new()));
            item.value("error", error(*problem));
            Vec::new()
        }
    };
    items.add_with_list(item, "changes", changes.iter().map(change))
}

fn change(change: &Change) -> Value {
    let mut reason = Fields::default();
    reason.text("rule", Some(change.reason().rule().to_owned()));
    reason.text("text", Some(change.reason().text().to_owned()));
    let mut fields = Fields::default();
    fields.text("path", Some(change.path().to_string()));
    fields.text("pointer", Some(change.path().to_json_pointer()));
    fields.text("kind", Some(kind(change.kind())));
    if let Some(before) = change.before() {
        fields.value("before", deep_clone(before));
    }
    if let Some(after) = change.after() {
        fields.value("after", deep_clone(after));
    }
    fields.value("reason", reason.into_value());
    let schema_path = change.schema_path();
    fields.text("schemaPath", (!schema_path.is_empty()).then(|| schema_path.to_string()));
    fields.into_value()
}

/// The kind as the library serializes it.
fn kind(kind: ChangeKind) -> String {
    match serde_json::to_value(kind) {
        Ok(Value::String(text)) => text,
        _ => kind.label().to_owned(),
    }
}
