//! RoleBindings and ClusterRoleBindings (BK-401).

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::names::{dns1123_subdomain, path_segment};
use billhook_apimachinery::record::Type;
use billhook_apimachinery::{FieldError, FieldPath, KubernetesVersion};
use serde_json::Value;

use crate::behavior::{Behavior, Findings, WriteContext};
use crate::cells;
use crate::generated::rbac_v1::ROLE_REF;
use crate::rules::{invalid, invalid_internal, named, one_of};
use crate::values::{items, items_mut, object_mut, path, text};

const GROUP: &str = "rbac.authorization.k8s.io";

/// The rules of bindings.
#[derive(Debug)]
pub(crate) enum Binding {
    Namespaced,
    Cluster,
}

impl Behavior for Binding {
    fn set_defaults(&self, binding: &mut Value, _: KubernetesVersion) {
        if let Some(role) = object_mut(binding, "/roleRef") {
            set_group(role);
        }
        for subject in items_mut(binding, "/subjects") {
            if ["User", "Group"].contains(&text(subject, "/kind")) {
                set_group(subject);
            }
        }
    }

    fn validate(
        &self,
        binding: &Value,
        old: Option<&Value>,
        _: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        let errors = &mut found.errors;
        self.validate_role(binding, errors);
        for (index, subject) in items(binding, "/subjects").iter().enumerate() {
            self.validate_subject(subject, &path(&["subjects"]).index(index), errors);
        }
        let role = binding.get("roleRef");
        if old.is_some_and(|old| old.get("roleRef") != role) {
            let type_ = (Type::Record(|| &ROLE_REF), "rbac");
            let detail = "cannot change roleRef";
            errors.push(invalid_internal(path(&["roleRef"]), role, type_, detail));
        }
    }

    fn cells(&self, object: &Value, now: Time) -> Vec<Value> {
        let role = format!("{}/{}", text(object, "/roleRef/kind"), text(object, "/roleRef/name"));
        vec![
            cells::name(object),
            role.into(),
            cells::created(object, now),
            subjects(object, "User").into(),
            subjects(object, "Group").into(),
            subjects(object, "ServiceAccount").into(),
        ]
    }
}

impl Binding {
    fn validate_role(&self, binding: &Value, errors: &mut Vec<FieldError>) {
        let of = |name: &str| text(binding, &format!("/roleRef/{name}"));
        let at = |name: &str| path(&["roleRef", name]);
        one_of(errors, &at("apiGroup"), of("apiGroup"), &[GROUP]);
        let kinds: &[&str] = match self {
            Binding::Namespaced => &["Role", "ClusterRole"],
            Binding::Cluster => &["ClusterRole"],
        };
        one_of(errors, &at("kind"), of("kind"), kinds);
        match of("name") {
            "" => errors.push(FieldError::required(at("name"), "")),
            name => invalid(errors, &at("name"), name, path_segment(name, false)),
        }
    }

    fn validate_subject(&self, subject: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
        let of = |name: &str| text(subject, name);
        let at = |name: &str| at.clone().name(name);
        if of("name").is_empty() {
            errors.push(FieldError::required(at("name"), ""));
        }
        match of("kind") {
            "ServiceAccount" => {
                if !of("name").is_empty() {
                    named(errors, &at("name"), of("name"), dns1123_subdomain);
                }
                one_of(errors, &at("apiGroup"), of("apiGroup"), &[""]);
                if matches!(self, Binding::Cluster) && of("namespace").is_empty() {
                    errors.push(FieldError::required(at("namespace"), ""));
                }
            }
            "User" | "Group" => one_of(errors, &at("apiGroup"), of("apiGroup"), &[GROUP]),
            kind => one_of(errors, &at("kind"), kind, &["ServiceAccount", "User", "Group"]),
        }
    }
}

fn set_group(reference: &mut Value) {
    if text(reference, "/apiGroup").is_empty()
        && let Value::Object(members) = reference
    {
        members.insert("apiGroup".to_owned(), GROUP.into());
    }
}

/// The names of the subjects of a kind.
fn subjects(binding: &Value, kind: &str) -> String {
    let all = items(binding, "/subjects").iter();
    let names = all.filter(|subject| text(subject, "/kind") == kind).map(|subject| {
        let name = text(subject, "/name");
        match kind {
            "ServiceAccount" => format!("{}/{name}", text(subject, "/namespace")),
            _ => name.to_owned(),
        }
    });
    names.collect::<Vec<_>>().join(", ")
}
