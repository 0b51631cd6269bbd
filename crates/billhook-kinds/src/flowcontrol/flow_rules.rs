//! Which requests a FlowSchema is for (BK-488).

use billhook_apimachinery::names::{dns1123_label, dns1123_subdomain};
use billhook_apimachinery::{FieldError, FieldPath};
use serde_json::Value;

use crate::rules::{invalid, required};
use crate::values::{items, text};

const VERBS: [&str; 9] =
    ["create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"];

/// Validates a rule of a schema.
pub(super) fn validate(rule: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let subjects = items(rule, "/subjects");
    if subjects.is_empty() {
        let detail = "subjects must contain at least one value";
        errors.push(FieldError::required(at.clone().name("subjects"), detail));
    }
    for (index, subject) in subjects.iter().enumerate() {
        validate_subject(subject, &at.clone().name("subjects").index(index), errors);
    }
    let (resources, urls) = (items(rule, "/resourceRules"), items(rule, "/nonResourceRules"));
    if resources.is_empty() && urls.is_empty() {
        let detail = "at least one of resourceRules and nonResourceRules has to be non-empty";
        errors.push(FieldError::required(at.clone(), detail));
    }
    for (index, rule) in resources.iter().enumerate() {
        validate_resources(rule, &at.clone().name("resourceRules").index(index), errors);
    }
    for (index, rule) in urls.iter().enumerate() {
        validate_urls(rule, &at.clone().name("nonResourceRules").index(index), errors);
    }
}

fn validate_subject(subject: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let kind = text(subject, "/kind");
    let kinds = ["Group", "ServiceAccount", "User"];
    if !kinds.contains(&kind) {
        errors.push(FieldError::not_supported(at.clone().name("kind"), kind, kinds));
        return;
    }
    for (name, of) in [("ServiceAccount", "serviceAccount"), ("User", "user"), ("Group", "group")] {
        let at = at.clone().name(of);
        match subject.get(of) {
            Some(_) if name != kind => {
                let detail = format!("{of} is forbidden when subject kind is not '{name}'");
                errors.push(FieldError::forbidden(at, &detail));
            }
            None if name == kind => {
                let detail = format!("{of} is required when subject kind is '{name}'");
                errors.push(FieldError::required(at, &detail));
            }
            Some(member) if kind == "ServiceAccount" => validate_account(member, &at, errors),
            Some(member) => required(errors, &at.name("name"), text(member, "/name")),
            None => {}
        }
    }
}

fn validate_account(account: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    match text(account, "/name") {
        "" => errors.push(FieldError::required(at.clone().name("name"), "")),
        "*" => {}
        name => invalid(errors, &at.clone().name("name"), name, dns1123_subdomain(name)),
    }
    let at = at.clone().name("namespace");
    match text(account, "/namespace") {
        "" => {
            let detail = "must specify namespace for service account";
            errors.push(FieldError::required(at, detail));
        }
        namespace => invalid(errors, &at, namespace, dns1123_label(namespace)),
    }
}

/// A list that says all with one star.
struct Stars<'l> {
    list: &'l [Value],
    at: FieldPath,
}

impl Stars<'_> {
    fn has_star(&self) -> bool {
        self.list.iter().any(|item| item == "*")
    }

    fn validate(&self, errors: &mut Vec<FieldError>, missing: &str, others: &str) {
        if self.list.is_empty() {
            errors.push(FieldError::required(self.at.clone(), missing));
        } else if self.has_star() && self.list.len() > 1 {
            let detail = format!("if '*' is present, must not specify other {others}");
            let list = Value::from(self.list.to_vec());
            errors.push(FieldError::invalid(self.at.clone(), list, &detail).of_strings());
        }
    }
}

fn validate_verbs(rule: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let verbs = Stars { list: items(rule, "/verbs"), at: at.clone().name("verbs") };
    verbs.validate(errors, "verbs must contain at least one value", "verbs");
    let is_known = |verb: &Value| VERBS.contains(&text(verb, ""));
    if !verbs.has_star() && !verbs.list.iter().all(is_known) {
        let list = Value::from(verbs.list.to_vec());
        errors.push(FieldError::not_supported(verbs.at, list, VERBS).of_strings());
    }
}

fn validate_resources(rule: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let stars = |name: &str| Stars { list: items(rule, name), at: at.clone().name(name) };
    validate_verbs(rule, at, errors);
    let detail = "resource rules must supply at least one api group";
    stars("apiGroups").validate(errors, detail, "api groups");
    let detail = "resource rules must supply at least one resource";
    stars("resources").validate(errors, detail, "resources");
    let namespaces = stars("namespaces");
    let is_for_cluster = rule.get("clusterScope").and_then(Value::as_bool).unwrap_or_default();
    if !namespaces.list.is_empty() || !is_for_cluster {
        let detail =
            "resource rules that are not cluster scoped must supply at least one namespace";
        namespaces.validate(errors, detail, "namespaces");
    }
    for (index, namespace) in namespaces.list.iter().map(|name| text(name, "")).enumerate() {
        if namespace == "*" {
            continue;
        }
        for message in dns1123_label(namespace) {
            let detail =
                format!("each member of this list must be '*' or a DNS-1123 label; {message}");
            let at = namespaces.at.clone().index(index);
            errors.push(FieldError::invalid(at, namespace, &detail));
        }
    }
}

fn validate_urls(rule: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    validate_verbs(rule, at, errors);
    let urls =
        Stars { list: items(rule, "/nonResourceURLs"), at: at.clone().name("nonResourceURLs") };
    let detail = "nonResourceURLs must contain at least one value";
    urls.validate(errors, detail, "non-resource URLs");
    for (index, url) in urls.list.iter().map(|url| text(url, "")).enumerate() {
        let at = urls.at.clone().index(index);
        invalid(errors, &at, url, url_message(url));
    }
}

fn url_message(url: &str) -> Option<&'static str> {
    let star = url.find('*');
    match url {
        "" => Some("must not be empty"),
        "/" | "*" => None,
        url if !url.starts_with('/') => Some("must start with slash"),
        url if url.contains(' ') => Some("must not contain white-space"),
        url if url.contains("//") => Some("must not contain double slash"),
        url if star.is_some_and(|at| at + 1 != url.len() || !url.ends_with("/*")) => {
            Some("wildcard can only do suffix matching")
        }
        _ => None,
    }
}
