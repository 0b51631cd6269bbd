//! DaemonSets (BK-304).

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::record::Type;
use billhook_apimachinery::record::show::show;
use billhook_apimachinery::value::deep_eq;
use billhook_apimachinery::{FieldError, FieldPath, KubernetesVersion};
use serde_json::{Map, Value};

use super::template;
use crate::behavior::{Behavior, Findings, WriteContext};
use crate::core::pod_template;
use crate::generated::apps_v1::DAEMON_SET_UPDATE_STRATEGY;
use crate::values::{integer, object_mut, path, section, set_missing, text, value_at};
use crate::workloads::{
    amount, containers, immutable_selector, invalid_selector, is_empty_selector, labels_cell,
    not_decremented, part, runs_always, selector_cell, template_labels,
};
use crate::{cells, rules};

/// The annotation that counts the templates of a DaemonSet.
const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

/// The rules of DaemonSets.
#[derive(Debug)]
pub(crate) struct DaemonSet;

impl Behavior for DaemonSet {
    fn set_defaults(&self, daemon_set: &mut Value, kubernetes: KubernetesVersion) {
        set_template_generation(daemon_set, 0, true);
        let Some(spec) = object_mut(daemon_set, "/spec") else { return };
        set_missing(spec, "revisionHistoryLimit", 10);
        if let Some(strategy) = object_mut(spec, "/updateStrategy") {
            set_missing(strategy, "type", "RollingUpdate");
            if text(strategy, "/type") == "RollingUpdate" {
                set_missing(strategy, "rollingUpdate", Map::new());
                if let Some(rolling) = object_mut(strategy, "/rollingUpdate") {
                    set_missing(rolling, "maxUnavailable", 1);
                    set_missing(rolling, "maxSurge", 0);
                }
            }
        }
        if let Some(template) = object_mut(spec, "/template") {
            pod_template::set_defaults(template, kubernetes);
        }
    }

    /// Counts the templates.
    fn prepare(&self, daemon_set: &mut Value, old: Option<&Value>, _: &WriteContext<'_>) {
        let place = format!("/metadata/annotations/{TEMPLATE_GENERATION}");
        let generation = match old {
            None => 1,
            Some(old) => {
                let is_changed =
                    !deep_eq(part(daemon_set, "/spec/template"), part(old, "/spec/template"));
                let before: i64 = text(old, &place).parse().unwrap_or_default();
                before.saturating_add(is_changed.into())
            }
        };
        set_template_generation(daemon_set, generation, false);
    }

    fn written_annotations(&self) -> &'static [&'static str] {
        &[TEMPLATE_GENERATION]
    }

    fn validate(
        &self,
        daemon_set: &Value,
        old: Option<&Value>,
        context: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        if context.subresource == "status" {
            return validate_status(daemon_set, old, &mut found.errors);
        }
        let (spec, at) = (part(daemon_set, "/spec"), path(&["spec", "selector"]));
        let selector = part(spec, "/selector");
        if let Some(old) = old {
            immutable_selector(&mut found.errors, &at, selector, part(old, "/spec/selector"));
        }
        rules::label_selector(&mut found.errors, &at, Some(selector), context.kubernetes);
        let at_template = path(&["spec", "template"]);
        let pods = part(spec, "/template");
        if let Some(selector) = template::selector_of(daemon_set, context) {
            template_labels(&mut found.errors, &at_template, pods, &selector);
        }
        if is_empty_selector(selector) {
            let detail = "empty selector is invalid for daemonset";
            found.errors.push(invalid_selector(&at, selector, detail));
        }
        template::validate(daemon_set, old, context, found);
        let errors = &mut found.errors;
        runs_always(errors, &at_template, pods, "DaemonSet");
        rules::members_not_negative(errors, &path(&["spec"]), spec, &["minReadySeconds"]);
        let at = path(&["spec", "updateStrategy"]);
        validate_strategy(part(spec, "/updateStrategy"), &at, errors);
        rules::members_not_negative(errors, &path(&["spec"]), spec, &["revisionHistoryLimit"]);
    }

    fn cells(&self, object: &Value, now: Time) -> Vec<Value> {
        let number = |place| integer(object, place).unwrap_or_default().into();
        let [names, images] = containers(part(object, "/spec/template"));
        vec![
            cells::name(object),
            number("/status/desiredNumberScheduled"),
            number("/status/currentNumberScheduled"),
            number("/status/numberReady"),
            number("/status/updatedNumberScheduled"),
            number("/status/numberAvailable"),
            labels_cell(object, "/spec/template/spec/nodeSelector"),
            cells::created(object, now),
            names,
            images,
            selector_cell(value_at(object, "/spec/selector")),
        ]
    }
}

/// Sets the number of templates, or only the first one.
fn set_template_generation(daemon_set: &mut Value, generation: i64, is_default: bool) {
    let Some(metadata) = section(daemon_set, "metadata") else { return };
    let annotations = metadata.entry("annotations").or_insert_with(|| Map::new().into());
    if annotations.is_null() {
        *annotations = Map::new().into();
    }
    let Value::Object(annotations) = annotations else { return };
    if !(is_default && annotations.contains_key(TEMPLATE_GENERATION)) {
        annotations.insert(TEMPLATE_GENERATION.to_owned(), generation.to_string().into());
    }
}

fn validate_strategy(strategy: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) {
    match text(strategy, "/type") {
        "OnDelete" => {}
        "RollingUpdate" => {
            let at = path.clone().name("rollingUpdate");
            validate_rolling(part(strategy, "/rollingUpdate"), &at, errors);
        }
        _ => {
            let shown = show(Some(strategy), Type::Record(|| &DAEMON_SET_UPDATE_STRATEGY));
            let supported = ["RollingUpdate", "OnDelete"];
            let error = FieldError::not_supported(path.clone(), "", supported);
            errors.push(error.show_value_as(shown));
        }
    }
}

fn validate_rolling(rolling: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let (unavailable, surge) = (part(rolling, "/maxUnavailable"), part(rolling, "/maxSurge"));
    for (name, value) in [("maxUnavailable", unavailable), ("maxSurge", surge)] {
        let at = path.clone().name(name);
        rules::int_or_percent(errors, &at, value);
        rules::at_most_100_percent(errors, &at, value);
    }
    match (amount(unavailable), amount(surge)) {
        (0, 0) => {
            let at = path.clone().name("maxUnavailable");
            errors.push(FieldError::required(at, "cannot be 0 when maxSurge is 0"));
        }
        (0, _) | (_, 0) => {}
        _ => {
            let (at, detail) =
                (path.clone().name("maxSurge"), "may not be set when maxUnavailable is non-zero");
            errors.push(FieldError::invalid(at, surge.clone(), detail));
        }
    }
}

fn validate_status(daemon_set: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    let (status, at) = (part(daemon_set, "/status"), path(&["status"]));
    let counters = [
        "currentNumberScheduled",
        "numberMisscheduled",
        "desiredNumberScheduled",
        "numberReady",
        "observedGeneration",
        "updatedNumberScheduled",
        "numberAvailable",
        "numberUnavailable",
        "collisionCount",
    ];
    rules::members_not_negative(errors, &at, status, &counters);
    if let Some(old) = old {
        not_decremented(errors, &at, status, part(old, "/status"), "collisionCount");
    }
}
