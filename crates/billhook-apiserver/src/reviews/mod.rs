//! Reviews: what a user may do (`authorization.k8s.io`), and who asks (`authentication.k8s.io`).
//! They are answered, and not stored.

mod documents;

use std::borrow::Cow;

use billhook::webhook::{
    AuthorizationRequest, AuthorizationTarget, ResourceTarget, UserAuthorizer,
};
use billhook::{BodyFormat, read_body};
use billhook_apimachinery::metadata::ObjectMeta;
use billhook_apimachinery::record::{Record, TypedRecord, declared_json, text, to_value};
use billhook_apimachinery::value::DeepValue;
use billhook_apimachinery::{FieldError, FieldPath, Status, UserInfo};
use http::{Method, StatusCode};
use serde_json::Value;

use self::documents::{
    AccessReview, AccessStatus, NonResourceRule, ResourceRule, Review, RulesReview, RulesStatus,
    Selector, SelfReview, SelfStatus,
};
use crate::failures::not_allowed;
use crate::protobuf::{self, PROTOBUF};
use crate::request::{NOT_ACCEPTABLE, Request, ResourcePath, negotiate_plain};
use crate::response::{Form, Response};
use crate::shared::Shared;
use crate::users::user_of;

const AUTHORIZATION: &str = "authorization.k8s.io";
const AUTHENTICATION: &str = "authentication.k8s.io";

/// The version of all reviews.
pub(crate) const REVIEW_VERSION: &str = "v1";

/// A kind of reviews.
pub(crate) struct ReviewKind {
    pub(crate) group: &'static str,
    pub(crate) plural: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) is_namespaced: bool,
}

/// All kinds of reviews.
pub(crate) const REVIEW_KINDS: [ReviewKind; 5] = [
    ReviewKind::new(AUTHENTICATION, "selfsubjectreviews", "SelfSubjectReview"),
    ReviewKind {
        is_namespaced: true,
        ..ReviewKind::new(AUTHORIZATION, "localsubjectaccessreviews", "LocalSubjectAccessReview")
    },
    ReviewKind::new(AUTHORIZATION, "selfsubjectaccessreviews", "SelfSubjectAccessReview"),
    ReviewKind::new(AUTHORIZATION, "selfsubjectrulesreviews", "SelfSubjectRulesReview"),
    ReviewKind::new(AUTHORIZATION, "subjectaccessreviews", "SubjectAccessReview"),
];

impl ReviewKind {
    const fn new(group: &'static str, plural: &'static str, kind: &'static str) -> Self {
        ReviewKind { group, plural, kind, is_namespaced: false }
    }

    /// The kind of reviews that a path is for.
    fn of_path(path: &ResourcePath) -> Option<&'static Self> {
        let has_old_form = path.is_watch || path.is_proxy;
        if has_old_form || path.version != REVIEW_VERSION || path.name.is_some() {
            return None;
        }
        REVIEW_KINDS.iter().find(|review| {
            path.group == review.group
                && path.resource == review.plural
                && path.namespace.is_some() == review.is_namespaced
                && path.subresource.is_empty()
        })
    }
}

/// Answers a review; `None` if the path is not that of one.
pub(crate) fn serve(server: &Shared, request: &Request, path: &ResourcePath) -> Option<Response> {
    let ReviewKind { group, kind, .. } = ReviewKind::of_path(path)?;
    let Some(accepted) = negotiate_plain(request.header("accept")) else {
        let status = Status::failure(406, "NotAcceptable", NOT_ACCEPTABLE);
        return Some(Form::fallback().status(&status));
    };
    let form = Form::of(request, &accepted);
    let answer = match request.method {
        Method::POST => review(server, request, group, kind),
        _ => Err(not_allowed()),
    };
    Some(match answer {
        Ok(json) => form.json(StatusCode::CREATED, json),
        Err(status) => form.status(&status),
    })
}

fn review(server: &Shared, request: &Request, group: &str, kind: &str) -> Result<String, Status> {
    let user = user_of(request, &server.settings.user)?;
    let body = body(request, kind)?;
    let api_version = format!("{group}/v1");
    Ok(match kind {
        "SelfSubjectReview" => {
            let mut metadata = ObjectMeta::default();
            metadata.creation_timestamp = server.now();
            let status = SelfStatus { user_info: user.into_owned() };
            print(&SelfReview { kind: kind.to_owned(), api_version, metadata, status })
        }
        "SelfSubjectRulesReview" => {
            let review: RulesReview = read(&body)?;
            let status = rules(server);
            print(&RulesReview { kind: kind.to_owned(), api_version, status, ..review })
        }
        _ => {
            let review: AccessReview = read(&body)?;
            let is_own = kind == "SelfSubjectAccessReview";
            let errors = validate(&review, is_own);
            if !errors.is_empty() {
                return Err(Status::invalid(group, kind, "", &errors));
            }
            let user = if is_own { user } else { Cow::Owned(review.spec.user()) };
            let status = decide(server, &user, &review);
            print(&AccessReview { kind: kind.to_owned(), api_version, status, ..review })
        }
    })
}

