//! Rules of all workloads: selectors, the names of their pods, and cells (BK-300, BK-722).

mod counters;

use billhook_apimachinery::label_selector::{LabelSelector, Selector, SelectorError};
use billhook_apimachinery::names::dns1123_label;
use billhook_apimachinery::record::show::show;
use billhook_apimachinery::record::{FieldValue as _, Type, TypedRecord as _, declared_json};
use billhook_apimachinery::value::deep_eq;
use billhook_apimachinery::{FieldError, FieldPath, KubernetesVersion};
use serde_json::{Map, Value};

pub(crate) use self::counters::{
    amount, at_most_replicas, available_at_most_ready, not_decremented,
};
use crate::behavior::Findings;
use crate::edition::EDITIONS;
use crate::values::{items, members, object_mut, text, value_at};

/// The cell of what is not there.
pub(crate) const NONE: &str = "<none>";

/// Drops the number of pods that are being deleted, which older servers do not keep (BK-770).
pub(crate) fn drop_terminating(workload: &mut Value, kubernetes: KubernetesVersion) {
    if !EDITIONS.of(kubernetes).counts_terminating
        && let Some(Value::Object(status)) = object_mut(workload, "/status")
    {
        status.remove("terminatingReplicas");
    }
}

/// Returns what a label selector selects: nothing if there is none.
pub(crate) fn parse_selector(
    selector: Option<&Value>,
    kubernetes: KubernetesVersion,
) -> Result<Selector, SelectorError> {
    match selector.filter(|selector| !selector.is_null()) {
        None => Ok(Selector::nothing()),
        Some(selector) => LabelSelector::of(selector).parse_for(kubernetes),
    }
}

/// Whether a label selector is there and has no conditions.
pub(crate) fn is_empty_selector(selector: &Value) -> bool {
    selector.is_object() && LabelSelector::of(selector).is_empty()
}

/// Returns an error about a label selector.
pub(crate) fn invalid_selector(path: &FieldPath, selector: &Value, detail: &str) -> FieldError {
    let error = FieldError::invalid(path.clone(), selector.clone(), detail);
    error.show_value_as(shown_selector(selector))
}

/// A label selector as errors show it.
pub(crate) fn shown_selector(selector: &Value) -> String {
    match selector {
        Value::Object(_) => declared_json(selector, LabelSelector::record()),
        _ => "null".to_owned(),
    }
}

/// A label selector that must stay as it was.
pub(crate) fn immutable_selector(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    selector: &Value,
    old: &Value,
) {
    if !deep_eq(selector, old) {
        errors.push(invalid_selector(path, selector, "field is immutable"));
    }
}

/// A value that must stay as it was, shown in the internal form of its type.
pub(crate) fn immutable(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    value: &Value,
    old: &Value,
    type_: Type,
) {
    if !deep_eq(value, old) {
        let error = FieldError::invalid(path.clone(), value.clone(), "field is immutable");
        errors.push(error.show_value_as(show(Some(value), type_)));
    }
}

/// The labels of a template at a path, which a selector must match.
pub(crate) fn template_labels(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    template: &Value,
    selector: &Selector,
) {
    let labels = value_at(template, "/metadata/labels").and_then(Value::as_object);
    if !selector.matches(labels.unwrap_or(&Map::new())) {
        let path = path.clone().name("metadata").name("labels");
        let detail = "`selector` does not match template `labels`";
        errors.push(invalid_labels(path, labels, detail));
    }
}

/// Returns an error about labels.
pub(crate) fn invalid_labels(
    path: FieldPath,
    labels: Option<&Map<String, Value>>,
    detail: &str,
) -> FieldError {
    let labels = labels.cloned().map_or(Value::Null, Value::Object);
    let shown = show(Some(&labels), Type::Map(&Type::Text));
    FieldError::invalid(path, labels, detail).show_value_as(shown)
}

/// A template of pods that run until they are stopped.
pub(crate) fn runs_always(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    template: &Value,
    kind: &str,
) {
    let spec = path.clone().name("spec");
    let policy = text(template, "/spec/restartPolicy");
    if policy != "Always" {
        let path = spec.clone().name("restartPolicy");
        errors.push(FieldError::not_supported(path, policy, ["Always"]));
    }
    if value_at(template, "/spec/activeDeadlineSeconds").is_some_and(|seconds| !seconds.is_null()) {
        let detail = format!("activeDeadlineSeconds in {kind} is not Supported");
        errors.push(FieldError::forbidden(spec.name("activeDeadlineSeconds"), &detail));
    }
}

/// Warns of a name that pods and their hosts cannot have.
pub(crate) fn warn_of_name(object: &Value, old: Option<&Value>, found: &mut Findings) {
    let messages = dns1123_label(text(object, "/metadata/name"));
    if old.is_none() && !messages.is_empty() {
        found.warnings.push(format!(
            "metadata.name: this is used in Pod names and hostnames, which can result in \
             surprising behavior; a DNS label is recommended: [{}]",
            messages.join(" "),
        ));
    }
}

/// Forgets the warnings about a template, those after the first ones, if an update leaves the part at
/// a place as it is.
pub(crate) fn warn_of_changes(
    found: &mut Findings,
    first: usize,
    place: &str,
    object: &Value,
    old: Option<&Value>,
) {
    if old.is_some_and(|old| deep_eq(part(old, place), part(object, place))) {
        found.warnings.truncate(first);
    }
}

/// The part of a value at a place; null if absent.
pub(crate) fn part<'o>(object: &'o Value, place: &str) -> &'o Value {
    value_at(object, place).unwrap_or(&Value::Null)
}

/// The cells of the containers of a template and their images.
pub(crate) fn containers(template: &Value) -> [Value; 2] {
    let all = items(template, "/spec/containers");
    let joined = |place| -> Value {
        let texts: Vec<_> = all.iter().map(|container| text(container, place)).collect();
        texts.join(",").into()
    };
    [joined("/name"), joined("/image")]
}

/// The cell of a label selector.
pub(crate) fn selector_cell(selector: Option<&Value>) -> Value {
    let selector = selector.filter(|selector| !selector.is_null() && !is_empty_selector(selector));
    let Some(selector) = selector else { return NONE.into() };
    match LabelSelector::of(selector).parse() {
        Ok(selector) => selector.to_string().into(),
        Err(_) => "<error>".into(),
    }
}

/// The cell of labels.
pub(crate) fn labels_cell(object: &Value, place: &str) -> Value {
    let labels = members(object, place);
    let mut labels: Vec<_> =
        labels.map(|(key, value)| format!("{key}={}", text(value, ""))).collect();
    labels.sort_unstable();
    if labels.is_empty() { NONE.into() } else { labels.join(",").into() }
}
