//! How many pods a budget expects, and how many of them it wants to be healthy.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use crate::object::Object;
use crate::resource::{
    DEPLOYMENTS, REPLICA_SETS, REPLICATION_CONTROLLERS, Resource, STATEFUL_SETS,
};
use crate::scale::ScaleTarget;
use crate::view::View;

/// The resources whose sizes are in their specs.
static SCALED: [&Resource; 4] =
    [&DEPLOYMENTS, &REPLICA_SETS, &REPLICATION_CONTROLLERS, &STATEFUL_SETS];

/// The wish of a budget.
#[derive(Clone, Debug)]
pub(super) enum Wanted {
    Available(Value),
    Unavailable(Value),
}

/// The pods that a budget expects.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Counting {
    /// Its pods, of which so many are to be healthy.
    Pods(i64),
    /// The replicas that the controllers of its pods want.
    Replicas,
}

impl Wanted {
    pub(super) fn of_budget(budget: &Object) -> Self {
        match budget.get("/spec/maxUnavailable") {
            Value::Null => Wanted::Available(budget.get("/spec/minAvailable").clone()),
            unavailable => Wanted::Unavailable(unavailable.clone()),
        }
    }

    pub(super) fn counting(&self) -> Counting {
        match self {
            Wanted::Available(Value::String(_)) | Wanted::Unavailable(_) => Counting::Replicas,
            Wanted::Available(number) => Counting::Pods(number.as_i64().unwrap_or_default()),
        }
    }

    /// Returns how many of so many pods are to be healthy.
    pub(super) fn desired(&self, expected: i64) -> i64 {
        match self {
            Wanted::Available(wanted) => share_of(wanted, expected),
            Wanted::Unavailable(wanted) => {
                expected.saturating_sub(share_of(wanted, expected)).max(0)
            }
        }
    }
}

/// Returns a number, or a percentage of a total, rounded up.
fn share_of(wanted: &Value, total: i64) -> i64 {
    let percent = wanted.as_str().and_then(|text| text.strip_suffix('%')?.parse::<i64>().ok());
    match percent {
        Some(percent) => percent.saturating_mul(total).saturating_add(99).div_euclid(100),
        None => wanted.as_i64().unwrap_or_default(),
    }
}

/// The controllers of pods.
#[derive(Debug, Default)]
pub(super) struct Controllers {
    /// References to them, each once, and the name of a pod that has each.
    pub(super) references: Vec<(Value, String)>,
    /// Whether a pod has none.
    pub(super) are_missing: bool,
}

/// Finds the controllers of pods: of a ReplicaSet that a Deployment controls, the Deployment.
pub(super) fn controllers(view: &View, pods: &[Arc<Object>]) -> Controllers {
    let mut found = Controllers::default();
    let mut uids = BTreeSet::new();
    for pod in pods {
        let Some(mut reference) = pod.controller() else {
            found.are_missing = true;
            continue;
        };
        let set = pod.controller_key(&REPLICA_SETS).and_then(|key| view.get(&REPLICA_SETS, &key));
        if let Some(set) = set
            && set.controller_key(&DEPLOYMENTS).is_some()
            && let Some(of_deployment) = set.controller()
        {
            reference = of_deployment;
        }
        if uids.insert(reference.get("uid").and_then(Value::as_str)) {
            found.references.push((reference.clone(), pod.name().to_owned()));
        }
    }
    found
}

/// How many pods a controller wants.
pub(super) enum Size {
    /// As the view says.
    Known(i64),
    /// As the answer to a request for its scale says.
    Asked(ScaleTarget),
}

/// Finds how many pods a controller wants.
///
/// # Errors
///
/// Why that is not known.
pub(super) fn size(
    view: &View,
    namespace: &str,
    reference: &Value,
    pod: &str,
) -> Result<Size, String> {
    let text = |name: &str| reference.get(name).and_then(Value::as_str).unwrap_or_default();
    let (kind, version) = (text("kind"), text("apiVersion"));
    let is_meant = |it: &&&Resource| it.kind == kind && it.is_api_version(version);
    if let Some(resource) = SCALED.iter().find(is_meant) {
        let key = [namespace, "/", text("name")].concat();
        let found = view.get(resource, &key).filter(|found| found.uid() == text("uid"));
        let found = found.ok_or_else(|| missing(pod))?;
        return Ok(Size::Known(found.int("/spec/replicas").unwrap_or(1)));
    }
    let Some(target) = ScaleTarget::of_reference(view, namespace, reference) else {
        return Err(format!("no matches for kind \"{kind}\" in version \"{version}\""));
    };
    match target.is_scalable {
        true => Ok(Size::Asked(target)),
        false => Err(format!("{} does not implement the scale subresource", target.resource)),
    }
}

/// Says that the controllers of a pod are gone.
pub(super) fn missing(pod: &str) -> String {
    format!("found no controllers for pod \"{pod}\"")
}
