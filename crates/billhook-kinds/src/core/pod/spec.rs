//! The spec of pods and of templates, in the server's order (BK-103, BK-106).

use std::collections::{BTreeMap, BTreeSet};

use billhook_apimachinery::names::{dns1123_label, dns1123_subdomain};
use billhook_apimachinery::{FieldError, FieldPath};
use serde_json::Value;

use super::annotations::is_static;
use super::checks::{
    forbid, label_member, member, member_text, name_of, one_of_member, one_of_required, required,
    subdomain_member, whole,
};
use super::defaults::CONTAINERS;
use super::internal::show;
use super::scope::Scope;
use super::{affinity, amounts, containers, network, security, systems, variables, volumes};
use crate::behavior::{Findings, WriteContext};
use crate::generated::core_v1::POD_RESOURCE_CLAIM;
use crate::rules::{invalid, labels, named};
use crate::values::{integer, items};
use billhook_apimachinery::record::Type;

/// Checks a spec at a path: of a pod, or of a template if there is none.
pub(crate) fn validate(
    found: &mut Findings,
    path: &FieldPath,
    spec: &Value,
    pod: Option<&Value>,
    context: &WriteContext<'_>,
) {
    let mut scope = Scope::of(spec, pod, context);
    volumes::validate(found, &path.clone().name("volumes"), spec, &mut scope, context);
    let errors = &mut found.errors;
    resource_claims(errors, &path.clone().name("resourceClaims"), spec, pod);
    containers::validate(errors, path, spec, &scope);
    amounts::of_pod(errors, path, spec, &scope);
    network::host_ports(errors, path, spec, &scope);
    let policies = ["Always", "OnFailure", "Never"];
    one_of_required(errors, path, spec, "restartPolicy", &policies);
    let policies = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
    one_of_required(errors, path, spec, "dnsPolicy", &policies);
    let selector = path.clone().name("nodeSelector");
    labels(errors, &selector, spec.get("nodeSelector"), scope.kubernetes);
    security::of_pod(errors, path, spec);
    if let Some(value) = member(spec, "affinity") {
        affinity::validate(errors, &path.clone().name("affinity"), value, &scope);
    }
    network::dns(errors, path, spec, &scope);
    affinity::gates(errors, path, spec, &scope);
    let constraints = items(spec, "/topologySpreadConstraints");
    affinity::topology(
        errors,
        &path.clone().name("topologySpreadConstraints"),
        constraints,
        &scope,
    );
    network::users(errors, path, spec, &scope);
    network::host_name_override(errors, path, spec, &scope);
    names_and_numbers(errors, path, spec, &scope);
    systems::validate(errors, path, spec);
    file_volumes(errors, path, spec);
}

/// The members of a spec that are single values, and what stands between them.
fn names_and_numbers(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    spec: &Value,
    scope: &Scope<'_>,
) {
    let at = |name: &str| path.clone().name(name);
    subdomain_member(errors, path, spec, "serviceAccountName");
    subdomain_member(errors, path, spec, "nodeName");
    if let Some(seconds) = integer(spec, "/activeDeadlineSeconds")
        && !(1..=2_147_483_647).contains(&seconds)
    {
        let detail = "must be between 1 and 2147483647, inclusive";
        invalid(errors, &at("activeDeadlineSeconds"), seconds, [detail]);
    }
    label_member(errors, path, spec, "hostname");
    label_member(errors, path, spec, "subdomain");
    affinity::tolerations(errors, &at("tolerations"), items(spec, "/tolerations"), scope);
    network::host_aliases(errors, &at("hostAliases"), items(spec, "/hostAliases"), scope);
    subdomain_member(errors, path, spec, "priorityClassName");
    if let Some(name) = member(spec, "runtimeClassName").and_then(Value::as_str) {
        named(errors, &at("runtimeClassName"), name, dns1123_subdomain);
    }
    one_of_member(errors, path, spec, "preemptionPolicy", &["PreemptLowerPriority", "Never"]);
    if let Some(overhead) = member(spec, "overhead") {
        amounts::overhead(errors, &at("overhead"), overhead, scope);
    }
}

/// The devices that a pod claims.
fn resource_claims(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    spec: &Value,
    pod: Option<&Value>,
) {
    let claims = items(spec, "/resourceClaims");
    if !claims.is_empty() && pod.is_some_and(is_static) {
        forbid(errors, whole(), "static pods do not support resource claims");
    }
    let mut seen = BTreeSet::new();
    for (index, claim) in claims.iter().enumerate() {
        let path = path.clone().index(index);
        let name = name_of(claim);
        let is_new = seen.insert(name);
        if !required(errors, &path, claim, "name") {
            // A missing name repeats nothing.
        } else if !is_new {
            errors.push(FieldError::duplicate(path.clone().name("name"), name));
        } else {
            named(errors, &path.clone().name("name"), name, dns1123_label);
        }
        let sources = ["resourceClaimName", "resourceClaimTemplateName"];
        let count = sources.iter().filter(|name| member(claim, name).is_some()).count();
        let detail = match count {
            0 => "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`",
            2 => {
                "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
            }
            _ => "",
        };
        if !detail.is_empty() {
            let shown = show(Some(claim), Type::Record(|| &POD_RESOURCE_CLAIM));
            let error = FieldError::invalid(path.clone(), claim.clone(), detail);
            errors.push(error.show_value_as(shown));
        }
        for source in sources {
            if let Some(name) = member(claim, source).and_then(Value::as_str) {
                named(errors, &path.clone().name(source), name, dns1123_subdomain);
            }
        }
    }
}

/// Variables from files need volumes, in whatever container they are.
fn file_volumes(errors: &mut Vec<FieldError>, path: &FieldPath, spec: &Value) {
    let volumes = items(spec, "/volumes").iter().rev();
    let volumes: BTreeMap<&str, &Value> = volumes.map(|volume| (name_of(volume), volume)).collect();
    let [containers, init_containers, ephemeral_containers] = CONTAINERS;
    for list in [init_containers, containers, ephemeral_containers] {
        for (index, container) in items(spec, list).iter().enumerate() {
            let path = path.clone().name(list.trim_start_matches('/')).index(index);
            variables::validate_file_volumes(errors, &path, container, &volumes);
        }
    }
}

/// Checks what only pods have, and not templates.
pub(super) fn validate_own(errors: &mut Vec<FieldError>, path: &FieldPath, spec: &Value) {
    volumes::validate_tokens(errors, path, spec);
    for list in CONTAINERS {
        for (index, container) in items(spec, list).iter().enumerate() {
            let image = member_text(container, "image").unwrap_or_default();
            if image.trim() != image {
                let path = path.clone().name(list.trim_start_matches('/')).index(index);
                let detail = "must not have leading or trailing whitespace";
                invalid(errors, &path.name("image"), image, [detail]);
            }
        }
    }
}

/// Checks what new pods do not have.
pub(super) fn validate_new(errors: &mut Vec<FieldError>, path: &FieldPath, spec: &Value) {
    if !items(spec, "/ephemeralContainers").is_empty() {
        forbid(errors, path.clone().name("ephemeralContainers"), "cannot be set on create");
    }
    if member_text(spec, "nodeName").is_some() && !items(spec, "/schedulingGates").is_empty() {
        let detail = "cannot be set until all schedulingGates have been cleared";
        forbid(errors, path.clone().name("nodeName"), detail);
    }
}
