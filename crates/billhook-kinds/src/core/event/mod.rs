//! Events of both groups, which are the same objects (BK-484).

mod cells;
mod conversion;
mod validation;

use billhook_apimachinery::KubernetesVersion;
use billhook_apimachinery::metadata::Time;
use serde_json::Value;

use crate::behavior::{Behavior, Findings, WriteContext};
use crate::values::text;

/// The rules of events.
#[derive(Debug)]
pub(crate) struct Event;

impl Behavior for Event {
    fn checks_finalizers(&self) -> bool {
        false
    }

    fn validate(
        &self,
        event: &Value,
        old: Option<&Value>,
        context: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        validation::validate(event, old, context.kubernetes, &mut found.errors);
    }

    fn convert(&self, event: &mut Value, api_version: &str, kubernetes: KubernetesVersion) -> bool {
        conversion::convert(event, api_version, kubernetes)
    }

    /// Events of both groups are validated as those of the core group.
    fn group_in_errors(&self) -> Option<&'static str> {
        Some("")
    }

    /// Events end with their time, and nothing depends on them.
    fn has_dependents(&self) -> bool {
        false
    }

    /// The source of an event is the component that it names, or else the one that reports it.
    fn selected_field(&self, event: &Value, field: &str) -> Option<String> {
        if field != "source" {
            return None;
        }
        let names = ["/source/component", "/reportingComponent"];
        let named = names.map(|place| text(event, place));
        named.into_iter().find(|name| !name.is_empty()).map(str::to_owned)
    }

    fn cells(&self, event: &Value, now: Time) -> Vec<Value> {
        cells::of(event, now)
    }
}
