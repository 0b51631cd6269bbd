//! The steps that bring the pods of a set to its spec: in order, each one stops the rest until it is
//! done (CP-52); in parallel, nothing stops (CP-53).

use std::sync::Arc;

use serde_json::Value;

use super::Sync;
use super::claims::Claims;
use super::identity::{Ordinal, pod_name};
use super::pods::{corrected, new_pod, revision_of};
use crate::event::Event;
use crate::object::Object;
use crate::plan::Plan;
use crate::pods::{create_pod, is_available, is_ready, is_terminal, time_to_available};
use crate::request::{Outcome, Request};
use crate::resource::{PODS, STATEFUL_SETS};

/// How many steps are taken at once.
const BURST: usize = 500;

/// The step that one pod asks for.
enum Step {
    /// It is as it should be except for this; then the next pod is looked at.
    Go(Plan),
    /// Something has to be done, or to happen, before the next pod is looked at.
    Stop(Plan),
}

/// Steps that are taken, and whether they keep those after them from being taken.
#[derive(Default)]
struct Taken {
    plan: Plan,
    has_stopped: bool,
}

/// Takes one step after the other, until one stops the rest.
fn in_order(steps: &mut dyn Iterator<Item = Step>) -> Taken {
    let (mut taken, mut count) = (Taken::default(), 0_usize);
    while !taken.has_stopped
        && let Some(step) = steps.next()
    {
        let (next, stops) = match step {
            Step::Go(next) => (next, false),
            Step::Stop(next) => (next, true),
        };
        count = count.saturating_add(usize::from(!next.is_nothing()));
        taken.plan = taken.plan.and(next);
        taken.has_stopped = stops || count >= BURST;
    }
    taken
}

/// Takes steps in batches of 1, 2, 4, 8 …; the batch in which one fails is the last.
fn in_batches(steps: &mut dyn Iterator<Item = Step>) -> Taken {
    let (mut taken, mut count, mut size) = (Taken::default(), 0_usize, 1_usize);
    let mut plans = steps.map(|step| match step {
        Step::Go(next) | Step::Stop(next) => next,
    });
    while !taken.has_stopped {
        let batch: Vec<Plan> = plans.by_ref().take(size).collect();
        if batch.is_empty() {
            break;
        }
        count = count.saturating_add(batch.iter().filter(|plan| !plan.is_nothing()).count());
        taken.plan = taken.plan.and(Plan::all(batch));
        taken.has_stopped = count >= BURST;
        size = size.saturating_mul(2);
    }
    taken
}

