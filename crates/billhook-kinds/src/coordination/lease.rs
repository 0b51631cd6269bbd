//! Leases (BK-484).

use billhook_apimachinery::FieldError;
use billhook_apimachinery::metadata::Time;
use serde_json::Value;

use crate::behavior::{Behavior, Findings, WriteContext};
use crate::cells;
use crate::values::path;

/// The rules of leases.
#[derive(Debug)]
pub(crate) struct Lease;

impl Behavior for Lease {
    fn checks_finalizers(&self) -> bool {
        false
    }

    /// Servers without coordinated leader election have no use for them, unless the stored object has
    /// them (BK-29).
    fn prepare(&self, lease: &mut Value, old: Option<&Value>, _: &WriteContext<'_>) {
        let is_set = |name: &str| {
            let spec = old.and_then(|old| old.get("spec"));
            spec.and_then(|spec| spec.get(name)).is_some_and(|value| !value.is_null())
        };
        if is_set("strategy") || is_set("preferredHolder") {
            return;
        }
        if let Some(Value::Object(spec)) = lease.get_mut("spec") {
            spec.remove("strategy");
            spec.remove("preferredHolder");
        }
    }

    fn validate(
        &self,
        lease: &Value,
        _: Option<&Value>,
        _: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        for (name, least, detail) in [
            ("leaseDurationSeconds", 1, "must be greater than 0"),
            ("leaseTransitions", 0, "must be greater than or equal to 0"),
        ] {
            let number = lease.get("spec").and_then(|spec| spec.get(name)).and_then(Value::as_i64);
            if let Some(number) = number.filter(|number| *number < least) {
                found.errors.push(FieldError::invalid(path(&["spec", name]), number, detail));
            }
        }
    }

    fn cells(&self, object: &Value, now: Time) -> Vec<Value> {
        vec![
            cells::name(object),
            cells::at(object, "/spec/holderIdentity"),
            cells::created(object, now),
        ]
    }
}
