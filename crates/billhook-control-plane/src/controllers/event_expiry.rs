//! Events go some time after they were written last (CP-03).

use std::time::Duration;

use billhook_apimachinery::UserInfo;

use crate::account::Account;
use crate::clock::Timestamp;
use crate::controller::{Controller, Keys};
use crate::plan::Plan;
use crate::request::Request;
use crate::resource::{EVENTS, Resource};
use crate::view::{Change, View};

/// Deletes old events, as the storage of a cluster does by itself.
#[derive(Debug)]
pub(crate) struct EventExpiry {
    /// How long an event is kept.
    pub(super) ttl: Duration,
}

impl Default for EventExpiry {
    fn default() -> Self {
        EventExpiry { ttl: Duration::from_secs(3600) }
    }
}

impl Controller for EventExpiry {
    fn name(&self) -> &'static str {
        "event-expiry"
    }

    fn account(&self) -> Account {
        let user = UserInfo::named("system:apiserver").group("system:masters");
        Account::new(user, "kube-apiserver")
    }

    fn watches(&self) -> Vec<&'static Resource> {
        vec![&EVENTS]
    }

    fn concerns(&self, change: &Change, _: &View, keys: &mut Keys) {
        keys.add_changed(change, &EVENTS);
    }

    fn sync(&self, key: &str, view: &View, now: Timestamp) -> Plan {
        let Some(event) = view.get(&EVENTS, key) else { return Plan::nothing() };
        // A cluster has many events, and no other controller reads them.
        let left = event.writes().last().unwrap_or(now).plus(self.ttl).since(now);
        match left.is_zero() {
            true => Plan::nothing().try_request(Request::delete_seen(&EVENTS, event), &[404, 409]),
            false => Plan::nothing().again_after(left),
        }
    }
}
