//! Annotations of pods that mean something (BK-106).

use billhook_apimachinery::{FieldError, FieldPath};
use serde_json::Value;

use super::checks::{forbid, member, member_text, name_of};
use super::defaults::CONTAINERS;
use crate::rules::invalid;
use crate::values::{items, members, path, text, value_at};

/// The annotation of pods that a node made by itself.
pub(super) const MIRROR: &str = "kubernetes.io/config.mirror";

/// The prefix of the annotations that gave containers their AppArmor profiles.
pub(super) const APP_ARMOR: &str = "container.apparmor.security.beta.kubernetes.io/";

/// The prefix of the annotations that gave containers their seccomp profiles.
pub(super) const SECCOMP: &str = "container.seccomp.security.alpha.kubernetes.io/";

/// The annotation that gave all containers a seccomp profile.
pub(super) const SECCOMP_OF_POD: &str = "seccomp.security.alpha.kubernetes.io/pod";

/// The annotation that tells which pods of a workload go first.
const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";

/// Checks the annotations of a pod or a template, which errors show at a path.
pub(crate) fn validate(errors: &mut Vec<FieldError>, at: &FieldPath, object: &Value) {
    let Some(annotations) = value_at(object, "/metadata/annotations") else { return };
    let at = |key: &str| at.clone().key(key);
    if let Some(value) = annotations.get(MIRROR).and_then(Value::as_str)
        && object.get("spec").and_then(|spec| member_text(spec, "nodeName")).is_none()
    {
        let detail = "must set spec.nodeName if mirror pod annotation is set";
        invalid(errors, &at(MIRROR), value, [detail]);
    }
    if let Some(cost) = annotations.get(DELETION_COST).and_then(Value::as_str) {
        let digits = cost.strip_prefix('-').unwrap_or(cost);
        let is_plain = digits == "0" && digits == cost || !digits.starts_with(['0', '+']);
        if !is_plain || cost.parse::<i32>().is_err() {
            invalid(errors, &at(DELETION_COST), cost, ["must be a 32bit integer"]);
        }
    }
    for (key, value) in members(object, "/metadata/annotations") {
        let value = value.as_str().unwrap_or_default();
        if key.starts_with(SECCOMP) || key == SECCOMP_OF_POD {
            if Profile::of(value).is_none() {
                invalid(errors, &at(key), value, ["must be a valid seccomp profile"]);
            }
        } else if let Some(name) = key.strip_prefix(APP_ARMOR)
            && !containers(object).any(|(_, container)| name_of(container) == name)
        {
            invalid(errors, &at(key), name, ["container not found"]);
        }
    }
}

/// A kind of profiles: its name in errors, and the member of security contexts.
#[derive(Clone, Copy)]
struct Kind {
    name: &'static str,
    member: &'static str,
}

const OF_SECCOMP: Kind = Kind { name: "seccomp", member: "seccompProfile" };

const OF_APP_ARMOR: Kind = Kind { name: "apparmor", member: "appArmorProfile" };

/// The profile that an annotation gives.
struct Profile<'a> {
    type_: &'static str,
    file: &'a str,
}

impl<'a> Profile<'a> {
    fn of(value: &'a str) -> Option<Self> {
        let (type_, file) = match value {
            "runtime/default" | "docker/default" => ("RuntimeDefault", ""),
            "unconfined" => ("Unconfined", ""),
            value => ("Localhost", value.strip_prefix("localhost/")?),
        };
        Some(Profile { type_, file })
    }
}

/// The containers of a pod with their paths.
fn containers(pod: &Value) -> impl Iterator<Item = (FieldPath, &Value)> {
    CONTAINERS.into_iter().flat_map(move |list| {
        let at = path(&["spec", list.trim_start_matches('/')]);
        let all = items(pod, &format!("/spec{list}")).iter().enumerate();
        all.map(move |(index, container)| (at.clone().index(index), container))
    })
}

/// Checks that the members that replace annotations say the same: of seccomp always, of AppArmor in
/// new pods.
pub(super) fn match_members(errors: &mut Vec<FieldError>, pod: &Value, is_new: bool) {
    let annotations = value_at(pod, "/metadata/annotations");
    let annotation = |key: &str| annotations.and_then(|all| all.get(key)).and_then(Value::as_str);
    let mut compare = |key: &str, path: FieldPath, holder: &Value, kind: Kind| {
        let context = member(holder, "securityContext");
        let profile = context.and_then(|context| member(context, kind.member));
        if let (Some(said), Some(profile)) = (annotation(key).and_then(Profile::of), profile) {
            let path = path.name("securityContext").name(kind.member);
            match_member(errors, &said, &path, profile, kind);
        }
    };
    if let Some(spec) = pod.get("spec") {
        compare(SECCOMP_OF_POD, path(&["spec"]), spec, OF_SECCOMP);
    }
    for (path, container) in containers(pod) {
        let key = |prefix| format!("{prefix}{}", name_of(container));
        compare(&key(SECCOMP), path.clone(), container, OF_SECCOMP);
        if is_new {
            compare(&key(APP_ARMOR), path, container, OF_APP_ARMOR);
        }
    }
}

fn match_member(
    errors: &mut Vec<FieldError>,
    said: &Profile<'_>,
    path: &FieldPath,
    profile: &Value,
    kind: Kind,
) {
    let kind = kind.name;
    if said.type_ != text(profile, "/type") {
        let detail = format!("{kind} type in annotation and field must match");
        forbid(errors, path.clone().name("type"), &detail);
    } else if said.file != text(profile, "/localhostProfile") {
        let detail = format!("{kind} profile in annotation and field must match");
        forbid(errors, path.clone().name("localhostProfile"), &detail);
    }
}

/// Whether a node made a pod by itself.
pub(super) fn is_static(pod: &Value) -> bool {
    let annotations = value_at(pod, "/metadata/annotations");
    annotations.is_some_and(|all| all.get(MIRROR).is_some())
}
