//! StatefulSets (BK-303).

use std::collections::BTreeSet;

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::names::dns1123_label;
use billhook_apimachinery::record::Type;
use billhook_apimachinery::record::show::show;
use billhook_apimachinery::value::deep_eq;
use billhook_apimachinery::{FieldError, FieldPath, KubernetesVersion};
use serde_json::{Map, Value, json};

use super::template;
use crate::behavior::{Behavior, Findings, WriteContext};
use crate::core::{pod_template, volume_claim};
use crate::edition::EDITIONS;
use crate::generated::apps_v1::STATEFUL_SET_UPDATE_STRATEGY;
use crate::values::{
    integer, items, items_mut, object_mut, path, section, set_missing, text, value_at,
};
use crate::workloads::{
    amount, at_most_replicas, available_at_most_ready, containers, invalid_selector,
    is_empty_selector, not_decremented, part, runs_always, template_labels,
};
use crate::{cells, rules};

/// The rules of StatefulSets.
#[derive(Debug)]
pub(crate) struct StatefulSet;

impl Behavior for StatefulSet {
    fn set_defaults(&self, stateful_set: &mut Value, kubernetes: KubernetesVersion) {
        let Some(spec) = object_mut(stateful_set, "/spec") else { return };
        set_missing(spec, "podManagementPolicy", "OrderedReady");
        set_missing(spec, "replicas", 1);
        set_missing(spec, "revisionHistoryLimit", 10);
        set_missing(spec, "persistentVolumeClaimRetentionPolicy", Map::new());
        if let Some(policy) = object_mut(spec, "/persistentVolumeClaimRetentionPolicy") {
            set_missing(policy, "whenDeleted", "Retain");
            set_missing(policy, "whenScaled", "Retain");
        }
        if let Some(strategy) = object_mut(spec, "/updateStrategy") {
            if text(strategy, "/type").is_empty() {
                set_missing(strategy, "type", "RollingUpdate");
                set_missing(strategy, "rollingUpdate", Map::new());
            }
            if text(strategy, "/type") == "RollingUpdate"
                && let Some(rolling) = object_mut(strategy, "/rollingUpdate")
            {
                set_missing(rolling, "partition", 0);
            }
        }
        if let Some(template) = object_mut(spec, "/template") {
            pod_template::set_defaults(template, kubernetes);
        }
        for claim in items_mut(spec, "/volumeClaimTemplates") {
            set_claim_defaults(claim, kubernetes);
        }
    }

    /// No server lets more than one pod be unavailable, unless the stored object says so (BK-29).
    fn prepare(&self, stateful_set: &mut Value, old: Option<&Value>, _: &WriteContext<'_>) {
        let place = "/spec/updateStrategy/rollingUpdate";
        let is_set =
            |rolling: &Value| rolling.get("maxUnavailable").is_some_and(|max| !max.is_null());
        if old.and_then(|old| value_at(old, place)).is_some_and(is_set) {
            return;
        }
        if let Some(Value::Object(rolling)) = stateful_set.pointer_mut(place) {
            rolling.remove("maxUnavailable");
        }
    }

    fn validate(
        &self,
        stateful_set: &Value,
        old: Option<&Value>,
        context: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        if context.subresource == "status" {
            return validate_status(stateful_set, old, &mut found.errors);
        }
        let spec = part(stateful_set, "/spec");
        validate_policies(spec, &mut found.errors);
        let at = path(&["spec"]);
        let errors = &mut found.errors;
        rules::members_not_negative(errors, &at, spec, &["replicas", "minReadySeconds"]);
        let ordinals = part(spec, "/ordinals");
        rules::members_not_negative(errors, &at.clone().name("ordinals"), ordinals, &["start"]);
        if old.is_none() {
            validate_new(spec, context, found);
        }
        validate_selector(stateful_set, old, context, found);
        let pods = part(spec, "/template");
        runs_always(&mut found.errors, &at.clone().name("template"), pods, "StatefulSet");
        if let Some(old) = old {
            validate_change(spec, part(old, "/spec"), context, &mut found.errors);
        }
        if integer(spec, "/revisionHistoryLimit").is_some_and(|limit| limit < 0) {
            let warning = "spec.revisionHistoryLimit: a negative value retains all historical \
                 revisions; a value >= 0 is recommended";
            found.warnings.push(warning.to_owned());
        }
    }

