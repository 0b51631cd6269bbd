//! Disruption budgets know how many pods are healthy, and how many may be disrupted (CP-80).

mod expected;
mod status;

use std::sync::Arc;

use billhook_kinds::selector_text;

use self::expected::{Counting, Size, Wanted, controllers};
use self::status::{disrupted, failed, write};
use crate::account::Account;
use crate::clock::Timestamp;
use crate::controller::{Controller, Keys};
use crate::event::Event;
use crate::object::Object;
use crate::ownership::selector_of;
use crate::plan::Plan;
use crate::request::Request;
use crate::resource::{DISRUPTION_BUDGETS, PODS, Resource};
use crate::view::{Change, View};

#[derive(Debug)]
pub(crate) struct DisruptionBudgets;

impl Controller for DisruptionBudgets {
    fn name(&self) -> &'static str {
        "disruption-controller"
    }

    fn account(&self) -> Account {
        Account::of_controller(self.name())
    }

    fn event_source(&self) -> &'static str {
        "controllermanager"
    }

    fn watches(&self) -> Vec<&'static Resource> {
        vec![&DISRUPTION_BUDGETS, &PODS]
    }

    fn concerns(&self, change: &Change, view: &View, keys: &mut Keys) {
        if keys.add_changed(change, &DISRUPTION_BUDGETS) {
            return;
        }
        let Some(pod) = change.object() else { return };
        let budgets = view.list(&DISRUPTION_BUDGETS, pod.namespace());
        let covers = |budget: &&Arc<Object>| {
            let selector = selector_of(budget);
            change.objects().any(|pod| selector.matches(pod.labels()))
        };
        budgets.filter(covers).for_each(|budget| keys.add(budget.key()));
    }

    fn sync(&self, key: &str, view: &View, now: Timestamp) -> Plan {
        let Some(budget) = view.get(&DISRUPTION_BUDGETS, key) else { return Plan::nothing() };
        let selector = selector_of(budget);
        let pods = view.list(&PODS, budget.namespace());
        let pods: Vec<_> = pods.filter(|pod| selector.matches(pod.labels())).cloned().collect();
        let disrupted = disrupted(budget, &pods, now);
        let mut plan = Plan::nothing();
        if pods.is_empty() {
            let message = "No matching pods found".to_owned();
            plan = plan.event(Event::normal(&DISRUPTION_BUDGETS, budget, "NoPods", message));
        }
        for pod in &disrupted.overdue {
            let message = format!("Pod was expected by PDB {key} to be deleted but it wasn't");
            plan = plan.event(Event::warning(&PODS, pod, "NotDeleted", message));
        }
        if let Some(again) = disrupted.again {
            plan = plan.again_after(again);
        }
        let wanted = Wanted::of_budget(budget);
        if let Counting::Pods(desired) = wanted.counting() {
            let expected = i64::try_from(pods.len()).unwrap_or(i64::MAX);
            return plan.and(write(budget, &pods, &disrupted, [expected, desired], now));
        }
        plan.and(count_replicas(budget, view, pods, disrupted, wanted, now))
    }
}

/// Adds up how many pods their controllers want, and asks those of custom resources; then writes the status.
fn count_replicas(
    budget: &Arc<Object>,
    view: &View,
    pods: Vec<Arc<Object>>,
    disrupted: status::Disrupted,
    wanted: Wanted,
    now: Timestamp,
) -> Plan {
    let of_pods = controllers(view, &pods);
    let mut plan = Plan::nothing();
    if of_pods.are_missing {
        let message = format!(
            "Pods selected by this PodDisruptionBudget (selector: {}) were found to be unmanaged. As a \
             result, the status of the PDB cannot be calculated correctly, which may result in \
             undefined behavior. To account for these pods please set \".spec.minAvailable\" field of \
             the PDB to an integer value.",
            selector_text(budget.get("/spec/selector"))
        );
        plan = plan.event(Event::warning(&DISRUPTION_BUDGETS, budget, "UnmanagedPods", message));
    }
    let (mut known, mut scales) = (0_i64, Vec::new());
    for (reference, pod) in of_pods.references {
        match expected::size(view, budget.namespace(), &reference, &pod) {
            Ok(Size::Known(size)) => known = known.saturating_add(size),
            Ok(Size::Asked(target)) => scales.push((target, pod)),
            Err(why) => return plan.and(failed(budget, &why, now)),
        }
    }
    let budget = Arc::clone(budget);
    let requests = scales.iter().map(|(scale, _)| Request::read(&scale.path)).collect();
    plan.then(requests, move |outcomes| {
        for (outcome, (_, pod)) in outcomes.iter().zip(&scales) {
            match outcome.failure() {
                Some(_) if outcome.code() == 404 => {
                    return failed(&budget, &expected::missing(pod), now);
                }
                Some(failure) => return failed(&budget, &failure.message, now),
                None => {}
            }
        }
        let sizes = outcomes.iter().map(|it| it.object());
        let size = |scale: serde_json::Value| scale.pointer("/spec/replicas")?.as_i64();
        let expected = sizes.filter_map(size).fold(known, i64::saturating_add);
        let desired = wanted.desired(expected);
        write(&budget, &pods, &disrupted, [expected, desired], now)
    })
}
