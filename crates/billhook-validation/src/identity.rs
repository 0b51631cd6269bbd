//! When two values count as the same in lists and for correlation, in a form that can be hashed
//! (VV-41, VV-81).

use std::collections::HashSet;

use billhook_apimachinery::print::compact_json;
use billhook_apimachinery::value::Num;
use serde_json::Value;

/// The identity of a value: scalars by kind and value, lists and objects by their canonical JSON
/// (VV-41).
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) enum Identity<'v> {
    Null,
    Bool(bool),
    Int(i64),
    /// The bits of a double; zero has one form.
    Float(u64),
    Text(&'v str),
    Json(String),
}

impl<'v> Identity<'v> {
    pub(crate) fn of(value: &'v Value) -> Self {
        match value {
            Value::Null => Identity::Null,
            Value::Bool(value) => Identity::Bool(*value),
            Value::Number(number) => match Num::of(number) {
                Num::Int(int) => Identity::Int(int),
                Num::Float(float) => Identity::Float((float + 0.0).to_bits()),
            },
            Value::String(text) => Identity::Text(text),
            container => Identity::Json(compact_json(container)),
        }
    }

    /// The identity of a scalar other than null.
    pub(crate) fn of_scalar(value: &'v Value) -> Option<Self> {
        match value {
            Value::Null | Value::Array(_) | Value::Object(_) => None,
            scalar => Some(Identity::of(scalar)),
        }
    }
}

/// Whether two elements are the same (VV-33).
pub(crate) fn has_duplicates(items: &[Value]) -> bool {
    let mut seen = HashSet::new();
    !items.iter().all(|item| seen.insert(Identity::of(item)))
}
