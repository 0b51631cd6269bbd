//! Ingresses (BK-460).

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::{FieldError, FieldPath, KubernetesVersion, names};
use serde_json::{Value, json};

use super::reference;
use crate::behavior::{Behavior, Findings, WriteContext};
use crate::core::{load_balancer_addresses, validate_host};
use crate::ip::{AddressRules, parse_address};
use crate::values::{integer, items, path, text, value_at};
use crate::{cells, rules};

/// The annotation that was used before there were classes.
const CLASS: &str = "kubernetes.io/ingress.class";

const PATH_TYPES: [&str; 3] = ["Exact", "ImplementationSpecific", "Prefix"];

const BAD_PARTS: [&str; 5] = ["//", "/./", "/../", "%2f", "%2F"];

const BAD_ENDS: [&str; 2] = ["/..", "/."];

/// How many hosts a table shows.
const SHOWN_HOSTS: usize = 3;

const LOAD_BALANCER: &str = "/status/loadBalancer/ingress";

/// The rules of ingresses.
#[derive(Debug)]
pub(crate) struct Ingress;

impl Behavior for Ingress {
    fn prepare(&self, ingress: &mut Value, old: Option<&Value>, _: &WriteContext<'_>) {
        if let (None, Value::Object(members)) = (old, ingress) {
            members.insert("status".to_owned(), json!({}));
        }
    }

    fn validate(
        &self,
        ingress: &Value,
        old: Option<&Value>,
        context: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        if context.subresource == "status" {
            validate_status(ingress, old, context.kubernetes, &mut found.errors);
            return;
        }
        validate_spec(ingress, context.kubernetes, &mut found.errors);
        if old.is_none() {
            check_annotation(ingress, found);
        }
    }

    fn cells(&self, ingress: &Value, now: Time) -> Vec<Value> {
        let addresses: Vec<&str> = load_balancer_addresses(ingress).into_iter().collect();
        let has_tls = !items(ingress, "/spec/tls").is_empty();
        vec![
            cells::name(ingress),
            cells::at_or(ingress, "/spec/ingressClassName", "<none>"),
            hosts(ingress),
            cells::joined(&addresses, ""),
            if has_tls { "80, 443" } else { "80" }.into(),
            cells::created(ingress, now),
        ]
    }
}

fn hosts(ingress: &Value) -> Value {
    let rules = items(ingress, "/spec/rules");
    let hosts = rules.iter().map(|rule| text(rule, "/host")).filter(|host| !host.is_empty());
    let shown: Vec<&str> = hosts.clone().take(SHOWN_HOSTS).collect();
    if shown.len() == SHOWN_HOSTS && rules.len() > SHOWN_HOSTS {
        let more = rules.len() - SHOWN_HOSTS;
        return format!("{} + {more} more...", shown.join(",")).into();
    }
    cells::joined(&shown, "*")
}

/// The class and the annotation of older ingresses must agree.
fn check_annotation(ingress: &Value, found: &mut Findings) {
    let annotation = value_at(ingress, "/metadata/annotations").and_then(|all| all.get(CLASS));
    let Some(annotation) = annotation.and_then(Value::as_str) else { return };
    match value_at(ingress, "/spec/ingressClassName").and_then(Value::as_str) {
        None => found.warnings.push(format!(
            "annotation \"{CLASS}\" is deprecated, please use 'spec.ingressClassName' instead"
        )),
        Some(class) if class != annotation => {
            let path = path(&["annotations", CLASS]);
            let detail = "must match `ingressClassName` when both are specified";
            found.errors.push(FieldError::invalid(path, annotation, detail));
        }
        Some(_) => {}
    }
}

fn validate_spec(ingress: &Value, kubernetes: KubernetesVersion, errors: &mut Vec<FieldError>) {
    let spec = path(&["spec"]);
    let (rules, backend) =
        (items(ingress, "/spec/rules"), value_at(ingress, "/spec/defaultBackend"));
    if rules.is_empty() && backend.is_none() {
        let detail = "either `defaultBackend` or `rules` must be specified";
        errors.push(FieldError::invalid(spec.clone(), Value::Null, detail));
    }
    if let Some(backend) = backend {
        let path = spec.clone().name("defaultBackend");
        validate_backend(backend, &path, kubernetes, errors);
    }
    for (index, rule) in rules.iter().enumerate() {
        validate_rule(rule, &spec.clone().name("rules").index(index), kubernetes, errors);
    }
    for (index, tls) in items(ingress, "/spec/tls").iter().enumerate() {
        let path = spec.clone().name("tls").index(index);
        for (index, host) in items(tls, "/hosts").iter().enumerate() {
            rules::host(errors, &path.clone().name("hosts").index(index), text(host, ""));
        }
        let secret = text(tls, "/secretName");
        if !secret.is_empty() {
            rules::named(errors, &path.name("secretName"), secret, names::dns1123_subdomain);
        }
    }
    if let Some(class) = value_at(ingress, "/spec/ingressClassName") {
        let path = spec.name("ingressClassName");
        rules::named(errors, &path, text(class, ""), names::dns1123_subdomain);
    }
}

