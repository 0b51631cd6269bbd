//! The answers to access reviews.

use std::borrow::Cow;

use billhook::webhook::{
    AuthorizationRequest, AuthorizationTarget, Authorizer as _, ResourceTarget,
};
use billhook_apimachinery::record::{member, text};
use billhook_apimachinery::value::deep_clone;
use billhook_apimachinery::{FieldError, FieldPath, Status, UserInfo};
use serde_json::{Value, json};

use super::Review;

/// Returns the status of a review of what its author may do.
pub(super) fn own(request: &Review<'_>, review: &Value) -> Result<Value, Status> {
    answer(request, review, true)
}

/// Returns the status of a review of what a user may do.
pub(super) fn of_user(request: &Review<'_>, review: &Value) -> Result<Value, Status> {
    answer(request, review, false)
}

fn answer(request: &Review<'_>, review: &Value, is_own: bool) -> Result<Value, Status> {
    let kind = request.kind.kind();
    let spec = review.get("spec").unwrap_or(&Value::Null);
    let mut errors = validate(spec, is_own);
    if kind.is_namespaced {
        validate_namespace(spec, review, &mut errors);
    }
    if !errors.is_empty() {
        return Err(Status::invalid(kind.group, "", "", &errors));
    }
    let user = if is_own { Cow::Borrowed(request.user()) } else { Cow::Owned(user_of(spec)) };
    let decision = request.server.permissions.authorize(&user, &question_of(spec));
    let mut status = json!({"allowed": decision.allowed, "reason": decision.reason});
    if let (Value::Object(status), Some(error)) = (&mut status, decision.error) {
        status.insert("evaluationError".to_owned(), error.into());
    }
    Ok(status)
}

/// A review is about a resource or about a path, and about someone.
fn validate(spec: &Value, is_own: bool) -> Vec<FieldError> {
    let path = |name: &str| FieldPath::default().name("spec").name(name);
    let mut errors = Vec::new();
    match (member(spec, "resourceAttributes"), member(spec, "nonResourceAttributes")) {
        (Some(_), Some(asked)) => {
            let why = "cannot be specified in combination with resourceAttributes";
            errors.push(FieldError::invalid(path("nonResourceAttributes"), deep_clone(asked), why));
        }
        (None, None) => {
            let why =
                "exactly one of nonResourceAttributes or resourceAttributes must be specified";
            errors.push(FieldError::invalid(path("resourceAttributes"), Value::Null, why));
        }
        _ => {}
    }
    let groups = member(spec, "groups").and_then(Value::as_array);
    if !is_own && text(spec, "user").is_empty() && groups.is_none_or(Vec::is_empty) {
        let why = "at least one of user or group must be specified";
        errors.push(FieldError::invalid(path("user"), "", why));
    }
    errors
}

/// A local review is about its own namespace.
fn validate_namespace(spec: &Value, review: &Value, errors: &mut Vec<FieldError>) {
    let Some(asked) = member(spec, "resourceAttributes") else { return };
    let own = review.get("metadata").map_or("", |metadata| text(metadata, "namespace"));
    let namespace = text(asked, "namespace");
    if namespace != own {
        let path = FieldPath::default().name("spec").name("resourceAttributes").name("namespace");
        errors.push(FieldError::invalid(path, namespace, "must match metadata.namespace"));
    }
}

/// Returns the user that a review is about.
fn user_of(spec: &Value) -> UserInfo {
    let texts = |value: &Value| -> Vec<String> {
        let items = value.as_array().into_iter().flatten();
        items.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let mut user = UserInfo::named(text(spec, "user"));
    text(spec, "uid").clone_into(&mut user.uid);
    user.groups = member(spec, "groups").map(texts).unwrap_or_default();
    let extra = member(spec, "extra").and_then(Value::as_object);
    let extra = extra.into_iter().flatten();
    user.extra.extend(extra.map(|(key, values)| (key.clone(), texts(values))));
    user
}

/// Returns what a review asks.
fn question_of(spec: &Value) -> AuthorizationRequest {
    if let Some(asked) = member(spec, "resourceAttributes") {
        let of = |name: &str| text(asked, name).to_owned();
        let selector = |name: &str| {
            member(asked, name).map_or("", |selector| text(selector, "rawSelector")).to_owned()
        };
        let mut target = ResourceTarget::new(of("group"), of("resource"));
        target.subresource = of("subresource");
        target.namespace = of("namespace");
        target.name = of("name");
        target.field_selector = selector("fieldSelector");
        target.label_selector = selector("labelSelector");
        return AuthorizationRequest::new(of("verb"), target);
    }
    let Some(asked) = member(spec, "nonResourceAttributes") else {
        return AuthorizationRequest::default();
    };
    let path = AuthorizationTarget::Path(text(asked, "path").to_owned());
    AuthorizationRequest::new(text(asked, "verb"), path)
}