impl Sync<'_> {
    /// Returns the next steps: first of the pods that are wanted, then of the surplus, then of the update.
    pub(super) fn act(&self) -> Plan {
        let take = if self.is_ordered() { in_order } else { in_batches };
        let wanted = take(&mut (self.start..self.end).map(|ordinal| self.wanted(ordinal)));
        if wanted.has_stopped {
            return wanted.plan;
        }
        let surplus = take(&mut self.surplus());
        let plan = wanted.plan.and(self.surplus_claims()).and(surplus.plan);
        if surplus.has_stopped { plan } else { plan.and(self.roll()) }
    }

    fn claims(&self, ordinal: Ordinal) -> Claims<'_> {
        Claims {
            owner: self.owner,
            view: self.view,
            ordinal,
            pod: self.pods.get(&ordinal).map(|pod| &**pod),
            is_surplus: !(self.start..self.end).contains(&ordinal),
        }
    }

    fn wanted(&self, ordinal: Ordinal) -> Step {
        let Some(pod) = self.pods.get(&ordinal) else { return Step::Stop(self.create(ordinal)) };
        if is_terminal(pod) && !pod.is_deleting() {
            return Step::Stop(self.delete(pod));
        }
        if pod.is_deleting() {
            return Step::Stop(Plan::nothing());
        }
        let claims = self.claims(ordinal);
        if pod.text("/status/phase") == "Pending" {
            return Step::Stop(claims.create().and(claims.keep()));
        }
        if !self.is_available(pod) {
            return Step::Stop(claims.keep().and(self.look_again(pod)));
        }
        let kept = claims.keep();
        match corrected(self.owner.object, pod, ordinal) {
            Some(changed) => Step::Go(kept.and(claims.create()).and(self.update(pod, &changed))),
            None => Step::Go(kept),
        }
    }

    /// Looks again when a pod that is ready is available.
    fn look_again(&self, pod: &Object) -> Plan {
        let left = time_to_available(pod, self.min_ready_seconds(), self.now);
        let left = left.filter(|left| !left.is_zero());
        left.into_iter().fold(Plan::nothing(), Plan::again_after)
    }

    /// Returns the pods that are too many, the highest ordinal first.
    fn condemned(&self) -> impl Iterator<Item = &Arc<Object>> {
        let pods = self.pods.iter().rev();
        pods.filter(|(ordinal, _)| !(self.start..self.end).contains(ordinal)).map(|(_, pod)| pod)
    }

    fn surplus(&self) -> impl Iterator<Item = Step> {
        let first_unhealthy = self.condemned().filter(|pod| !self.is_healthy(pod)).last();
        let first_unhealthy = first_unhealthy.map(|pod| pod.uid());
        let is_ordered = self.is_ordered();
        self.condemned().map(move |pod| {
            let may_go = self.is_available(pod) || Some(pod.uid()) == first_unhealthy;
            Step::Stop(match () {
                () if pod.is_deleting() => Plan::nothing(),
                () if may_go || !is_ordered => self.delete(pod),
                () => self.look_again(pod),
            })
        })
    }

    fn is_ordered(&self) -> bool {
        self.owner.object.text("/spec/podManagementPolicy") != "Parallel"
    }

    /// Ties the claims of surplus pods to these, or to the set.
    fn surplus_claims(&self) -> Plan {
        let ordinals =
            self.pods.keys().filter(|ordinal| !(self.start..self.end).contains(*ordinal));
        let kept = ordinals.map(|ordinal| self.claims(*ordinal).keep());
        kept.fold(Plan::nothing(), Plan::and)
    }

    /// Deletes the last pod of another revision, if those after it are available.
    fn roll(&self) -> Plan {
        let set = self.owner.object;
        if set.text("/spec/updateStrategy/type") != "RollingUpdate" {
            return Plan::nothing();
        }
        let first = self.start.saturating_add(self.partition());
        for ordinal in (first..self.end).rev() {
            let Some(pod) = self.pods.get(&ordinal) else { return Plan::nothing() };
            if revision_of(pod) != self.update.name() && !pod.is_deleting() {
                return self.delete(pod);
            }
            if pod.is_deleting() || !self.is_available(pod) {
                return self.look_again(pod);
            }
        }
        Plan::nothing()
    }

    fn partition(&self) -> i64 {
        self.owner.object.int("/spec/updateStrategy/rollingUpdate/partition").unwrap_or_default()
    }

    /// Creates the claims of a pod, then the pod: in the current revision if the update has not come to
    /// it.
    fn create(&self, ordinal: Ordinal) -> Plan {
        let set = self.owner.object;
        let is_rolling = set.text("/spec/updateStrategy/type") == "RollingUpdate";
        let is_before = ordinal < self.start.saturating_add(self.partition());
        let revision = if is_rolling && is_before { self.current } else { self.update };
        let pod = new_pod(&self.owner, revision, ordinal);
        let create = create_pod(&self.owner, &pod);
        self.claims(ordinal).create().and(self.request("Create", pod_name(set, ordinal), create))
    }

    fn delete(&self, pod: &Object) -> Plan {
        let delete = Request::delete(&PODS, pod.key(), &Value::Null);
        self.request("Delete", pod.name().to_owned(), delete)
    }

    fn update(&self, pod: &Object, changed: &Value) -> Plan {
        let update = Request::update(&PODS, pod.key(), changed);
        self.request("Update", pod.name().to_owned(), update)
    }

    /// Makes a request about a pod, with an event (CP-55).
    fn request(&self, verb: &'static str, pod: String, request: Request) -> Plan {
        let set = Arc::clone(self.owner.object);
        Plan::nothing().then(vec![request], move |outcomes| {
            let Some(outcome) = outcomes.first() else { return Plan::nothing() };
            let about = format!("{verb} Pod {pod} in StatefulSet {}", set.name());
            let event = match outcome.failure() {
                None => {
                    let reason = ["Successful", verb].concat();
                    Event::normal(&STATEFUL_SETS, &set, &reason, format!("{about} successful"))
                }
                Some(_) if !is_reported(outcome, verb) => {
                    return Plan::of_outcome(outcome).unwrap_or_default();
                }
                Some(failure) => {
                    let text = format!("{about} failed error: {}", failure.message);
                    Event::warning(&STATEFUL_SETS, &set, &["Failed", verb].concat(), text)
                }
            };
            Plan::nothing().event(event).and(Plan::of_outcome(outcome).unwrap_or_default())
        })
    }

    pub(super) fn is_running_and_ready(pod: &Object) -> bool {
        pod.text("/status/phase") == "Running" && is_ready(pod)
    }

    fn min_ready_seconds(&self) -> i64 {
        self.owner.object.int("/spec/minReadySeconds").unwrap_or_default()
    }

    pub(super) fn is_available(&self, pod: &Object) -> bool {
        let wanted = self.min_ready_seconds();
        Sync::is_running_and_ready(pod) && is_available(pod, wanted, self.now)
    }

    fn is_healthy(&self, pod: &Object) -> bool {
        self.is_available(pod) && !pod.is_deleting()
    }
}

/// Whether an event reports a failure: none does for a pod that exists already, or in a namespace
/// that is being deleted.
fn is_reported(outcome: &Outcome, verb: &str) -> bool {
    let is_there = verb == "Create" && outcome.code() == 409;
    !(is_there || outcome.is_of_terminating_namespace())
}
