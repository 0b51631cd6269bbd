//! Events go an hour after they were written last (CP-03).

use std::sync::Arc;
use std::time::Duration;

use billhook_apimachinery::UserInfo;

use crate::account::Account;
use crate::clock::Timestamp;
use crate::controller::{Controller, Keys};
use crate::object::Object;
use crate::plan::Plan;
use crate::request::Request;
use crate::resource::{EVENTS, Resource};
use crate::view::{Change, View};

/// How long an event is kept.
const TTL: Duration = Duration::from_secs(3600);
/// The key of all events.
const ALL: &str = "";

/// Deletes old events, as the storage of a cluster does by itself.
#[derive(Debug)]
pub(crate) struct EventExpiry;

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

    /// New events are younger than all that wait; only where none may have waited, it has to look.
    fn concerns(&self, change: &Change, view: &View, keys: &mut Keys) {
        let first = view.all(&EVENTS).next();
        let is_first = |event: &Arc<Object>| first.is_some_and(|first| first.key() == event.key());
        if change.after.as_ref().is_some_and(is_first) {
            keys.add(&ALL.into());
        }
    }

    fn sync(&self, _: &str, view: &View, now: Timestamp) -> Plan {
        let mut plan = Plan::nothing();
        let mut next: Option<Duration> = None;
        for event in view.all(&EVENTS) {
            let left = last_write(event).unwrap_or(now).plus(TTL).since(now);
            if left.is_zero() {
                plan = plan.try_request(Request::delete_seen(&EVENTS, event), &[404, 409]);
            } else {
                next = Some(next.map_or(left, |next| next.min(left)));
            }
        }
        next.into_iter().fold(plan, Plan::again_after)
    }
}

fn last_write(event: &Object) -> Option<Timestamp> {
    let entries = event.list("/metadata/managedFields").iter();
    let writes = entries.filter_map(|entry| Timestamp::parse(entry.get("time")?.as_str()?));
    writes.chain(event.time("/metadata/creationTimestamp")).max()
}
