//! Events of both groups, which are the same objects (BK-484).

mod cells;
mod validation;

use billhook_apimachinery::metadata::Time;
use serde_json::Value;

use crate::behavior::{Behavior, Findings, WriteContext};

/// The rules of events.
#[derive(Debug)]
pub(crate) struct Event;

impl Behavior for Event {
    fn validate(
        &self,
        event: &Value,
        old: Option<&Value>,
        context: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        validation::validate(event, old, context.kubernetes, &mut found.errors);
    }

    /// Events of both groups are validated as those of the core group.
    fn group_in_errors(&self) -> Option<&'static str> {
        Some("")
    }

    fn cells(&self, event: &Value, now: Time) -> Vec<Value> {
        cells::of(event, now)
    }
}
