//! Jobs that have ended are deleted after a time (CP-68).

use std::time::Duration;

use serde_json::json;

use super::jobs::end_of;
use crate::account::Account;
use crate::clock::Timestamp;
use crate::controller::{Controller, Keys};
use crate::object::Object;
use crate::plan::Plan;
use crate::request::{Outcome, Request};
use crate::resource::{JOBS, Resource};
use crate::view::{Change, View};

#[derive(Debug)]
pub(crate) struct TtlAfterFinished;

impl Controller for TtlAfterFinished {
    fn name(&self) -> &'static str {
        "ttl-after-finished-controller"
    }

    fn account(&self) -> Account {
        Account::of_controller(self.name())
    }

    fn watches(&self) -> Vec<&'static Resource> {
        vec![&JOBS]
    }

    fn concerns(&self, change: &Change, _: &View, keys: &mut Keys) {
        keys.add_changed(change, &JOBS);
    }

    fn sync(&self, key: &str, view: &View, now: Timestamp) -> Plan {
        let job = view.get(&JOBS, key).filter(|job| !job.is_deleting());
        let Some(left) = job.and_then(|job| time_left(job, now)) else { return Plan::nothing() };
        if !left.is_zero() {
            return Plan::nothing().again_after(left);
        }
        let version = job.map(|job| job.revision().to_string()).unwrap_or_default();
        let options = json!({
            "propagationPolicy": "Foreground", "preconditions": {"uid": job.map(|job| job.uid())},
        });
        let delete = Request::delete(&JOBS, key, &options);
        Plan::nothing().then(vec![Request::get(&JOBS, key)], move |outcomes| {
            let job = outcomes.first().map(Outcome::object).unwrap_or_default();
            // A change that is not in the view yet brings the key back.
            match job.pointer("/metadata/resourceVersion").is_some_and(|it| *it == *version) {
                true => Plan::nothing().try_request(delete, &[404, 409]),
                false => Plan::nothing(),
            }
        })
    }
}

/// Returns how long a Job is kept, if it has ended and is not kept for ever.
fn time_left(job: &Object, now: Timestamp) -> Option<Duration> {
    let kept = u64::try_from(job.int("/spec/ttlSecondsAfterFinished")?).unwrap_or_default();
    let ended = Timestamp::parse(end_of(job)?.get("lastTransitionTime")?.as_str()?)?;
    Some(ended.plus(Duration::from_secs(kept)).since(now))
}
