//! Autoscalers: their bounds count, and a recommendation of the test; there are no metrics (CP-82).

mod metrics;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use self::metrics::{Missing, missing};
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
/// The annotation with the number of replicas that metrics would ask for.
const RECOMMENDED: &str = "billhook.dev/recommended-replicas";

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
            _ => match self.autoscaler.annotation(RECOMMENDED).and_then(|it| it.parse().ok()) {
                None => return self.without_metrics(),
                Some(recommended) => {
                    self.note_recommendation(recommended, min, max);
                    match recommended.clamp(min, max.max(min)) {
                        size if size == wanted => return self.note_match(size),
                        size if size > wanted => (size, "recommendation above target"),
                        size => (size, "All metrics below target"),
                    }
                }
            },
        };
        set(&mut scale, &["spec", "replicas"], size.into());
        let write = Request::replace(&target.path, &scale);
        Plan::nothing().then(vec![write], move |outcomes| match outcomes.first() {
            Some(outcome) if outcome.is_success() => self.note_size(size, why),
            failed => self.keep_size(size, why, &why_of(failed)),
        })
    }

    fn note_recommendation(&mut self, recommended: i64, min: i64, max: i64) {
        let message =
            "the HPA was able to successfully calculate a replica count from recommendation";
        self.condition(["ScalingActive", "True", "ValidMetricFound", message]);
        self.condition(match recommended {
            size if size > max => {
                let message = "the desired replica count is more than the maximum replica count";
                ["ScalingLimited", "True", "TooManyReplicas", message]
            }
            size if size < min => {
                let message = "the desired replica count is less than the minimum replica count";
                ["ScalingLimited", "True", "TooFewReplicas", message]
            }
            _ => {
                let message = "the desired count is within the acceptable range";
                ["ScalingLimited", "False", "DesiredWithinRange", message]
            }
        });
    }

    fn note_match(mut self, size: i64) -> Plan {
        let message = "recommended size matches current size";
        self.condition(["AbleToScale", "True", "ReadyForNewScale", message]);
        set(&mut self.status, &["desiredReplicas"], size.into());
        self.write()
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
        let missing: Vec<Missing> = {
            let namespace = self.autoscaler.namespace();
            let metrics = self.autoscaler.list("/spec/metrics").iter();
            metrics.map(|metric| missing(metric, namespace)).collect()
        };
        let known: Vec<Value> = missing.iter().map(|_| json!({"type": ""})).collect();
        set(&mut self.status, &["currentMetrics"], known.into());
        if self.status.get("desiredReplicas").is_none() {
            set(&mut self.status, &["desiredReplicas"], 0.into());
        }
        let Some(Missing { reason, message, what }) = missing.first() else {
            return self.write();
        };
        let text = format!("the HPA was unable to compute the replica count: {message}");
        self.condition(["ScalingActive", "False", reason, &text]);
        let count = missing.len();
        let all = format!(
            "invalid metrics ({count} invalid out of {count}), first error is: failed to get {what} \
             metric value: {message}"
        );
        let each = missing.iter().map(|it| self.warn(it.reason, it.message.clone()));
        let warned = each.fold(Plan::nothing(), Plan::and);
        warned.and(self.warn("FailedComputeMetricsReplicas", all)).and(self.write())
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
