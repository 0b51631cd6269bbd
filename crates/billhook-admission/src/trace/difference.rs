//! The differences between two states of an object.

use std::fmt;

use billhook_apimachinery::value::{DeepValue, deep_clone, deep_eq, grow, sorted};
use billhook_apimachinery::{Change, FieldPath, Location, excerpt};
use serde_json::Value;

/// One place where two states of an object differ.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FieldDifference {
    /// Where.
    pub path: FieldPath,
    /// The value before; none if it was added.
    pub before: Option<DeepValue>,
    /// The value after; none if it was removed.
    pub after: Option<DeepValue>,
}

impl fmt::Display for FieldDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => {
                write!(f, "changed {}: {} -> {}", self.path, excerpt(before), excerpt(after))
            }
            (None, Some(after)) => write!(f, "added {}: {}", self.path, excerpt(after)),
            (Some(before), None) => write!(f, "removed {}: {}", self.path, excerpt(before)),
            (None, None) => write!(f, "{}", self.path),
        }
    }
}

impl From<&Change> for FieldDifference {
    fn from(change: &Change) -> Self {
        let copy = |value: &Value| DeepValue::from(deep_clone(value));
        FieldDifference {
            path: change.path().clone(),
            before: change.before().map(copy),
            after: change.after().map(copy),
        }
    }
}

/// How many differences are listed; there may be as many as an object has parts.
const MAX_DIFFERENCES: usize = 1_000;
/// How many steps the paths of all listed differences have together: each may be as long as the
/// object is deep.
const MAX_STEPS: usize = 100_000;

/// The differences found so far.
#[derive(Default)]
struct Found {
    differences: Vec<FieldDifference>,
    /// The steps of their paths.
    steps: usize,
}

/// Returns the smallest parts that differ, in the order of paths: at most 1,000 of them, and
/// fewer if they are deep. Lists are compared item by item.
pub fn differences(before: &Value, after: &Value) -> Vec<FieldDifference> {
    let mut found = Found::default();
    compare(Some(before), Some(after), &Location::TOP, &mut found);
    found.differences
}

fn compare(before: Option<&Value>, after: Option<&Value>, at: &Location<'_>, found: &mut Found) {
    if found.differences.len() >= MAX_DIFFERENCES || found.steps >= MAX_STEPS {
        return;
    }
    match (before, after) {
        (Some(Value::Object(old)), Some(Value::Object(new))) => grow(|| {
            let mut keys: Vec<&String> = sorted(old).into_iter().map(|(key, _)| key).collect();
            keys.extend(new.keys().filter(|key| !old.contains_key(*key)));
            keys.sort();
            for key in keys {
                let is_field = key.bytes().all(|byte| byte.is_ascii_alphanumeric());
                let at = if is_field { at.name(key) } else { at.key(key) };
                compare(old.get(key), new.get(key), &at, found);
            }
        }),
        (Some(Value::Array(old)), Some(Value::Array(new))) => grow(|| {
            for index in 0..old.len().max(new.len()) {
                compare(old.get(index), new.get(index), &at.index(index), found);
            }
        }),
        (Some(old), Some(new)) if deep_eq(old, new) => {}
        (before, after) => {
            let copy = |value: &Value| DeepValue::from(deep_clone(value));
            let path = at.to_path();
            found.steps += path.segments().count();
            let (before, after) = (before.map(copy), after.map(copy));
            found.differences.push(FieldDifference { path, before, after });
        }
    }
}