/// Reads the body, which clients of built-in kinds send as protobuf, too.
fn body(request: &Request, kind: &str) -> Result<DeepValue, Status> {
    let format = match request.content_type().trim() {
        PROTOBUF => {
            let read = protobuf::read(request.body()?, record_of);
            let is_review = |object: &DeepValue| record_of("", text(object, "kind")).is_some();
            let message = "the body cannot be read as a review in protobuf";
            return read.ok().filter(is_review).ok_or_else(|| Status::bad_request(message));
        }
        "application/yaml" => BodyFormat::Yaml,
        "application/json" => BodyFormat::Json,
        _ => {
            let message = "the body of the request was in an unknown format - accepted media types \
                           include: application/json, application/yaml, \
                           application/vnd.kubernetes.protobuf";
            return Err(Status::failure(415, "UnsupportedMediaType", message));
        }
    };
    let read = read_body(request.body()?, format, kind);
    read.map_err(|error| Status::bad_request(error.to_string()))
}

fn record_of(_: &str, kind: &str) -> Option<&'static Record> {
    REVIEW_KINDS.iter().any(|review| review.kind == kind).then(|| match kind {
        "SelfSubjectReview" => SelfReview::record(),
        "SelfSubjectRulesReview" => RulesReview::record(),
        _ => AccessReview::record(),
    })
}

fn read<T: TypedRecord>(body: &Value) -> Result<T, Status> {
    let read = T::read(body).map(|(review, _)| review);
    read.map_err(|error| Status::bad_request(error.to_string()))
}

fn print<T: Review>(review: &T) -> String {
    declared_json(&to_value(review), T::record())
}

/// A review is about a resource or about a path, and about somebody.
fn validate(review: &AccessReview, is_own: bool) -> Vec<FieldError> {
    let spec = FieldPath::default().name("spec");
    let mut errors = Vec::new();
    match (&review.spec.resource_attributes, &review.spec.non_resource_attributes) {
        (Some(_), Some(path)) => {
            let why = "cannot be specified in combination with resourceAttributes";
            let value = to_value(path).into_inner();
            errors.push(FieldError::invalid(spec.name("nonResourceAttributes"), value, why));
        }
        (None, None) => {
            let why =
                "exactly one of nonResourceAttributes or resourceAttributes must be specified";
            errors.push(FieldError::invalid(spec.name("resourceAttributes"), Value::Null, why));
        }
        _ => {}
    }
    if !is_own && review.spec.user.is_empty() && review.spec.groups.is_empty() {
        let why = "at least one of user or group must be specified";
        errors.push(FieldError::invalid(FieldPath::default().name("spec").name("user"), "", why));
    }
    errors
}

fn decide(server: &Shared, user: &UserInfo, review: &AccessReview) -> AccessStatus {
    let mut request = AuthorizationRequest::default();
    if let Some(path) = &review.spec.non_resource_attributes {
        request.verb.clone_from(&path.verb);
        request.target = AuthorizationTarget::Path(path.path.clone());
    }
    if let Some(asked) = &review.spec.resource_attributes {
        let mut target = ResourceTarget::new(&asked.group, &asked.resource);
        target.subresource.clone_from(&asked.subresource);
        target.namespace.clone_from(&asked.namespace);
        target.name.clone_from(&asked.name);
        let raw = |selector: &Option<Selector>| {
            selector.as_ref().map(|selector| selector.raw_selector.clone()).unwrap_or_default()
        };
        target.field_selector = raw(&asked.field_selector);
        target.label_selector = raw(&asked.label_selector);
        request.verb.clone_from(&asked.verb);
        request.target = AuthorizationTarget::Resource(target);
    }
    let decision = server.settings.authorizer.authorize(user, &request);
    AccessStatus {
        allowed: decision.allowed,
        reason: decision.reason,
        evaluation_error: decision.error.unwrap_or_default(),
    }
}

/// All that the user of a request may do, if it is known without asking.
fn rules(server: &Shared) -> RulesStatus {
    let all = || vec!["*".to_owned()];
    if server.settings.authorizer.allows_everything() {
        return RulesStatus {
            resource_rules: vec![ResourceRule {
                verbs: all(),
                api_groups: all(),
                resources: all(),
            }],
            non_resource_rules: vec![NonResourceRule { verbs: all(), non_resource_urls: all() }],
            ..RulesStatus::default()
        };
    }
    let evaluation_error = "the authorizer of this server answers questions and lists no rules";
    let evaluation_error = evaluation_error.to_owned();
    RulesStatus { incomplete: true, evaluation_error, ..RulesStatus::default() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The body of `kubectl auth can-i get configmaps`, as recorded.
    const CAN_I: &[u8] = b"k8s\x00\n2\n\x17authorization.k8s.io/v1\x12\x17SelfSubjectAccessReview\
        \x12B\n\x10\n\x00\x12\x00\x1a\x00\"\x00*\x002\x008\x00B\x00\x12$\n\"\n\x07default\x12\
        \x03get\x1a\x00\"\x00*\nconfigmaps2\x00:\x00\x1a\x08\x08\x00\x12\x00\x1a\x00 \x00\x1a\
        \x00\"\x00";

    #[test]
    fn reviews_are_read_from_protobuf() {
        assert_eq!(
            *protobuf::read(CAN_I, record_of).unwrap(),
            json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
                "metadata": {}, "spec": {"resourceAttributes": {
                    "namespace": "default", "verb": "get", "resource": "configmaps"}}}),
        );
    }

    #[test]
    fn no_part_of_an_object_is_read_as_one() {
        for length in 0..CAN_I.len() {
            let review = protobuf::read(CAN_I.get(..length).unwrap(), record_of);
            let attributes =
                review.ok().and_then(|review| review.pointer("/spec/resourceAttributes").cloned());
            assert!(attributes.is_none() || length > 60);
        }
    }
}
