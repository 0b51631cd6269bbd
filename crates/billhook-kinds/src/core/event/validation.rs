//! The rules of events (BK-484). Both groups are validated in the form of the core group.

use billhook_apimachinery::{FieldError, KubernetesVersion};
use serde_json::Value;

use crate::rules;
use crate::values::{integer, path, text};

/// How long texts are at most, and the message.
const MAX_TEXT: usize = 128;
const MAX_MESSAGE: usize = 1024;

/// The members of a reference, as errors show them.
const REFERENCE: [(&str, &str); 7] = [
    ("Kind", "kind"),
    ("Namespace", "namespace"),
    ("Name", "name"),
    ("UID", "uid"),
    ("APIVersion", "apiVersion"),
    ("ResourceVersion", "resourceVersion"),
    ("FieldPath", "fieldPath"),
];

/// The members of a source, as errors show them.
const SOURCE: [(&str, &str); 2] = [("Component", "component"), ("Host", "host")];

/// The fields that stay in an event of the newer form: the path in errors, and the name in that form.
/// The reason is compared twice.
const IMMUTABLE: [(&str, &str); 14] = [
    ("involvedObject", "regarding"),
    ("reason", "reason"),
    ("message", "note"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
    ("reason", "reason"),
    ("type", "type"),
    ("eventTime", "eventTime"),
    ("action", "action"),
    ("related", "related"),
    ("reportingController", "reportingController"),
    ("reportingInstance", "reportingInstance"),
];

/// Validates an event.
pub(super) fn validate(
    event: &Value,
    old: Option<&Value>,
    kubernetes: KubernetesVersion,
    errors: &mut Vec<FieldError>,
) {
    let is_new_form = event.get("regarding").is_some();
    if is_set(event, "eventTime") {
        validate_namespace_of_series(event, errors);
        validate_reporter(event, is_new_form, kubernetes, errors);
    } else {
        validate_namespace(event, errors);
    }
    if !is_new_form {
        return;
    }
    validate_series(event, errors);
    match old {
        None => validate_new_form(event, errors),
        Some(old) => validate_update(event, old, errors),
    }
}

fn is_set(event: &Value, name: &str) -> bool {
    event.get(name).is_some_and(|value| !value.is_null())
}

fn subject_namespace(event: &Value) -> &str {
    match event.get("regarding") {
        Some(subject) => text(subject, "/namespace"),
        None => text(event, "/involvedObject/namespace"),
    }
}

fn refuse_namespace(event: &Value, errors: &mut Vec<FieldError>) {
    let path = path(&["involvedObject", "namespace"]);
    let detail = "does not match event.namespace";
    errors.push(FieldError::invalid(path, subject_namespace(event), detail));
}

/// An event is in the namespace of what it is about; one about an object of the cluster is in
/// `default`.
fn validate_namespace(event: &Value, errors: &mut Vec<FieldError>) {
    let (about, namespace) = (subject_namespace(event), text(event, "/metadata/namespace"));
    if about != namespace && !(about.is_empty() && namespace == "default") {
        refuse_namespace(event, errors);
    }
}

/// An event with an exact time that is about an object of the cluster is in a namespace of the
/// system.
fn validate_namespace_of_series(event: &Value, errors: &mut Vec<FieldError>) {
    let namespace = text(event, "/metadata/namespace");
    if subject_namespace(event).is_empty() && !matches!(namespace, "default" | "kube-system") {
        refuse_namespace(event, errors);
    }
}

/// Validates who reports an event, and what.
fn validate_reporter(
    event: &Value,
    is_new_form: bool,
    kubernetes: KubernetesVersion,
    errors: &mut Vec<FieldError>,
) {
    let name = if is_new_form { "reportingController" } else { "reportingComponent" };
    let (reporter, reporter_path) = (member(event, name), path(&[name]));
    if reporter.is_empty() {
        errors.push(FieldError::required(reporter_path.clone(), ""));
    }
    rules::qualified_name(errors, &reporter_path, reporter, kubernetes);
    let mut limit = |name, value: &str, max| {
        if value.len() > max {
            let detail = format!("can have at most {max} characters");
            errors.push(FieldError::invalid(path(&[name]), value, &detail));
        } else if value.is_empty() && max == MAX_TEXT {
            errors.push(FieldError::required(path(&[name]), ""));
        }
    };
    for name in ["reportingInstance", "action", "reason"] {
        limit(name, member(event, name), MAX_TEXT);
    }
    let message = if is_new_form { "note" } else { "message" };
    limit("message", member(event, message), MAX_MESSAGE);
}

fn member<'e>(event: &'e Value, name: &str) -> &'e str {
    event.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn validate_series(event: &Value, errors: &mut Vec<FieldError>) {
    let Some(series) = event.get("series") else { return };
    if integer(series, "/count").unwrap_or_default() < 2 {
        let path = path(&["series", "count"]);
        errors.push(FieldError::invalid(path, "", "should be at least 2"));
    }
    if text(series, "/lastObservedTime").is_empty() {
        errors.push(FieldError::required(path(&["series", "lastObservedTime"]), ""));
    }
}

/// Validates what only the newer form has, and what it has no more.
fn validate_new_form(event: &Value, errors: &mut Vec<FieldError>) {
    if !is_set(event, "eventTime") {
        errors.push(FieldError::required(path(&["eventTime"]), ""));
    }
    let kind = member(event, "type");
    if !matches!(kind, "Normal" | "Warning") {
        let detail = format!("has invalid value: {kind}");
        errors.push(FieldError::invalid(path(&["type"]), "", &detail));
    }
    for (name, new_name) in [
        ("firstTimestamp", "deprecatedFirstTimestamp"),
        ("lastTimestamp", "deprecatedLastTimestamp"),
        ("count", "deprecatedCount"),
        ("source", "deprecatedSource"),
    ] {
        let Some(value) = event.get(new_name).filter(|value| !value.is_null()) else { continue };
        if value.as_object().is_some_and(serde_json::Map::is_empty) {
            continue;
        }
        // The server does not show these values.
        errors.push(FieldError::invalid(path(&[name]), "", "needs to be unset"));
    }
}

fn validate_update(event: &Value, old: &Value, errors: &mut Vec<FieldError>) {
    for (name, new_name) in IMMUTABLE {
        let value = event.get(new_name).filter(|value| !value.is_null());
        let old = old.get(new_name).filter(|value| !value.is_null());
        if value == old {
            continue;
        }
        let shown = value.filter(|value| value.is_object()).map(|value| {
            let members = if name == "source" { &SOURCE[..] } else { &REFERENCE };
            rules::in_go_names(value, members)
        });
        let empty = match name {
            "count" => 0.into(),
            "related" | "eventTime" | "firstTimestamp" | "lastTimestamp" => Value::Null,
            _ => "".into(),
        };
        let value = value.cloned().unwrap_or(empty);
        let error = FieldError::invalid(path(&[name]), value, rules::IMMUTABLE);
        errors.push(match shown {
            Some(shown) => error.show_value_as(shown),
            None => error,
        });
    }
}
