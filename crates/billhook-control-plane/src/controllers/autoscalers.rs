//! Autoscalers: their bounds count, and there are no metrics (CP-82).

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::account::Account;
use crate::clock::Timestamp;
use crate::conditions::set_condition;
use crate::controller::{Controller, Keys};
use crate::document::set;
use crate::event::Event;
use crate::object::Object;
use crate::plan::Plan;
use crate::request::{Outcome, Request};
use crate::resource::{POD_AUTOSCALERS, Resource};
use crate::scale::ScaleTarget;
use crate::view::{Change, View};

/// How often it looks.
const PERIOD: Duration = Duration::from_secs(15);

#[derive(Debug)]
pub(crate) struct Autoscalers;

impl Controller for Autoscalers {
    fn name(&self) -> &'static str {
        "horizontal-pod-autoscaler-controller"
    }

    fn account(&self) -> Account {
        Account::of_controller(self.event_source())
    }

    fn event_source(&self) -> &'static str {
        "horizontal-pod-autoscaler"
    }

    fn watches(&self) -> Vec<&'static Resource> {
        vec![&POD_AUTOSCALERS]
    }

    fn concerns(&self, change: &Change, _: &View, keys: &mut Keys) {
        keys.add_changed(change, &POD_AUTOSCALERS);
    }

    fn sync(&self, key: &str, view: &View, now: Timestamp) -> Plan {
        let Some(autoscaler) = view.get(&POD_AUTOSCALERS, key) else { return Plan::nothing() };
        let again = Plan::nothing().again_after(PERIOD);
        let sync = Sync::new(autoscaler, now);
        let reference = autoscaler.get("/spec/scaleTargetRef");
        let target = ScaleTarget::of_reference(view, autoscaler.namespace(), reference);
        let Some(target) = target else {
            let kind = reference.get("kind").and_then(Value::as_str).unwrap_or_default();
            let why = format!("no matches for kind \"{kind}\"");
            return again.and(sync.without_scale(&why));
        };
        let read = Request::read(&target.path);
        again.then(vec![read], move |outcomes| match outcomes.first() {
            Some(scale) if scale.is_success() => sync.with_scale(&target, scale.object()),
            failed => sync.without_scale(&why_of(failed)),
        })
    }
}

fn why_of(outcome: Option<&Outcome>) -> String {
    outcome.and_then(Outcome::failure).map(|failure| failure.message).unwrap_or_default()
}

/// An autoscaler, and its status as it will be.
struct Sync {
    autoscaler: Arc<Object>,
    status: Value,
    conditions: Vec<Value>,
    now: Timestamp,
}

impl Sync {
    fn new(autoscaler: &Arc<Object>, now: Timestamp) -> Self {
        let status = autoscaler.get("/status").clone();
        let conditions = autoscaler.list("/status/conditions").to_vec();
        Sync { autoscaler: Arc::clone(autoscaler), status, conditions, now }
    }

    fn condition(&mut self, condition: [&str; 4]) {
        set_condition(&mut self.conditions, condition, self.now);
    }

    fn warn(&self, reason: &str, message: String) -> Plan {
        let event = Event::warning(&POD_AUTOSCALERS, &self.autoscaler, reason, message);
        Plan::nothing().event(event)
    }

    fn without_scale(mut self, why: &str) -> Plan {
        let message =
            format!("the HPA controller was unable to get the target's current scale: {why}");
        self.condition(["AbleToScale", "False", "FailedGetScale", &message]);
        self.warn("FailedGetScale", why.to_owned()).and(self.write())
    }

    /// Keeps the size of the target between the bounds.
    fn with_scale(mut self, target: &ScaleTarget, mut scale: Value) -> Plan {
        let message = "the HPA controller was able to get the target's current scale";
        self.condition(["AbleToScale", "True", "SucceededGetScale", message]);
        let wanted = scale.pointer("/spec/replicas").and_then(Value::as_i64).unwrap_or(0);
        let min = self.autoscaler.int("/spec/minReplicas").unwrap_or(1);
        let max = self.autoscaler.int("/spec/maxReplicas").unwrap_or(min);
        set(&mut self.status, &["currentReplicas"], wanted.into());
        let (size, why) = match wanted {
            0 if min != 0 => return self.note_disabled(),
            wanted if wanted > max => (max, "Current number of Replicas above Spec.MaxReplicas"),
            wanted if wanted < min => (min, "Current number of Replicas below Spec.MinReplicas"),
            _ => return self.without_metrics(),
        };
        set(&mut scale, &["spec", "replicas"], size.into());
        let write = Request::replace(&target.path, &scale);
        Plan::nothing().then(vec![write], move |outcomes| match outcomes.first() {
            Some(outcome) if outcome.is_success() => self.note_size(size, why),
            failed => self.keep_size(size, why, &why_of(failed)),
        })
    }

