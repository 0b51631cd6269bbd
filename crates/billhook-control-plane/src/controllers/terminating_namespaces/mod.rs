//! Namespaces that are being deleted lose what is in them, then go (CP-21 to CP-23).

mod conditions;
mod remaining;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use self::conditions::{Known, conditions};
use self::remaining::{Content, Remaining, contents};
use crate::account::Account;
use crate::clock::Timestamp;
use crate::controller::{Controller, Keys};
use crate::document::set;
use crate::object::Object;
use crate::plan::Plan;
use crate::request::Request;
use crate::resource::{NAMESPACES, Resource};
use crate::view::{Change, View};

/// How long it waits after a change, until other servers know that a namespace is being deleted.
const GRACE: Duration = Duration::from_secs(5);
/// How long at most it waits after a failure.
const LONGEST_BACKOFF: Duration = Duration::from_secs(60);
/// How long finalizers are expected to take.
const FINALIZERS: Duration = Duration::from_secs(15);
/// The finalizer that holds a namespace until it is empty.
const FINALIZER: &str = "kubernetes";

#[derive(Debug)]
pub(crate) struct TerminatingNamespaces;

impl Controller for TerminatingNamespaces {
    fn name(&self) -> &'static str {
        "namespace-controller"
    }

    fn account(&self) -> Account {
        Account::of_controller(self.name())
    }

    fn longest_backoff(&self) -> Duration {
        LONGEST_BACKOFF
    }

    fn watches(&self) -> Vec<&'static Resource> {
        vec![&NAMESPACES]
    }

    fn concerns(&self, change: &Change, _: &View, keys: &mut Keys) {
        if change.after.as_ref().is_some_and(|namespace| namespace.is_deleting()) {
            let mut ending = Keys::default();
            ending.add_changed(change, &NAMESPACES);
            keys.add_later(ending, GRACE);
        }
    }

    fn sync(&self, name: &str, view: &View, now: Timestamp) -> Plan {
        let namespace = view.get(&NAMESPACES, name).filter(|it| it.is_deleting());
        let Some(namespace) = namespace else { return Plan::nothing() };
        if namespace.list("/spec/finalizers").is_empty() {
            return Plan::nothing();
        }
        if namespace.text("/status/phase") != "Terminating" {
            let mut changed = namespace.copy();
            set(&mut changed, &["status", "phase"], "Terminating".into());
            let request = Request::update_in(&NAMESPACES, name, "status", &changed);
            return Plan::nothing().request(request);
        }
        empty(namespace, view, now)
    }
}

/// Deletes the pods, then everything else, and says what remains.
fn empty(namespace: &Arc<Object>, view: &View, now: Timestamp) -> Plan {
    let deleted = namespace.time("/metadata/deletionTimestamp").unwrap_or(now);
    let all = contents(view, namespace.name(), deleted, now);
    let (pods, others): (Vec<_>, Vec<_>) = all.into_iter().partition(Content::is_of_pods);
    let namespace = Arc::clone(namespace);
    delete(pods, move |mut remaining| {
        if remaining.count() > 0 {
            // Nothing else is deleted before; the conditions do not count what is there.
            remaining.forget_counts();
            return say(&namespace, &remaining, now);
        }
        delete(others, move |mut rest| {
            rest.add_failures(&remaining);
            match rest.is_empty() {
                true => finish(&namespace, &rest, now),
                false => say(&namespace, &rest, now),
            }
        })
    })
}

/// Deletes objects of several resources, then goes on with what remains of them.
fn delete(contents: Vec<Content>, next: impl FnOnce(Remaining) -> Plan + Send + 'static) -> Plan {
    let deletes = contents.iter().map(Content::delete).collect();
    Plan::nothing().then(deletes, move |deleted| {
        let reads = contents.iter().map(Content::read).collect();
        Plan::nothing().then(reads, move |lists| {
            let mut remaining = Remaining::default();
            for ((content, deleted), list) in contents.iter().zip(&deleted).zip(&lists) {
                remaining.add(
                    content,
                    deleted.failure().or_else(|| list.failure()),
                    &list.object(),
                );
            }
            next(remaining)
        })
    })
}

/// Writes the conditions, and looks again when what remains should be gone.
fn say(namespace: &Arc<Object>, remaining: &Remaining, now: Timestamp) -> Plan {
    let plan = write_conditions(namespace, remaining, now, |_| Plan::nothing());
    if let Some(failure) = remaining.failure() {
        return plan.and(Plan::failure(failure));
    }
    let half = remaining.estimate().unwrap_or(FINALIZERS).as_secs() / 2;
    plan.again_after(Duration::from_secs(half.saturating_add(1)))
}

/// Writes the conditions, then takes the finalizer away.
fn finish(namespace: &Arc<Object>, remaining: &Remaining, now: Timestamp) -> Plan {
    let others = namespace.list("/spec/finalizers").iter().filter(|it| *it != FINALIZER);
    let others: Vec<Value> = others.cloned().collect();
    let is_held = others.len() < namespace.list("/spec/finalizers").len();
    let name = namespace.name().to_owned();
    write_conditions(namespace, remaining, now, move |mut namespace| {
        if !is_held {
            return Plan::nothing();
        }
        set(&mut namespace, &["spec", "finalizers"], others.into());
        Plan::nothing().request(Request::update_in(&NAMESPACES, &name, "finalize", &namespace))
    })
}

/// Writes the conditions if they differ, then goes on with the namespace as it is then.
fn write_conditions(
    namespace: &Arc<Object>,
    remaining: &Remaining,
    now: Timestamp,
    next: impl FnOnce(Value) -> Plan + Send + 'static,
) -> Plan {
    let known = Known { namespace, remaining };
    let conditions = conditions(&known, now);
    let mut changed = namespace.copy();
    if conditions == namespace.list("/status/conditions") {
        return next(changed);
    }
    set(&mut changed, &["status", "conditions"], json!(conditions));
    let write = Request::update_in(&NAMESPACES, namespace.name(), "status", &changed);
    Plan::nothing().then(vec![write], |outcomes| match outcomes.first() {
        Some(written) if written.is_success() => next(written.object()),
        failed => failed.and_then(Plan::of_outcome).unwrap_or_default(),
    })
}