fn validate_rule(
    rule: &Value,
    path: &FieldPath,
    kubernetes: KubernetesVersion,
    errors: &mut Vec<FieldError>,
) {
    let (host, host_path) = (text(rule, "/host"), path.clone().name("host"));
    if !host.is_empty() {
        if parse_address(host).is_some() {
            let detail = "must be a DNS name, not an IP address";
            errors.push(FieldError::invalid(host_path.clone(), host, detail));
        }
        rules::host(errors, &host_path, host);
    }
    let Some(http) = rule.get("http") else { return };
    let (paths, path) = (items(http, "/paths"), path.clone().name("http").name("paths"));
    if paths.is_empty() {
        errors.push(FieldError::required(path.clone(), ""));
    }
    for (index, item) in paths.iter().enumerate() {
        validate_path(item, &path.clone().index(index), kubernetes, errors);
    }
}

fn validate_path(
    item: &Value,
    place: &FieldPath,
    kubernetes: KubernetesVersion,
    errors: &mut Vec<FieldError>,
) {
    let type_path = place.clone().name("pathType");
    let Some(kind) = item.get("pathType").and_then(Value::as_str) else {
        errors.push(FieldError::required(type_path, "pathType must be specified"));
        return;
    };
    let (path, path_path) = (text(item, "/path"), place.clone().name("path"));
    let mut refuse = |detail: &str| {
        errors.push(FieldError::invalid(path_path.clone(), path, detail));
    };
    let is_exact = matches!(kind, "Exact" | "Prefix");
    if !path.starts_with('/') && (is_exact || kind == "ImplementationSpecific" && !path.is_empty())
    {
        refuse("must be an absolute path");
    }
    if is_exact {
        for part in BAD_PARTS.iter().filter(|part| path.contains(**part)) {
            refuse(&format!("must not contain '{part}'"));
        }
        for end in BAD_ENDS.iter().filter(|end| path.ends_with(**end)) {
            refuse(&format!("cannot end with '{end}'"));
        }
    }
    rules::one_of(errors, &type_path, kind, &PATH_TYPES);
    let backend = item.get("backend").unwrap_or(&Value::Null);
    validate_backend(backend, &place.clone().name("backend"), kubernetes, errors);
}

fn validate_backend(
    backend: &Value,
    path: &FieldPath,
    kubernetes: KubernetesVersion,
    errors: &mut Vec<FieldError>,
) {
    let mut refuse = |detail| errors.push(FieldError::invalid(path.clone(), "", detail));
    match (backend.get("resource"), backend.get("service")) {
        (Some(_), Some(_)) => refuse("cannot set both resource and service backends"),
        (Some(resource), None) => {
            reference::validate(resource, &path.clone().name("resource"), errors);
        }
        (None, Some(service)) => validate_service(service, path, kubernetes, errors),
        (None, None) => refuse("resource or service backend is required"),
    }
}

fn validate_service(
    service: &Value,
    backend: &FieldPath,
    kubernetes: KubernetesVersion,
    errors: &mut Vec<FieldError>,
) {
    let path = backend.clone().name("service");
    match text(service, "/name") {
        "" => errors.push(FieldError::required(path.clone().name("name"), "")),
        name => rules::service_name(errors, &path.clone().name("name"), name, kubernetes),
    }
    let path = path.name("port");
    match (text(service, "/port/name"), integer(service, "/port/number").unwrap_or_default()) {
        ("", 0) => {
            let detail = "port name or number is required";
            errors.push(FieldError::required(backend.clone(), detail));
        }
        ("", number) => rules::port(errors, &path.name("number"), number),
        (name, 0) => rules::invalid(errors, &path.name("name"), name, rules::port_name(name)),
        _ => {
            let detail = "cannot set both port name & port number";
            errors.push(FieldError::invalid(backend.clone(), "", detail));
        }
    }
}

fn validate_status(
    ingress: &Value,
    old: Option<&Value>,
    kubernetes: KubernetesVersion,
    errors: &mut Vec<FieldError>,
) {
    let stored = old.map_or(&[][..], |old| items(old, LOAD_BALANCER));
    let stored = stored.iter().map(|ingress| text(ingress, "/ip"));
    let rules_of_addresses = AddressRules::new(kubernetes, stored);
    for (index, ingress) in items(ingress, LOAD_BALANCER).iter().enumerate() {
        let path = path(&["status", "loadBalancer", "ingress"]).index(index);
        let address = text(ingress, "/ip");
        if !address.is_empty() {
            rules_of_addresses.address(errors, &path.clone().name("ip"), address);
        }
        validate_host(ingress, &path, errors);
    }
}
