//! Requests that are of no use any more go.

use std::time::Duration;

use serde_json::Value;

use super::ACCOUNT;
use crate::account::Account;
use crate::clock::Timestamp;
use crate::controller::{Controller, Keys};
use crate::object::Object;
use crate::plan::Plan;
use crate::request::Request;
use crate::resource::{CERTIFICATE_REQUESTS, Resource};
use crate::view::{Change, View};

/// How often it looks.
const PERIOD: Duration = Duration::from_secs(3600);
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
        if is_old(request, now) {
            let delete = Request::delete_seen(&CERTIFICATE_REQUESTS, request);
            return Plan::nothing().try_request(delete, &[404, 409]);
        }
        Plan::nothing().again_after(PERIOD)
    }
}

fn is_old(request: &Object, now: Timestamp) -> bool {
    let is_past = |time: Option<Timestamp>, kept| time.is_some_and(|it| now.since(it) >= kept);
    let decided = request.list("/status/conditions").iter();
    let mut decided = decided
        .filter_map(|condition| condition.get("lastUpdateTime").and_then(Value::as_str))
        .map(Timestamp::parse);
    match request.list("/status/conditions").is_empty() {
        true => is_past(request.time("/metadata/creationTimestamp"), PENDING),
        false => decided.any(|time| is_past(time, DECIDED)),
    }
}
