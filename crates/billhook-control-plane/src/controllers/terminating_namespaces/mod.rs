//! Namespaces that are being deleted lose what is in them, then go (CP-21 to CP-23).

mod conditions;
mod remaining;

use std::time::Duration;

use serde_json::{Value, json};

use self::conditions::{Known, conditions};
use self::remaining::{Content, Remaining, contents, longest_grace};
use crate::account::Account;
use crate::clock::Timestamp;
use crate::controller::{Controller, Keys};
use crate::document::{list, set, text_at};
use crate::plan::Plan;
use crate::request::{Outcome, Request};
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
        let Some(known) = namespace else { return Plan::nothing() };
        let deleted = known.time("/metadata/deletionTimestamp").unwrap_or(now);
        let estimate = longest_grace(view, name, deleted, now);
        let (name, uid) = (name.to_owned(), known.uid().to_owned());
        let get = Request::get(&NAMESPACES, &name);
        Plan::nothing().then(vec![get], move |outcomes| match outcomes.first() {
            Some(found) if found.code() == 404 => Plan::nothing(),
            Some(found) if found.is_success() => {
                let run = Run { name, estimate, now };
                let namespace = found.object();
                // Another one of the name is another one's business.
                let is_same = text_at(&namespace, "/metadata/uid") == uid;
                if is_same { run.begin(namespace) } else { Plan::nothing() }
            }
            failed => failed.and_then(Plan::of_outcome).unwrap_or_default(),
        })
    }
}

/// A look at a namespace.
#[derive(Debug)]
struct Run {
    name: String,
    /// How long the pods may still take.
    estimate: Duration,
    now: Timestamp,
}

impl Run {
    /// Says that the namespace is going, if it does not say so.
    fn begin(self, mut namespace: Value) -> Plan {
        if namespace.pointer("/status/phase").is_some_and(|phase| phase == "Terminating") {
            return self.discover(namespace);
        }
        set(&mut namespace, &["status", "phase"], "Terminating".into());
        let request = Request::update_in(&NAMESPACES, &self.name, "status", &namespace);
        Plan::nothing().then(vec![request], move |outcomes| match outcomes.first() {
            Some(written) if written.is_success() => self.discover(written.object()),
            failed => failed.and_then(Plan::of_outcome).unwrap_or_default(),
        })
    }

    /// Finds out which resources there are.
    fn discover(self, namespace: Value) -> Plan {
        if finalizers(&namespace).is_empty() {
            return Plan::nothing();
        }
        let reads = vec![Request::discover("/api"), Request::discover("/apis")];
        Plan::nothing().then(reads, move |outcomes| {
            let mut remaining = Remaining::default();
            remaining.add_unknown(outcomes.iter().filter_map(Outcome::failure));
            let documents: Vec<Value> = outcomes.iter().map(Outcome::object).collect();
            let mut all = contents(&self.name, &documents);
            let pods = all.iter_mut().filter(|content| content.is_of_pods());
            pods.for_each(|pods| pods.take(self.estimate));
            self.empty(namespace, all, remaining)
        })
    }

    /// Deletes the pods, then everything else, and says what remains.
    fn empty(self, namespace: Value, all: Vec<Content>, before: Remaining) -> Plan {
        let (pods, others): (Vec<_>, Vec<_>) = all.into_iter().partition(Content::is_of_pods);
        delete(pods, move |mut remaining| {
            remaining.add_failures(&before);
            if remaining.count() > 0 {
                // Nothing else is deleted before; the conditions do not count what is there.
                remaining.forget_counts();
                return self.say(namespace, &remaining);
            }
            delete(others, move |mut rest| {
                rest.add_failures(&remaining);
                match rest.is_empty() {
                    true => self.finish(namespace, &rest),
                    false => self.say(namespace, &rest),
                }
            })
        })
    }

    /// Writes the conditions, and looks again when what remains should be gone.
    fn say(&self, namespace: Value, remaining: &Remaining) -> Plan {
        let plan = self.write_conditions(namespace, remaining, |_| Plan::nothing());
        if let Some(failure) = remaining.failure() {
            return plan.and(Plan::failure(failure));
        }
        let half = remaining.estimate().unwrap_or(FINALIZERS).as_secs() / 2;
        plan.again_after(Duration::from_secs(half.saturating_add(1)))
    }

    /// Writes the conditions, then takes the finalizer away.
    fn finish(&self, namespace: Value, remaining: &Remaining) -> Plan {
        let others = finalizers(&namespace).iter().filter(|it| *it != FINALIZER);
        let others: Vec<Value> = others.cloned().collect();
        let is_held = others.len() < finalizers(&namespace).len();
        let name = self.name.clone();
        self.write_conditions(namespace, remaining, move |mut namespace| {
            if !is_held {
                return Plan::nothing();
            }
            set(&mut namespace, &["spec", "finalizers"], others.into());
            Plan::nothing().request(Request::update_in(&NAMESPACES, &name, "finalize", &namespace))
        })
    }

    /// Writes the conditions if they differ, then goes on with the namespace as it is then.
    fn write_conditions(
        &self,
        mut namespace: Value,
        remaining: &Remaining,
        next: impl FnOnce(Value) -> Plan + Send + 'static,
    ) -> Plan {
        let conditions = conditions(&Known { namespace: &namespace, remaining }, self.now);
        if conditions == list(&namespace, "/status/conditions") {
            return next(namespace);
        }
        set(&mut namespace, &["status", "conditions"], json!(conditions));
        let write = Request::update_in(&NAMESPACES, &self.name, "status", &namespace);
        Plan::nothing().then(vec![write], |outcomes| match outcomes.first() {
            Some(written) if written.is_success() => next(written.object()),
            failed => failed.and_then(Plan::of_outcome).unwrap_or_default(),
        })
    }
}

/// Deletes objects of one resource after the other, then goes on with what remains of them.
fn delete(contents: Vec<Content>, next: impl FnOnce(Remaining) -> Plan + Send + 'static) -> Plan {
    let requests = contents.iter().flat_map(|content| [content.delete(), content.read()]);
    Plan::nothing().then(requests.collect(), move |outcomes| {
        let mut remaining = Remaining::default();
        for (content, outcomes) in contents.iter().zip(outcomes.chunks(2)) {
            let failure = outcomes.iter().find_map(Outcome::failure);
            let listed = outcomes.last().map(Outcome::object).unwrap_or_default();
            remaining.add(content, failure, &listed);
        }
        next(remaining)
    })
}

fn finalizers(namespace: &Value) -> &[Value] {
    list(namespace, "/spec/finalizers")
}
