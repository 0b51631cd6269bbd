//! APIServices (BK-488).

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::names::{dns1035_label, dns1123_subdomain};
use billhook_apimachinery::{FieldError, KubernetesVersion};
use serde_json::{Value, json};

use crate::behavior::{Behavior, Findings, WriteContext};
use crate::cells;
use crate::rules::{invalid, one_of, required};
use crate::values::{integer, items, object_mut, path, set_missing, text, value_at};

/// The rules of services of the API.
#[derive(Debug)]
pub(crate) struct ApiService;

impl Behavior for ApiService {
    fn checks_finalizers(&self) -> bool {
        false
    }

    fn set_defaults(&self, service: &mut Value, _: KubernetesVersion) {
        if let Some(service) = object_mut(service, "/spec/service") {
            set_missing(service, "port", 443);
        }
    }

    fn takes_metadata(&self) -> bool {
        false
    }

    fn prepare(&self, service: &mut Value, old: Option<&Value>, context: &WriteContext<'_>) {
        let is_local = value_at(service, "/spec/service").is_none();
        let Value::Object(members) = service else { return };
        if old.is_some() {
            return;
        }
        members.remove("status");
        if is_local {
            let condition = json!({
                "type": "Available",
                "status": "True",
                "lastTransitionTime": context.now,
                "reason": "Local",
                "message": "Local APIServices are always available",
            });
            members.insert("status".to_owned(), json!({"conditions": [condition]}));
        }
    }

    fn validate(
        &self,
        service: &Value,
        _: Option<&Value>,
        context: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        let errors = &mut found.errors;
        validate_names(service, errors);
        validate_priorities(service, errors);
        validate_target(service, errors);
        if context.subresource == "status" {
            for (index, condition) in items(service, "/status/conditions").iter().enumerate() {
                let at = path(&["status", "conditions"]).index(index).name("status");
                let statuses = ["True", "False", "Unknown"];
                one_of(errors, &at, text(condition, "/status"), &statuses);
            }
        }
    }

    fn cells(&self, object: &Value, now: Time) -> Vec<Value> {
        let of = |name: &str| text(object, &format!("/spec/service/{name}"));
        let service = match value_at(object, "/spec/service") {
            Some(_) => format!("{}/{}", of("namespace"), of("name")),
            None => "Local".to_owned(),
        };
        vec![
            cells::name(object),
            service.into(),
            available(object).into(),
            cells::created(object, now),
        ]
    }
}

fn available(service: &Value) -> String {
    let conditions = items(service, "/status/conditions");
    let available = conditions.iter().find(|condition| text(condition, "/type") == "Available");
    match available.map(|condition| (text(condition, "/status"), text(condition, "/reason"))) {
        None => "Unknown".to_owned(),
        Some(("True", _)) => "True".to_owned(),
        Some((status, reason)) => format!("{status} ({reason})"),
    }
}

fn validate_names(service: &Value, errors: &mut Vec<FieldError>) {
    let (group, version) = (text(service, "/spec/group"), text(service, "/spec/version"));
    let (name, wanted) = (text(service, "/metadata/name"), format!("{version}.{group}"));
    if name != wanted {
        let detail = format!("must be `spec.version+\".\"+spec.group`: \"{wanted}\"");
        errors.push(FieldError::invalid(path(&["metadata", "name"]), name, &detail));
    }
    let at = path(&["spec", "group"]);
    if !group.is_empty() {
        invalid(errors, &at, group, dns1123_subdomain(group));
    } else if version != "v1" {
        let detail = "only v1 may have an empty group and it better be legacy kube";
        errors.push(FieldError::required(at, detail));
    }
    invalid(errors, &path(&["spec", "version"]), version, dns1035_label(version));
}

fn validate_priorities(service: &Value, errors: &mut Vec<FieldError>) {
    for (name, most) in [("groupPriorityMinimum", 20_000), ("versionPriority", 1_000)] {
        let priority = integer(service, &format!("/spec/{name}")).unwrap_or_default();
        if !(1..=most).contains(&priority) {
            let detail = format!("must be positive and less than {most}");
            errors.push(FieldError::invalid(path(&["spec", name]), priority, &detail));
        }
    }
}

fn validate_target(service: &Value, errors: &mut Vec<FieldError>) {
    let at = |name: &str| path(&["spec", name]);
    let bundle = value_at(service, "/spec/caBundle").filter(|bundle| !text(bundle, "").is_empty());
    let skips = value_at(service, "/spec/insecureSkipTLSVerify");
    let skips = skips.and_then(Value::as_bool).unwrap_or_default();
    let Some(target) = value_at(service, "/spec/service") else {
        if let Some(bundle) = bundle {
            let detail = "local APIServices may not have a caBundle";
            errors.push(FieldError::invalid(at("caBundle"), bundle.clone(), detail));
        }
        if skips {
            let detail = "local APIServices may not have insecureSkipTLSVerify";
            errors.push(FieldError::invalid(at("insecureSkipTLSVerify"), true, detail));
        }
        return;
    };
    for name in ["namespace", "name"] {
        required(errors, &at("service").name(name), text(target, name));
    }
    let port = integer(target, "/port").filter(|port| !(1..=65_535).contains(port));
    if let Some(port) = port {
        let detail = "port is not valid: must be between 1 and 65535, inclusive";
        errors.push(FieldError::invalid(at("service").name("port"), port, detail));
    }
    if skips && bundle.is_some() {
        let detail = "may not be true if caBundle is present";
        errors.push(FieldError::invalid(at("insecureSkipTLSVerify"), true, detail));
    }
}
