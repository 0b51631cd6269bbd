//! Defaults, and which rules apply when. Objects of version 1 are validated and shown as what they
//! are in version 2.

use std::borrow::Cow;

use billhook_apimachinery::KubernetesVersion;
use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::record::{Record, RecordError, check_types, complete, fill_nulls};
use serde_json::{Map, Value, json};

use super::conversion::{ANNOTATIONS, METRICS, is_v1, pod_autoscaler_to_v1, pod_autoscaler_to_v2};
use super::{spec, targets};
use crate::behavior::{Behavior, Findings, WriteContext};
use crate::cells;
use crate::edition::EDITIONS;
use crate::values::{integer, items, object_mut, path, set_missing, text, value_at};
use crate::workloads::part;

/// The rules of HorizontalPodAutoscalers.
#[derive(Debug)]
pub(crate) struct PodAutoscaler;

impl Behavior for PodAutoscaler {
    /// A list of policies that is empty stays so.
    fn read(
        &self,
        object: &mut Value,
        record: &'static Record,
        kubernetes: KubernetesVersion,
    ) -> Result<Vec<String>, RecordError> {
        let unknown = check_types(object, record, kubernetes, None)?;
        fill_nulls(object, record);
        let directions = ["scaleUp", "scaleDown"].map(|direction| {
            let policies = value_at(object, &format!("/spec/behavior/{direction}/policies"));
            let is_empty = policies.and_then(Value::as_array).is_some_and(Vec::is_empty);
            (direction, is_empty)
        });
        complete(object, record, kubernetes);
        self.set_defaults(object, kubernetes);
        for (direction, _) in directions.into_iter().filter(|(_, is_empty)| *is_empty) {
            let rules = object.pointer_mut(&format!("/spec/behavior/{direction}"));
            if let Some(Value::Object(rules)) = rules {
                rules.remove("policies");
            }
        }
        Ok(unknown)
    }

    fn convert(
        &self,
        autoscaler: &mut Value,
        api_version: &str,
        kubernetes: KubernetesVersion,
    ) -> bool {
        match api_version {
            "autoscaling/v1" => pod_autoscaler_to_v1(autoscaler, kubernetes),
            "autoscaling/v2" => pod_autoscaler_to_v2(autoscaler, kubernetes),
            _ => return false,
        }
        true
    }

    /// In version 1, annotations have what only version 2 has fields for.
    fn written_annotations(&self) -> &'static [&'static str] {
        &ANNOTATIONS
    }

    fn set_defaults(&self, autoscaler: &mut Value, kubernetes: KubernetesVersion) {
        let is_v1 = is_v1(autoscaler);
        let Some(spec) = object_mut(autoscaler, "/spec") else { return };
        set_missing(spec, "minReplicas", 1);
        if is_v1 {
            return;
        }
        if items(spec, "/metrics").is_empty() {
            let target = json!({"type": "Utilization", "averageUtilization": 80});
            let metric = json!({"type": "Resource", "resource": {"name": "cpu", "target": target}});
            set_missing(spec, "metrics", vec![metric]);
        }
        if let Some(behavior) = object_mut(spec, "/behavior") {
            if !EDITIONS.of(kubernetes).has_tolerances {
                drop_tolerances(behavior);
            }
            set_missing(behavior, "scaleUp", Map::new());
            set_missing(behavior, "scaleDown", Map::new());
            if let Some(up) = object_mut(behavior, "/scaleUp") {
                set_missing(up, "stabilizationWindowSeconds", 0);
            }
            let all = json!({"type": "Percent", "value": 100, "periodSeconds": 15});
            let four = json!({"type": "Pods", "value": 4, "periodSeconds": 15});
            let policies = [("/scaleUp", vec![four, all.clone()]), ("/scaleDown", vec![all])];
            for (direction, policies) in policies {
                if let Some(rules) = object_mut(behavior, direction) {
                    set_missing(rules, "selectPolicy", "Max");
                    set_missing(rules, "policies", policies);
                }
            }
        }
    }

    /// Objects of version 1 have the metric that is the default of those of version 2, which they are
    /// stored as.
    fn prepare(&self, autoscaler: &mut Value, _: Option<&Value>, _: &WriteContext<'_>) {
        let annotations = value_at(autoscaler, "/metadata/annotations");
        let has_metrics = annotations.is_some_and(|all| all.get(METRICS).is_some());
        if is_v1(autoscaler)
            && !has_metrics
            && let Some(spec) = object_mut(autoscaler, "/spec")
        {
            set_missing(spec, "targetCPUUtilizationPercentage", 80);
        }
    }

    fn validate(
        &self,
        autoscaler: &Value,
        old: Option<&Value>,
        context: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        let autoscaler = in_v2(autoscaler);
        let errors = &mut found.errors;
        if context.subresource == "status" {
            let counters = ["currentReplicas", "desiredReplicas"];
            let status = part(&autoscaler, "/status");
            return crate::rules::members_not_negative(
                errors,
                &path(&["status"]),
                status,
                &counters,
            );
        }
        let old = old.map(in_v2);
        let old = old.as_deref().and_then(|old| old.get("spec"));
        spec::validate(part(&autoscaler, "/spec"), old, context, errors);
    }

    fn cells(&self, object: &Value, now: Time) -> Vec<Value> {
        let object = in_v2(object);
        let target = part(&object, "/spec/scaleTargetRef");
        let reference = format!("{}/{}", text(target, "/kind"), text(target, "/name"));
        let min = integer(&object, "/spec/minReplicas");
        let number = |place| integer(&object, place).unwrap_or_default().into();
        vec![
            cells::name(&object),
            reference.into(),
            targets::cell(&object).into(),
            min.map_or_else(|| "<unset>".to_owned(), |min| min.to_string()).into(),
            number("/spec/maxReplicas"),
            number("/status/currentReplicas"),
            cells::created(&object, now),
        ]
    }
}

/// The object in version 2.
fn in_v2(autoscaler: &Value) -> Cow<'_, Value> {
    if !is_v1(autoscaler) {
        return Cow::Borrowed(autoscaler);
    }
    let mut autoscaler = autoscaler.clone();
    let kubernetes = KubernetesVersion::default();
    pod_autoscaler_to_v2(&mut autoscaler, kubernetes);
    Cow::Owned(autoscaler)
}

/// Drops what a server does not keep (BK-770).
fn drop_tolerances(behavior: &mut Value) {
    for direction in ["/scaleUp", "/scaleDown"] {
        if let Some(Value::Object(rules)) = object_mut(behavior, direction) {
            rules.remove("tolerance");
        }
    }
}
