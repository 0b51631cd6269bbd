//! The questions that requests put to permissions, and the refusals (BK-651).

use billhook::webhook::{AuthorizationRequest, AuthorizationTarget, ResourceTarget};
use billhook_apimachinery::{GroupVersionResource, Status, UserInfo, namespace};

use super::Permissions;
use crate::failures::with_details;
use crate::request::{Request, ResourcePath, Verb};

impl Permissions {
    /// Refuses a request that its user may not make.
    pub(crate) fn check(
        &self,
        user: &UserInfo,
        question: &AuthorizationRequest,
    ) -> Result<(), Status> {
        let decision = self.decide(user, question);
        if !decision.allowed {
            return Err(refusal(user, question, &decision.reason));
        }
        if let Some(recorder) = &self.recorder {
            recorder.add(user, question);
        }
        Ok(())
    }
}

/// Returns the question whether a request may be made.
pub(crate) fn question_of(request: &Request) -> AuthorizationRequest {
    match (&request.objects, request.verb()) {
        (Some(path), Some(verb)) => {
            AuthorizationRequest::new(verb.name(), target(request, path, verb))
        }
        _ => {
            let path = AuthorizationTarget::Path(request.path().to_owned());
            AuthorizationRequest::new(request.method.as_str().to_lowercase(), path)
        }
    }
}

fn target(request: &Request, path: &ResourcePath, verb: Verb) -> ResourceTarget {
    let mut target = ResourceTarget::new(&path.group, &path.resource);
    target.subresource.clone_from(&path.subresource);
    target.name = path.name.clone().unwrap_or_default();
    let is_namespace = namespace::is_resource(&path.group, &path.resource);
    let namespace = if is_namespace { &path.name } else { &path.namespace };
    target.namespace = namespace.clone().unwrap_or_default();
    if matches!(verb, Verb::List | Verb::Watch) {
        let selector = request.query.text("fieldSelector");
        if let Some(name) = name_in(selector) {
            name.clone_into(&mut target.name);
        }
        selector.clone_into(&mut target.field_selector);
        request.query.text("labelSelector").clone_into(&mut target.label_selector);
    }
    target
}

/// The name of the one object that a field selector selects, if it does.
fn name_in(selector: &str) -> Option<&str> {
    let terms = selector.split(',');
    let mut names = terms.filter_map(|term| {
        let name = term.trim().strip_prefix("metadata.name")?.strip_prefix('=')?;
        Some(name.strip_prefix('=').unwrap_or(name))
    });
    names.next().filter(|name| !name.is_empty())
}

/// The refusal of a request.
fn refusal(user: &UserInfo, question: &AuthorizationRequest, reason: &str) -> Status {
    let AuthorizationRequest { verb, target, .. } = question;
    let name = &user.username;
    let because = if reason.is_empty() { String::new() } else { format!(": {reason}") };
    let target = match target {
        AuthorizationTarget::Resource(target) => target,
        AuthorizationTarget::Path(path) => {
            let message =
                format!("forbidden: User \"{name}\" cannot {verb} path \"{path}\"{because}");
            return with_details(Status::failure(403, "Forbidden", message));
        }
        _ => return with_details(Status::failure(403, "Forbidden", "forbidden")),
    };
    let ResourceTarget { group, resource, subresource, namespace, .. } = target;
    let slash = if subresource.is_empty() { "" } else { "/" };
    let place = match namespace.as_str() {
        "" => "at the cluster scope".to_owned(),
        namespace => format!("in the namespace \"{namespace}\""),
    };
    let why = format!(
        "User \"{name}\" cannot {verb} resource \"{resource}{slash}{subresource}\" in API group \
         \"{group}\" {place}{because}"
    );
    Status::forbidden(&GroupVersionResource::new(group, "", resource), &target.name, &why)
}
