//! Who writes roles and bindings may grant no more than they have (BK-652).

use std::sync::Arc;

use billhook::webhook::{AdmissionAttributes, AuthorizationRequest, Operation, ResourceTarget};
use billhook::{GroupVersionResource, Status, UserInfo};
use billhook_admission::{Plugin, PluginRequest, Stage};
use billhook_apimachinery::print::quote;
use billhook_apimachinery::record::{member, text};
use billhook_apimachinery::value::deep_eq;
use billhook_kinds::PolicyRule;
use serde_json::Value;

use crate::permissions::{RBAC_GROUP, is_master};
use crate::shared::Shared;

/// How many bytes of rules a refusal shows.
const MAX_SHOWN: usize = 64 << 10;

/// Refuses what would give users more than their author has.
pub(super) struct Escalation(pub(super) Arc<Shared>);

impl Plugin for Escalation {
    fn name(&self) -> &str {
        "Escalation"
    }

    fn has_stage(&self, stage: Stage) -> bool {
        stage == Stage::Validating
    }

    fn handles(&self, operation: Operation) -> bool {
        matches!(operation, Operation::Create | Operation::Update)
    }

    fn sees_owners(&self) -> bool {
        false
    }

    fn validate(&self, request: &mut PluginRequest<'_>) -> Result<(), Status> {
        let attributes = request.attributes();
        let Some(object) = attributes.object.as_deref() else { return Ok(()) };
        if is_master(&attributes.user) {
            return Ok(());
        }
        let writer = Writer { server: &self.0, attributes, object };
        if writer.changes_links_only() {
            return Ok(());
        }
        match attributes.resource.resource.as_str() {
            "roles" | "clusterroles" => writer.check_role(),
            _ => writer.check_binding(),
        }
    }
}

/// A write of a role or a binding.
struct Writer<'w> {
    server: &'w Shared,
    attributes: &'w AdmissionAttributes,
    object: &'w Value,
}

impl Writer<'_> {
    fn user(&self) -> &UserInfo {
        &self.attributes.user
    }

    /// Whether nothing changes but what the garbage collector writes, who has no permissions to give.
    fn changes_links_only(&self) -> bool {
        const LINKS: [&str; 4] =
            ["finalizers", "managedFields", "ownerReferences", "resourceVersion"];
        let others = |object: &Value| {
            let mut object = object.clone();
            if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
                metadata.retain(|name, _| !LINKS.contains(&name.as_str()));
            }
            object
        };
        let old = self.attributes.old_object.as_deref();
        old.is_some_and(|old| deep_eq(&others(old), &others(self.object)))
    }

    /// Whether a member is as it was.
    fn is_kept(&self, name: &str) -> bool {
        let old = self.attributes.old_object.as_deref();
        old.is_some_and(|old| match (member(old, name), member(self.object, name)) {
            (Some(old), Some(new)) => deep_eq(old, new),
            (old, new) => old.is_none() && new.is_none(),
        })
    }

    fn check_role(&self) -> Result<(), Status> {
        let resource = &self.attributes.resource.resource;
        let mut role = ResourceTarget::new(RBAC_GROUP, resource);
        text(self.metadata(), "name").clone_into(&mut role.name);
        text(self.metadata(), "namespace").clone_into(&mut role.namespace);
        if self.may("escalate", role) {
            return Ok(());
        }
        let old = self.attributes.old_object.as_deref();
        let aggregates = |role: &Value| member(role, "aggregationRule").is_some();
        if aggregates(self.object) || old.is_some_and(aggregates) {
            let held = self.held();
            if PolicyRule::not_held(&everything(), &held) != Some(Vec::new()) {
                return Err(
                    self.refusal("must have cluster-admin privileges to use the aggregationRule")
                );
            }
        }
        if self.is_kept("rules") {
            return Ok(());
        }
        self.check_rules(&PolicyRule::read_all(self.object))
    }

    fn check_binding(&self) -> Result<(), Status> {
        if self.is_kept("roleRef") && self.is_kept("subjects") {
            return Ok(());
        }
        let empty = Value::Null;
        let reference = member(self.object, "roleRef").unwrap_or(&empty);
        let (kind, name) = (text(reference, "kind"), text(reference, "name"));
        let namespace = text(self.metadata(), "namespace");
        let mut role = ResourceTarget::new(RBAC_GROUP, format!("{}s", kind.to_lowercase()));
        name.clone_into(&mut role.name);
        namespace.clone_into(&mut role.namespace);
        if self.may("bind", role) {
            return Ok(());
        }
        match self.server.permissions.roles.role(kind, namespace, name) {
            Some(rules) => self.check_rules(&rules),
            None => Err(Status::not_found(self.resource(), name)),
        }
    }

    /// Refuses rules that the user does not have.
    fn check_rules(&self, rules: &[PolicyRule]) -> Result<(), Status> {
        let Some(missing) = PolicyRule::not_held(rules, &self.held()) else {
            return Err(
                self.refusal("its rules are too many to be compared with those of the user")
            );
        };
        if missing.is_empty() {
            return Ok(());
        }
        let groups: Vec<String> = self.user().groups.iter().map(|group| quote(group)).collect();
        Err(self.refusal(&format!(
            "user {} (groups=[{}]) is attempting to grant RBAC permissions not currently held:\n{}",
            quote(&self.user().username),
            groups.join(" "),
            shown(&missing),
        )))
    }

    /// The rules that the user has where the object is.
    fn held(&self) -> Vec<PolicyRule> {
        let namespace = text(self.metadata(), "namespace");
        self.server.permissions.roles.rules_of(self.user(), namespace)
    }

    fn may(&self, verb: &str, role: ResourceTarget) -> bool {
        let question = AuthorizationRequest::new(verb, role);
        self.server.permissions.decide(self.user(), &question).allowed
    }

    fn metadata(&self) -> &Value {
        member(self.object, "metadata").unwrap_or(&Value::Null)
    }

    fn resource(&self) -> &GroupVersionResource {
        &self.attributes.resource
    }

    fn refusal(&self, why: &str) -> Status {
        Status::forbidden(self.resource(), text(self.metadata(), "name"), why)
    }
}

/// Returns a line for each rule, as long as the text is short enough to be read.
fn shown(rules: &[PolicyRule]) -> String {
    let mut text = String::new();
    for (index, rule) in rules.iter().enumerate() {
        if text.len() > MAX_SHOWN {
            return format!("{text}\nand {} more", rules.len().saturating_sub(index));
        }
        let line_break = if index == 0 { "" } else { "\n" };
        text.push_str(&format!("{line_break}{rule}"));
    }
    text
}

/// The rules of those who may do everything.
fn everything() -> [PolicyRule; 2] {
    let all = || vec!["*".to_owned()];
    [
        PolicyRule { verbs: all(), api_groups: all(), resources: all(), ..PolicyRule::default() },
        PolicyRule { verbs: all(), non_resource_urls: all(), ..PolicyRule::default() },
    ]
}