    fn note_size(mut self, size: i64, why: &str) -> Plan {
        let message = format!("the HPA controller was able to update the target scale to {size}");
        self.condition(["AbleToScale", "True", "SucceededRescale", &message]);
        set(&mut self.status, &["desiredReplicas"], size.into());
        set(&mut self.status, &["lastScaleTime"], self.now.to_rfc3339().into());
        let message = format!("New size: {size}; reason: {why}");
        let event = Event::normal(&POD_AUTOSCALERS, &self.autoscaler, "SuccessfulRescale", message);
        Plan::nothing().event(event).and(self.write())
    }

    fn keep_size(mut self, size: i64, because: &str, why: &str) -> Plan {
        let message = format!("the HPA controller was unable to update the target scale: {why}");
        self.condition(["AbleToScale", "False", "FailedUpdateScale", &message]);
        let message = format!("New size: {size}; reason: {because}; error: {why}");
        self.warn("FailedRescale", message).and(self.write())
    }

    fn note_disabled(mut self) -> Plan {
        let message = "scaling is disabled since the replica count of the target is zero";
        self.condition(["ScalingActive", "False", "ScalingDisabled", message]);
        set(&mut self.status, &["desiredReplicas"], 0.into());
        self.write()
    }

    /// Says that the metrics that the size would follow are not there.
    fn without_metrics(mut self) -> Plan {
        let metrics = self.autoscaler.list("/spec/metrics");
        let known: Vec<Value> = metrics.iter().map(|_| json!({"type": ""})).collect();
        let first = metrics.first().map(missing);
        set(&mut self.status, &["currentMetrics"], known.into());
        if self.status.get("desiredReplicas").is_none() {
            set(&mut self.status, &["desiredReplicas"], 0.into());
        }
        let Some(Missing { reason, message }) = first else { return self.write() };
        let text = format!("the HPA was unable to compute the replica count: {message}");
        self.condition(["ScalingActive", "False", reason, &text]);
        self.warn(reason, message).and(self.write())
    }

    fn write(mut self) -> Plan {
        set(&mut self.status, &["conditions"], self.conditions.into());
        if self.status == *self.autoscaler.get("/status") {
            return Plan::nothing();
        }
        let mut changed = self.autoscaler.copy();
        set(&mut changed, &["status"], self.status);
        let key = self.autoscaler.key();
        Plan::nothing().request(Request::update_in(&POD_AUTOSCALERS, key, "status", &changed))
    }
}

/// Why a metric cannot be had.
struct Missing {
    reason: &'static str,
    message: String,
}

fn missing(metric: &Value) -> Missing {
    let text = |pointer: &str| metric.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let (kind, reason) = match text("/type") {
        "Resource" => ("/resource", "FailedGetResourceMetric"),
        "ContainerResource" => ("/containerResource", "FailedGetContainerResourceMetric"),
        "Pods" => return custom("FailedGetPodsMetric", text("/pods/metric/name")),
        "Object" => return custom("FailedGetObjectMetric", text("/object/metric/name")),
        _ => return custom("FailedGetExternalMetric", text("/external/metric/name")),
    };
    let name = text(&format!("{kind}/name"));
    let of = match text(&format!("{kind}/target/type")) {
        "Utilization" => "utilization",
        _ => "usage",
    };
    let message = format!(
        "failed to get {name} {of}: unable to get metrics for resource {name}: unable to fetch \
         metrics from resource metrics API: the server could not find the requested resource (get \
         pods.metrics.k8s.io)"
    );
    Missing { reason, message }
}

fn custom(reason: &'static str, name: &str) -> Missing {
    Missing { reason, message: format!("unable to get metric {name}: no API has it") }
}
