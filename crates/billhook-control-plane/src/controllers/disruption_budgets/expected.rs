//! How many pods a budget expects, and how many of them it wants to be healthy.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use crate::object::Object;
use crate::resource::{DEPLOYMENTS, REPLICA_SETS};
use crate::scale::ScaleTarget;
use crate::view::View;

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

/// Finds the scale of a controller.
///
/// # Errors
///
/// Why it has none.
pub(super) fn scale(
    view: &View,
    namespace: &str,
    reference: &Value,
) -> Result<ScaleTarget, String> {
    let text = |name: &str| reference.get(name).and_then(Value::as_str).unwrap_or_default();
    let Some(target) = ScaleTarget::of_reference(view, namespace, reference) else {
        let (kind, version) = (text("kind"), text("apiVersion"));
        return Err(format!("no matches for kind \"{kind}\" in version \"{version}\""));
    };
    match target.is_scalable {
        true => Ok(target),
        false => Err(format!("{} does not implement the scale subresource", target.resource)),
    }
}
