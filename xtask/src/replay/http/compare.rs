//! When an answer counts as the recorded one.

use std::collections::BTreeSet;

use billhook_apimachinery::print::plain_json;
use billhook_apimachinery::value::grow;
use serde_json::Value;

use super::placeholders::Bindings;
use super::reduce::reduce;
use crate::fuzz::same;

/// Compares answers with recorded ones, and lists where they differ.
#[derive(Debug)]
pub(super) struct Comparison<'c> {
    pub(super) bindings: &'c mut Bindings,
    /// The groups of the scenario; documents about others are left out.
    pub(super) groups: &'c [String],
    /// Whether the order of errors is random.
    pub(super) is_unordered: bool,
    pub(super) differences: Vec<String>,
}

impl Comparison<'_> {
    /// Compares a document.
    pub(super) fn document(&mut self, recorded: &Value, mut actual: Value, at: &str) {
        let mut recorded = recorded.clone();
        for side in [&mut recorded, &mut actual] {
            reduce(side, self.groups);
            if self.is_unordered {
                sort_causes(side);
            }
        }
        self.value(&recorded, &actual, at);
    }

    /// Compares a text.
    pub(super) fn text(&mut self, recorded: &str, actual: &str, at: &str) {
        let is_same = self.bindings.matches(recorded, actual)
            || (self.is_unordered && pieces(recorded) == pieces(actual));
        if !is_same {
            self.differ(at, &recorded.into(), &actual.into());
        }
    }

    fn value(&mut self, recorded: &Value, actual: &Value, at: &str) {
        match (recorded, actual) {
            (Value::String(recorded), Value::String(actual)) => self.text(recorded, actual, at),
            (Value::String(recorded), Value::Number(actual))
                if recorded.starts_with("<nodeport") =>
            {
                self.text(recorded, &actual.to_string(), at);
            }
            (Value::Object(left), Value::Object(right)) => {
                let names: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
                for name in names {
                    self.member(left.get(name), right.get(name), &format!("{at}/{name}"));
                }
            }
            (Value::Array(left), Value::Array(right)) => {
                for index in 0..left.len().max(right.len()) {
                    self.member(left.get(index), right.get(index), &format!("{at}/{index}"));
                }
            }
            _ if same(recorded, actual) => {}
            _ => self.differ(at, recorded, actual),
        }
    }

    fn member(&mut self, recorded: Option<&Value>, actual: Option<&Value>, at: &str) {
        match (recorded, actual) {
            (Some(recorded), Some(actual)) => grow(|| self.value(recorded, actual, at)),
            (recorded, actual) => {
                let absent = Value::from("(absent)");
                self.differ(at, recorded.unwrap_or(&absent), actual.unwrap_or(&absent));
            }
        }
    }

    pub(super) fn differ(&mut self, at: &str, recorded: &Value, actual: &Value) {
        let (recorded, actual) = (plain_json(recorded), plain_json(actual));
        self.differences.push(format!("{at}\n  expected {recorded}\n  actual   {actual}"));
    }
}

/// Sorts the errors of a status.
fn sort_causes(value: &mut Value) {
    if let Some(Value::Array(causes)) = value.pointer_mut("/details/causes") {
        causes.sort_by_key(|cause| {
            let text = |name| cause.get(name).and_then(Value::as_str).unwrap_or_default();
            (text("field").to_owned(), pieces(text("message")), plain_json(cause))
        });
    }
}

/// The errors of a message, sorted.
fn pieces(text: &str) -> Vec<String> {
    let text = text.replace(['[', '\n'], ", ").replace(']', "");
    let mut pieces: Vec<String> = text.split(',').map(|piece| piece.trim().to_owned()).collect();
    pieces.sort();
    pieces
}
