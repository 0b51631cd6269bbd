//! Requests that are of no use any more go.

use std::time::Duration;

use serde_json::Value;

use super::ACCOUNT;
use super::checks::end;
use crate::account::Account;
use crate::clock::Timestamp;
use crate::controller::{Controller, Keys};
use crate::object::Object;
use crate::plan::Plan;
use crate::request::Request;
use crate::resource::{CERTIFICATE_REQUESTS, Resource};
use crate::view::{Change, View};

/// How often it looks: at each full hour.
const PERIOD: u64 = 3600;
/// How long a request is kept that was decided, and one that was not.
const DECIDED: Duration = Duration::from_secs(3600);
const PENDING: Duration = Duration::from_secs(24 * 3600);

#[derive(Debug)]
pub(crate) struct CertificateRequests;

impl Controller for CertificateRequests {
    fn name(&self) -> &'static str {
        "certificatesigningrequest-cleaner-controller"
    }

    fn account(&self) -> Account {
        Account::of_controller(ACCOUNT)
    }

    fn watches(&self) -> Vec<&'static Resource> {
        vec![&CERTIFICATE_REQUESTS]
    }

    fn concerns(&self, change: &Change, _: &View, keys: &mut Keys) {
        keys.add_changed(change, &CERTIFICATE_REQUESTS);
    }

    fn sync(&self, key: &str, view: &View, now: Timestamp) -> Plan {
        let Some(request) = view.get(&CERTIFICATE_REQUESTS, key) else { return Plan::nothing() };
        let passed = Duration::from_secs(now.to_unix().as_secs() % PERIOD);
        let last_look = Timestamp::from_unix(now.to_unix().saturating_sub(passed));
        if is_old(request, last_look) {
            let delete = Request::delete_seen(&CERTIFICATE_REQUESTS, request);
            return Plan::nothing().try_request(delete, &[404, 409]);
        }
        Plan::nothing().again_after(Duration::from_secs(PERIOD).saturating_sub(passed))
    }
}

/// Returns whether a request is of no use any more when it is looked at.
fn is_old(request: &Object, look: Timestamp) -> bool {
    let has_passed = |time: Timestamp, kept| time.plus(kept) <= look;
    let conditions = request.list("/status/conditions").iter();
    let decided = conditions
        .filter_map(|it| Timestamp::parse(it.get("lastUpdateTime").and_then(Value::as_str)?));
    let decided: Vec<Timestamp> = decided.collect();
    if request.list("/status/conditions").is_empty() {
        let created = request.time("/metadata/creationTimestamp");
        return created.is_some_and(|created| has_passed(created, PENDING));
    }
    let has_ended = end(request).is_some_and(|end| end < look);
    let kept = if has_ended { Duration::ZERO } else { DECIDED };
    decided.into_iter().any(|time| has_passed(time, kept))
}
