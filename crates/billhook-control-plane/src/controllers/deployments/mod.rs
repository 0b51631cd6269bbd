//! Deployments bring their ReplicaSets to a new template (CP-30 to CP-39).

mod conditions;
mod history;
mod new_set;
mod proportion;
mod rollback;
mod rolling;
mod sets;
mod size;
mod status;

use std::sync::Arc;

use self::history::clean_up;
use self::sets::{Sets, is_active, size_of};
use self::size::Sizes;
pub(super) use self::size::scaled;
use self::status::Status;
use crate::account::Account;
use crate::clock::Timestamp;
use crate::controller::{Controller, Keys};
use crate::event::Event;
use crate::object::Object;
use crate::ownership::{Owner, selector_of};
use crate::plan::Plan;
use crate::pods::is_terminal;
use crate::resource::{DEPLOYMENTS, PODS, REPLICA_SETS, Resource};
use crate::view::{Change, View};

#[derive(Debug)]
pub(crate) struct Deployments;

impl Controller for Deployments {
    fn name(&self) -> &'static str {
        "deployment-controller"
    }

    fn account(&self) -> Account {
        Account::of_controller("deployment-controller")
    }

    fn max_tries(&self) -> Option<u32> {
        Some(15)
    }

    fn watches(&self) -> Vec<&'static Resource> {
        vec![&DEPLOYMENTS, &REPLICA_SETS, &PODS]
    }

    fn concerns(&self, change: &Change, view: &View, keys: &mut Keys) {
        if keys.add_changed(change, &DEPLOYMENTS) {
            return;
        }
        if change.is_of(&PODS) {
            add_recreated(change, view, keys);
            return;
        }
        keys.add_controllers(change, &DEPLOYMENTS);
        // A set without a controller may be adopted.
        let Some(set) = change.after.as_ref().filter(|set| set.controller().is_none()) else {
            return;
        };
        let deployments = view.list(&DEPLOYMENTS, set.namespace());
        let wants = |deployment: &&Arc<Object>| selector_of(deployment).matches(set.labels());
        deployments.filter(wants).for_each(|deployment| keys.add(deployment.key()));
    }

    fn sync(&self, key: &str, view: &View, now: Timestamp) -> Plan {
        let Some(deployment) = view.get(&DEPLOYMENTS, key) else { return Plan::nothing() };
        let selector = selector_of(deployment);
        if selector.is_everything() {
            let message =
                "This deployment is selecting all pods. A non-empty selector is required.";
            let event =
                Event::warning(&DEPLOYMENTS, deployment, "SelectingAll", message.to_owned());
            return Plan::nothing().event(event);
        }
        let owner = Owner { resource: &DEPLOYMENTS, object: deployment };
        let claimed = owner.claim(view, &REPLICA_SETS, &selector, |_| true);
        let sets = Sets::new(deployment, claimed.objects);
        let sizes = Sizes::of(deployment);
        claimed.plan.and(Rollout { owner, view, sets, sizes, now }.sync())
    }
}

/// Adds the Deployment that waits for a deleted pod to be gone, if one does (CP-33).
fn add_recreated(change: &Change, view: &View, keys: &mut Keys) {
    let ended = change.before.as_ref().filter(|_| change.after.as_deref().is_none_or(is_terminal));
    let set = ended.and_then(|pod| view.get(&REPLICA_SETS, &pod.controller_key(&REPLICA_SETS)?));
    let Some(key) = set.and_then(|set| set.controller_key(&DEPLOYMENTS)) else { return };
    if view.get(&DEPLOYMENTS, &key).is_some_and(|it| recreates(it)) {
        keys.add(&key);
    }
}

fn recreates(deployment: &Object) -> bool {
    deployment.text("/spec/strategy/type") == "Recreate"
}

/// A Deployment, its sets, and the numbers that its strategy allows.
struct Rollout<'s> {
    owner: Owner<'s>,
    view: &'s View,
    sets: Sets,
    sizes: Sizes,
    now: Timestamp,
}

impl Rollout<'_> {
    fn deployment(&self) -> &Arc<Object> {
        self.owner.object
    }

    /// Returns the next step; what it writes brings the key back.
    fn sync(&self) -> Plan {
        let deployment = self.deployment();
        if deployment.is_deleting() {
            return self.write_status();
        }
        if let Some(plan) = conditions::pause(deployment, self.now) {
            return plan;
        }
        if deployment.get("/spec/paused").as_bool() == Some(true) {
            return self
                .update_new_set()
                .or_else(|| self.scale())
                .unwrap_or_else(|| clean_up(deployment, &self.sets.old).and(self.write_status()));
        }
        if let Some(revision) = rollback::wanted(deployment) {
            return rollback::to(deployment, &self.sets, revision);
        }
        if self.is_scaled() {
            let plan = self.update_new_set().or_else(|| self.scale());
            return plan.unwrap_or_else(|| self.write_status());
        }
        match recreates(deployment) {
            true => self.recreate(),
            false => self.roll(),
        }
    }

    /// Whether the wanted number has changed since the sets were scaled.
    fn is_scaled(&self) -> bool {
        let mut active = self.sets.all().filter(|set| is_active(set));
        active.any(|set| sets::desired(set).is_some_and(|desired| desired != self.sizes.replicas))
    }

    /// CP-33.
    fn recreate(&self) -> Plan {
        let active = self.sets.old.iter().filter(|set| is_active(set));
        let scaled: Vec<_> = active.map(|set| self.scale_set(set, 0)).collect();
        if !scaled.is_empty() {
            return scaled.into_iter().fold(Plan::nothing(), Plan::and);
        }
        if self.has_old_pods() {
            return self.write_progress();
        }
        if let Some(plan) = self.update_new_set().or_else(|| self.create_new_set()) {
            return plan;
        }
        let new = self.sets.new.as_ref();
        match new.filter(|new| size_of(new) != self.sizes.replicas) {
            Some(new) => self.scale_set(new, self.sizes.replicas),
            None => self.finish(),
        }
    }

    /// Whether there are pods of old sets that are not done.
    fn has_old_pods(&self) -> bool {
        let mut pods = self.sets.old.iter().flat_map(|set| self.view.controlled(&PODS, set.uid()));
        pods.any(|pod| !is_terminal(pod))
    }

    /// CP-32: one step.
    fn roll(&self) -> Plan {
        let plan = self.update_new_set().or_else(|| self.create_new_set());
        plan.or_else(|| self.step()).unwrap_or_else(|| self.finish())
    }

    /// Cleans up after a rollout that is complete, and writes the status.
    fn finish(&self) -> Plan {
        let is_complete = Status::of(self).is_complete(self.deployment());
        let cleaned = match is_complete {
            true => clean_up(self.deployment(), &self.sets.old),
            false => Plan::nothing(),
        };
        cleaned.and(self.write_progress())
    }
}
