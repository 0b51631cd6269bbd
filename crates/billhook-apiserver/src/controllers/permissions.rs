//! The permissions that users need who write admission policies: they have to be able to read the
//! parameters themselves (PO-18).

use std::fmt::Write as _;
use std::sync::Arc;

use billhook::webhook::{
    AdmissionAttributes, AuthorizationRequest, Authorizer as _, Operation, ResourceTarget,
};
use billhook::{FieldError, FieldPath, Status, UserInfo};
use billhook_admission::{Plugin, PluginRequest, Stage};
use billhook_apimachinery::split_api_version;
use billhook_policy::{ParamKind, ParamRef, PolicyDocument, PolicyKind};
use serde_json::Value;

use crate::admission_configuration::policy;
use crate::permissions::is_master;
use crate::shared::Shared;

/// Asks whether users may read the parameters that they write of.
pub(super) struct PolicyPermissions(pub(super) Arc<Shared>);

impl Plugin for PolicyPermissions {
    fn name(&self) -> &str {
        "PolicyPermissions"
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
        let AdmissionAttributes { user, object, old_object, subresource, .. } =
            request.attributes();
        if !subresource.is_empty() || is_master(user) {
            return Ok(());
        }
        let read = |object: &Value| PolicyDocument::from_value(object).ok();
        let Some(document) = object.as_deref().and_then(read) else {
            return Err(Status::internal_error("the policy cannot be read"));
        };
        let old = old_object.as_deref().and_then(read);
        match self.missing(user, &document, old.as_ref()) {
            Some(error) => Err(document.refusal(&[error])),
            None => Ok(()),
        }
    }
}

impl PolicyPermissions {
    /// Returns the error about a permission that the user lacks.
    fn missing(
        &self,
        user: &UserInfo,
        document: &PolicyDocument,
        old: Option<&PolicyDocument>,
    ) -> Option<FieldError> {
        let spec = |name: &str| FieldPath::default().name("spec").name(name);
        if let Some(kind) = param_kind(document) {
            let is_known = old.and_then(param_kind) == Some(kind);
            let mut target = self.target(Some(kind));
            "*".clone_into(&mut target.namespace);
            "*".clone_into(&mut target.name);
            if is_known || self.may(user, "get", target) {
                return None;
            }
            let ParamKind { api_version, kind, .. } = kind;
            let detail = format!(
                "user {} must have \"get\" permission on all objects of the referenced paramKind \
                 (kind={kind}, apiVersion={api_version})",
                shown(user)
            );
            return Some(FieldError::forbidden(spec("paramKind"), &detail));
        }
        let (policy_kind, name, param_ref) = bound(document)?;
        if old.and_then(bound) == Some((policy_kind, name, param_ref)) {
            return None;
        }
        let policy = policy(&self.0.storage, policy_kind, name);
        let mut target = self.target(policy.as_ref().and_then(param_kind));
        target.namespace.clone_from(&param_ref.namespace);
        target.name.clone_from(&param_ref.name);
        let verb = if param_ref.name.is_empty() { "list" } else { "get" };
        if self.may(user, verb, target) {
            return None;
        }
        let user = shown(user);
        let detail = match policy {
            Some(_) => format!(
                "user {user} does not have \"{verb}\" permission on the object referenced by \
                 paramRef"
            ),
            None => format!(
                "unable to get policy {name} to determine minimum required permissions and user \
                 {user} does not have \"{verb}\" permission for all groups, versions and resources"
            ),
        };
        Some(FieldError::forbidden(spec("paramRef"), &detail))
    }

    /// Returns the resource of a kind, or all resources if it is not known.
    fn target(&self, kind: Option<&ParamKind>) -> ResourceTarget {
        let Some(kind) = kind else { return ResourceTarget::new("*", "*") };
        let group = split_api_version(&kind.api_version).0;
        let catalog = self.0.catalog();
        let plural =
            catalog.of_kind(group, &kind.kind).map(|it| it.definition.names().plural.clone());
        ResourceTarget::new(group, plural.unwrap_or_else(|| "*".to_owned()))
    }

    fn may(&self, user: &UserInfo, verb: &str, target: ResourceTarget) -> bool {
        let request = AuthorizationRequest::new(verb, target);
        self.0.permissions.authorize(user, &request).allowed
    }
}

fn param_kind(document: &PolicyDocument) -> Option<&ParamKind> {
    match document {
        PolicyDocument::Validating(policy) => policy.spec.param_kind.as_ref(),
        PolicyDocument::Mutating(policy) => policy.spec.param_kind.as_ref(),
        _ => None,
    }
}

/// The policy of a binding, and its parameters.
fn bound(document: &PolicyDocument) -> Option<(PolicyKind, &str, &ParamRef)> {
    match document {
        PolicyDocument::ValidatingBinding(binding) => {
            let spec = &binding.spec;
            Some((PolicyKind::Validating, &spec.policy_name, spec.param_ref.as_ref()?))
        }
        PolicyDocument::MutatingBinding(binding) => {
            let spec = &binding.spec;
            Some((PolicyKind::Mutating, &spec.policy_name, spec.param_ref.as_ref()?))
        }
        _ => None,
    }
}

/// A user in Go's notation: `&{bob 1 [g1 system:authenticated] map[]}`.
fn shown(user: &UserInfo) -> String {
    let UserInfo { username, uid, groups, extra, .. } = user;
    let mut shown = format!("&{{{username} {uid} [{}] map[", groups.join(" "));
    for (index, (key, values)) in extra.iter().enumerate() {
        let blank = if index > 0 { " " } else { "" };
        // Writing to a string cannot fail.
        let _ = write!(shown, "{blank}{key}:[{}]", values.join(" "));
    }
    shown + "]}"
}
