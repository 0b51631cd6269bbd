//! Bounds of an evaluation besides its cost. Costs are the server's (CE-35): a call that looks at
//! all of a value, or makes a large one, may cost one. The bounds here are billhook's own, far from
//! what rules need (CE-36).

use std::sync::Arc;

use billhook_apimachinery::value::grow;
use billhook_regex::{OutOfSteps, Steps};
use serde_json::Value as Json;

use super::value::{EvaluationError, List, Map, Text, Value};

/// The most memory, in bytes, that the values made by one evaluation take together, those that are
/// dropped again included.
pub const MAX_BYTES: u64 = 512 << 20;

/// The most values that the functions of one evaluation look at, each as often as it is looked at;
/// for the rules of an object, and the match conditions of a request, all evaluations count
/// together. So many bytes of text count as one more: [`BYTES_PER_STEP`].
pub const MAX_STEPS: u64 = 1 << 27;

/// The bytes of text that count as one value.
pub const BYTES_PER_STEP: usize = 64;

/// The bytes that are counted for an element of a list, or for the key or the value of an entry.
const ELEMENT: u64 = 64;

/// The rest of the bounds, for evaluations that belong together.
#[derive(Clone, Copy, Debug)]
pub struct Meter {
    max_bytes: u64,
    bytes: u64,
    steps: u64,
}

impl Default for Meter {
    fn default() -> Self {
        Meter::new(MAX_BYTES, MAX_STEPS)
    }
}

impl Meter {
    /// Creates bounds: the memory that the values made by one evaluation take, and the values that
    /// all evaluations look at.
    pub fn new(max_bytes: u64, steps: u64) -> Meter {
        Meter { max_bytes, bytes: max_bytes, steps }
    }

    /// The next evaluation starts without the values of the last one.
    pub(crate) fn next(&mut self) -> &mut Self {
        self.bytes = self.max_bytes;
        self
    }

    /// A value was made; what others hold was counted before.
    #[inline]
    pub(crate) fn made(&mut self, value: &Value<'_>) -> Result<(), EvaluationError> {
        let bytes = made_bytes(value);
        self.bytes = self.bytes.checked_sub(bytes).ok_or(EvaluationError::MemoryLimit)?;
        Ok(())
    }

    /// Returns what was looked at since an earlier time.
    pub(crate) fn since(&self, before: &Meter) -> u64 {
        before.steps.saturating_sub(self.steps)
    }

    /// Values are looked at.
    pub(crate) fn look(&mut self, steps: u64) -> Result<(), EvaluationError> {
        self.steps = self.steps.checked_sub(steps).ok_or(EvaluationError::WorkLimit)?;
        Ok(())
    }

    /// A pattern is matched.
    pub(crate) fn matching<T>(
        &mut self,
        matching: impl FnOnce(&mut Steps) -> Result<T, OutOfSteps>,
    ) -> Result<T, EvaluationError> {
        let mut steps = Steps::of(self.steps);
        let matched = matching(&mut steps);
        self.steps = steps.left();
        matched.map_err(|_| EvaluationError::WorkLimit)
    }

    /// A value is looked at with all that it has in it.
    pub(crate) fn look_into(&mut self, value: &Value<'_>) -> Result<(), EvaluationError> {
        self.look(1)?;
        match value {
            Value::String(text) => self.look((text.as_str().len() / BYTES_PER_STEP) as u64),
            Value::Bytes(bytes) => self.look((bytes.len() / BYTES_PER_STEP) as u64),
            Value::List(list) => grow(|| self.look_into_list(list)),
            Value::Map(Map::Json(members, _)) => self.look_into_members(members),
            Value::Map(Map::Values(entries)) => grow(|| {
                entries.iter().try_for_each(|(key, value)| {
                    self.look_into(key)?;
                    self.look_into(value)
                })
            }),
            Value::Optional(Some(value)) => grow(|| self.look_into(value)),
            _ => Ok(()),
        }
    }

    fn look_into_list(&mut self, list: &List<'_>) -> Result<(), EvaluationError> {
        list.parts().try_for_each(|part| match part {
            List::Json(items, _) => self.look_into_items(items),
            List::Values(values) | List::Merged(values, _) => {
                values.iter().try_for_each(|value| self.look_into(value))
            }
            List::Joined(_) => Ok(()),
        })
    }

    fn look_into_items(&mut self, items: &[Json]) -> Result<(), EvaluationError> {
        grow(|| items.iter().try_for_each(|item| self.look_into_json(item)))
    }

    fn look_into_members(
        &mut self,
        members: &serde_json::Map<String, Json>,
    ) -> Result<(), EvaluationError> {
        grow(|| members.values().try_for_each(|value| self.look_into_json(value)))
    }

    fn look_into_json(&mut self, value: &Json) -> Result<(), EvaluationError> {
        self.look(1)?;
        match value {
            Json::String(text) => self.look((text.len() / BYTES_PER_STEP) as u64),
            Json::Array(items) => self.look_into_items(items),
            Json::Object(members) => self.look_into_members(members),
            _ => Ok(()),
        }
    }
}

/// The bytes of a value that is not shared; the elements of lists and maps count alike.
#[inline]
fn made_bytes(value: &Value<'_>) -> u64 {
    match value {
        Value::String(Text::Shared(text)) if Arc::strong_count(text) == 1 => text.len() as u64,
        Value::Bytes(bytes) if Arc::strong_count(bytes) == 1 => bytes.len() as u64,
        Value::List(List::Values(values) | List::Merged(values, _))
            if Arc::strong_count(values) == 1 =>
        {
            ELEMENT.saturating_mul(values.len() as u64)
        }
        Value::Map(Map::Values(entries)) if Arc::strong_count(entries) == 1 => {
            (2 * ELEMENT).saturating_mul(entries.len() as u64)
        }
        _ => ELEMENT,
    }
}