    fn cells(&self, object: &Value, now: Time) -> Vec<Value> {
        let number = |place| integer(object, place).unwrap_or_default();
        let ready = format!("{}/{}", number("/status/readyReplicas"), number("/spec/replicas"));
        let [names, images] = containers(part(object, "/spec/template"));
        vec![cells::name(object), ready.into(), cells::created(object, now), names, images]
    }
}

/// Templates of claims are printed as claims are.
fn set_claim_defaults(claim: &mut Value, kubernetes: KubernetesVersion) {
    if let Some(status) = section(claim, "status") {
        let phase = status.entry("phase").or_insert_with(|| "Pending".into());
        if phase == "" {
            *phase = "Pending".into();
        }
    }
    if let Some(spec) = object_mut(claim, "/spec") {
        volume_claim::set_defaults(spec, kubernetes);
    }
    if let Value::Object(members) = claim {
        members.insert("kind".to_owned(), "PersistentVolumeClaim".into());
        members.insert("apiVersion".to_owned(), "v1".into());
    }
}

fn validate_policies(spec: &Value, errors: &mut Vec<FieldError>) {
    let at = path(&["spec"]);
    let policy = text(spec, "/podManagementPolicy");
    if !["OrderedReady", "Parallel"].contains(&policy) {
        let detail = "must be 'OrderedReady' or 'Parallel'";
        let at = at.clone().name("podManagementPolicy");
        errors.push(FieldError::invalid(at, policy, detail));
    }
    let strategy = part(spec, "/updateStrategy");
    validate_strategy(strategy, &at.clone().name("updateStrategy"), errors);
    let retention = part(spec, "/persistentVolumeClaimRetentionPolicy");
    for name in ["whenDeleted", "whenScaled"] {
        let at = at.clone().name("persistentVolumeClaimRetentionPolicy").name(name);
        let policy = retention.get(name).and_then(Value::as_str).unwrap_or_default();
        rules::one_of(errors, &at, policy, &["Retain", "Delete"]);
    }
}

fn validate_strategy(strategy: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let rolling = part(strategy, "/rollingUpdate");
    let at = path.clone().name("rollingUpdate");
    match text(strategy, "/type") {
        "OnDelete" if !rolling.is_null() => {
            let detail = "only allowed for updateStrategy 'RollingUpdate'";
            let shown = show(
                Some(rolling),
                Type::Record(|| &crate::generated::apps_v1::ROLLING_UPDATE_STATEFUL_SET_STRATEGY),
            );
            errors.push(FieldError::invalid(at, rolling.clone(), detail).show_value_as(shown));
        }
        "OnDelete" => {}
        "RollingUpdate" => {
            rules::members_not_negative(errors, &at, rolling, &["partition"]);
            let max = part(rolling, "/maxUnavailable");
            let at = at.name("maxUnavailable");
            if !max.is_null() {
                rules::int_or_percent(errors, &at, max);
                if amount(max) == 0 {
                    errors.push(FieldError::invalid(at.clone(), max.clone(), "cannot be 0"));
                }
                rules::at_most_100_percent(errors, &at, max);
            }
        }
        _ => {
            let shown = show(Some(strategy), Type::Record(|| &STATEFUL_SET_UPDATE_STRATEGY));
            let detail = "must be 'RollingUpdate' or 'OnDelete'";
            let error = FieldError::invalid(path.clone(), strategy.clone(), detail);
            errors.push(error.show_value_as(shown));
        }
    }
}

/// Validates the fields that only matter in new objects.
fn validate_new(spec: &Value, context: &WriteContext<'_>, found: &mut Findings) {
    let at = path(&["spec"]);
    let service = text(spec, "/serviceName");
    if !service.is_empty() {
        rules::named(&mut found.errors, &at.clone().name("serviceName"), service, dns1123_label);
    }
    for (index, claim) in items(spec, "/volumeClaimTemplates").iter().enumerate() {
        let at = at.clone().name("volumeClaimTemplates").index(index).name("spec");
        volume_claim::warn(&mut found.warnings, &at, part(claim, "/spec"));
    }
    if !EDITIONS.of(context.kubernetes).validates_claims {
        return;
    }
    for (index, claim) in items(spec, "/volumeClaimTemplates").iter().enumerate() {
        let at = at.clone().name("volumeClaimTemplates").index(index).name("spec");
        volume_claim::validate_spec(part(claim, "/spec"), &at, context, found);
    }
}

