//! The rules of pods.

use billhook_apimachinery::KubernetesVersion;
use billhook_apimachinery::metadata::Time;
use serde_json::Value;

use super::{defaults, prepare, table};
use crate::behavior::{Behavior, WriteContext};
use crate::values::object_mut;

/// The rules of pods.
#[derive(Debug)]
pub(crate) struct Pod;

impl Behavior for Pod {
    fn set_defaults(&self, pod: &mut Value, kubernetes: KubernetesVersion) {
        if let Some(spec) = object_mut(pod, "/spec") {
            defaults::of_spec(spec, kubernetes);
        }
        defaults::of_pod(pod, kubernetes);
    }

    fn prepare(&self, pod: &mut Value, old: Option<&Value>, context: &WriteContext<'_>) {
        match old {
            None => prepare::create(pod, context),
            Some(old) => prepare::update(pod, old, context),
        }
    }

    fn cells(&self, pod: &Value, now: Time) -> Vec<Value> {
        table::cells(pod, now)
    }
}
