//! Scales of workloads (BK-308).

use billhook_apimachinery::metadata::Time;
use serde_json::Value;

use crate::behavior::Behavior;
use crate::cells;
use crate::values::integer;

/// The rules of scales.
#[derive(Debug)]
pub(crate) struct Scale;

impl Behavior for Scale {
    fn cells(&self, object: &Value, now: Time) -> Vec<Value> {
        let number = |place| integer(object, place).unwrap_or_default().into();
        vec![
            cells::name(object),
            number("/spec/replicas"),
            number("/status/replicas"),
            cells::created(object, now),
        ]
    }
}
