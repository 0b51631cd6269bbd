//! The labels and the selector that a Job gets.

use billhook_apimachinery::FieldError;
use serde_json::{Map, Value, json};

use crate::behavior::WriteContext;
use crate::values::{path, section, text};
use crate::workloads::{invalid_labels, invalid_selector, parse_selector, part};

const UID: &str = "batch.kubernetes.io/controller-uid";

/// The labels of pods: with the uid or the name of their Job.
const LABELS: [(&str, &str); 4] = [
    ("controller-uid", "/metadata/uid"),
    ("job-name", "/metadata/name"),
    (UID, "/metadata/uid"),
    ("batch.kubernetes.io/job-name", "/metadata/name"),
];

fn is_manual(job: &Value) -> bool {
    part(job, "/spec/manualSelector") == &Value::Bool(true)
}

/// Sets the labels that are missing, and the selector.
pub(super) fn set(job: &mut Value) {
    if is_manual(job) {
        return;
    }
    let uid = text(job, "/metadata/uid").to_owned();
    let labels = LABELS.map(|(name, place)| (name, text(job, place).to_owned()));
    let Some(Value::Object(spec)) = job.get_mut("spec") else { return };
    if let Some(template) = spec.get_mut("template") {
        section(template, "metadata");
        if let Some(metadata) = template.get_mut("metadata")
            && let Some(all) = section(metadata, "labels")
        {
            for (name, value) in labels {
                all.entry(name).or_insert_with(|| value.into());
            }
        }
    }
    let selector = spec.entry("selector").or_insert(Value::Null);
    if selector.is_null() {
        *selector = json!({});
    }
    if let Some(all) = section(selector, "matchLabels") {
        all.entry(UID).or_insert_with(|| uid.into());
    }
}

/// Validates labels and selector of a Job that did not choose them.
pub(super) fn validate(job: &Value, context: &WriteContext<'_>, errors: &mut Vec<FieldError>) {
    if is_manual(job) {
        return;
    }
    if text(job, "/metadata/uid").is_empty() {
        errors.push(FieldError::required(path(&["metadata", "uid"]), ""));
    }
    let at = path(&["spec", "template", "metadata", "labels"]);
    let labels = part(job, "/spec/template/metadata/labels").as_object();
    for (name, place) in LABELS {
        let (expected, at) = (text(job, place), at.clone().key(name));
        let detail = format!("must be '{expected}'");
        match labels.and_then(|labels| labels.get(name)) {
            None => errors.push(FieldError::required(at, &detail)),
            Some(value) if value != expected => errors.push(invalid_labels(at, labels, &detail)),
            Some(_) => {}
        }
    }
    let selector = part(job, "/spec/selector");
    let expected: Map<String, Value> = LABELS
        .into_iter()
        .map(|(name, place)| (name.to_owned(), text(job, place).into()))
        .collect();
    let parsed = parse_selector(Some(selector), context.kubernetes);
    if parsed.is_ok_and(|selector| !selector.matches(&expected)) {
        let at = path(&["spec", "selector"]);
        errors.push(invalid_selector(&at, selector, "`selector` not auto-generated"));
    }
}