fn validate_selector(
    stateful_set: &Value,
    old: Option<&Value>,
    context: &WriteContext<'_>,
    found: &mut Findings,
) {
    let (spec, at) = (part(stateful_set, "/spec"), path(&["spec", "selector"]));
    let selector = part(spec, "/selector");
    if selector.is_null() {
        found.errors.push(FieldError::required(at.clone(), ""));
    }
    rules::label_selector(&mut found.errors, &at, Some(selector), context.kubernetes);
    if is_empty_selector(selector) {
        let detail = "empty selector is invalid for statefulset";
        found.errors.push(invalid_selector(&at, selector, detail));
    }
    let Some(parsed) = template::selector_of(stateful_set, context) else {
        return found.errors.push(invalid_selector(&at, selector, ""));
    };
    let pods = part(spec, "/template");
    template_labels(&mut found.errors, &path(&["spec", "template"]), pods, &parsed);
    let pods = with_claims(pods, items(spec, "/volumeClaimTemplates"));
    template::validate_as(&pods, stateful_set, old, context, found);
}

/// Returns a template with the volumes of its claims, which hide volumes of the same name.
fn with_claims(template: &Value, claims: &[Value]) -> Value {
    let mut template = template.clone();
    if let Some(spec) = section(&mut template, "spec")
        && !claims.is_empty()
    {
        let name_of = |claim| text(claim, "/metadata/name");
        let volume = |claim| {
            let name = name_of(claim);
            json!({"name": name, "persistentVolumeClaim": {"claimName": name}})
        };
        let volumes = spec.get("volumes").and_then(Value::as_array);
        let claimed: BTreeSet<&str> = claims.iter().map(name_of).collect();
        let is_hidden = |volume: &&Value| claimed.contains(text(volume, "/name"));
        let others = volumes.into_iter().flatten().filter(|volume| !is_hidden(volume)).cloned();
        let all: Vec<Value> = claims.iter().map(volume).chain(others).collect();
        spec.insert("volumes".to_owned(), all.into());
    }
    template
}

fn validate_change(
    spec: &Value,
    old: &Value,
    context: &WriteContext<'_>,
    errors: &mut Vec<FieldError>,
) {
    // Newer servers keep another number of revisions.
    let keeps_limit = !EDITIONS.of(context.kubernetes).has_mutable_history;
    let mutable = [
        "replicas",
        "ordinals",
        "template",
        "updateStrategy",
        "persistentVolumeClaimRetentionPolicy",
        "minReadySeconds",
        if keeps_limit { "" } else { "revisionHistoryLimit" },
    ];
    let fixed = |spec: &Value| {
        let mut spec = spec.clone();
        if let Value::Object(members) = &mut spec {
            members.retain(|name, _| !mutable.contains(&name.as_str()));
        }
        spec
    };
    if !deep_eq(&fixed(spec), &fixed(old)) {
        let limit = if keeps_limit { "" } else { "'revisionHistoryLimit', " };
        let detail = format!(
            "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', \
             'updateStrategy', {limit}'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' \
             are forbidden"
        );
        errors.push(FieldError::forbidden(path(&["spec"]), &detail));
    }
}

fn validate_status(stateful_set: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    let (status, at) = (part(stateful_set, "/status"), path(&["status"]));
    let parts = ["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"];
    rules::members_not_negative(errors, &at, status, &["replicas"]);
    rules::members_not_negative(errors, &at, status, &parts);
    rules::members_not_negative(errors, &at, status, &["observedGeneration", "collisionCount"]);
    at_most_replicas(errors, &at, status, &parts);
    let detail = "cannot be greater than status.readyReplicas";
    available_at_most_ready(errors, &at, status, detail);
    if let Some(old) = old {
        not_decremented(errors, &at, status, part(old, "/status"), "collisionCount");
    }
}
