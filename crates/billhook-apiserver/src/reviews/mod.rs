//! Reviews: what a user may do (`authorization.k8s.io`), and who asks (`authentication.k8s.io`).
//! They are answered, and not stored (BK-654).

mod access;
mod rules;
mod token;

use std::sync::Arc;

use billhook::webhook::AdmissionAttributes;
use billhook_admission::{ObjectRequest, Warnings};
use billhook_apimachinery::record::{complete, declared_json, to_value};
use billhook_apimachinery::value::DeepValue;
use billhook_apimachinery::{GroupVersionKind, GroupVersionResource, Status, UserInfo};
use billhook_kinds::{Kind, KindType};
use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::failures::not_allowed;
use crate::request::{NOT_ACCEPTABLE, Request, ResourcePath, negotiate_own};
use crate::resources::reviews;
use crate::response::{Form, Response};
use crate::rest::{Body, DocumentType, WriteOptions, track_creation, warn};
use crate::shared::Shared;
use crate::write_path::admit_review;

/// The answer to a review.
enum Answer {
    /// Its status; the author of the review owns what is asked.
    Status(fn(&Review<'_>, &Value) -> Result<Value, Status>),
    /// A document without what is asked.
    Whole(fn(&Review<'_>, &Value) -> Result<Value, Status>),
}

/// The answers by the kind of the review.
static ANSWERS: [(&str, Answer); 6] = [
    ("LocalSubjectAccessReview", Answer::Status(access::of_user)),
    ("SelfSubjectAccessReview", Answer::Status(access::own)),
    ("SelfSubjectReview", Answer::Whole(own_user)),
    ("SelfSubjectRulesReview", Answer::Whole(own_rules)),
    ("SubjectAccessReview", Answer::Status(access::of_user)),
    ("TokenReview", Answer::Status(|review, asked| token::answer(review.server, asked))),
];

fn own_user(review: &Review<'_>, _: &Value) -> Result<Value, Status> {
    Ok(json!({
        "metadata": {"creationTimestamp": review.server.now().to_rfc3339()},
        "status": {"userInfo": to_value(review.user()).into_inner()},
    }))
}

fn own_rules(review: &Review<'_>, asked: &Value) -> Result<Value, Status> {
    let namespace = asked.pointer("/spec/namespace").and_then(Value::as_str);
    let status = rules::of(review.server, review.user(), namespace.unwrap_or_default())?;
    Ok(json!({"status": status}))
}

/// The kind of reviews that a path is for.
pub(crate) fn kind_of(path: &ResourcePath) -> Option<&'static Kind> {
    let has_old_form = path.is_watch || path.is_proxy;
    if has_old_form || path.name.is_some() || !path.subresource.is_empty() {
        return None;
    }
    reviews().find(|kind| {
        [kind.group, kind.version, kind.plural] == [&path.group, &path.version, &path.resource]
            && path.namespace.is_some() == kind.is_namespaced
    })
}

/// Answers a review of a kind.
pub(crate) async fn serve(
    server: &Arc<Shared>,
    request: &Request,
    kind: &'static Kind,
) -> Response {
    let Some(accepted) = negotiate_own(request.header("accept")) else {
        let status = Status::failure(406, "NotAcceptable", NOT_ACCEPTABLE);
        return Form::fallback().status(&status);
    };
    let form = Form::of(request, &accepted);
    let Some(kind) = KindType::new(kind, server.settings.kubernetes) else {
        return form.status(&Status::resource_not_found());
    };
    let mut warnings = Warnings::default();
    let answer = match request.method {
        Method::POST => Review { server, request, kind }.answer(&mut warnings).await,
        _ => Err(not_allowed()),
    };
    let mut response = match answer {
        Ok(json) => form.json(StatusCode::CREATED, json),
        Err(status) => form.status(&status),
    };
    warn(&mut response, &warnings);
    response
}

/// A request for a review.
struct Review<'r> {
    server: &'r Arc<Shared>,
    request: &'r Request,
    kind: KindType,
}

impl Review<'_> {
    /// Reads the review, and prints it with its answer.
    async fn answer(&self, warnings: &mut Warnings) -> Result<String, Status> {
        let (kind, record) = (self.kind.kind(), self.kind.record());
        let body = Body::of(self.request, Some(record))?;
        let options = WriteOptions::read(self.request, "CreateOptions")?;
        let type_ = DocumentType {
            kind: kind.kind,
            api_versions: &[&kind.api_version()],
            record,
            kubernetes: self.kind.kubernetes(),
        };
        let review = type_.read(&body, options.field_validation, warnings)?;
        let mut review = self.admit(review, &options, warnings).await?;
        let answer = ANSWERS.iter().find(|(name, _)| *name == kind.kind);
        match answer.map(|(_, answer)| answer).ok_or_else(Status::resource_not_found)? {
            Answer::Whole(answer) => review = answer(self, &review)?.into(),
            Answer::Status(answer) => {
                let owner = (&*options.field_manager, self.server.settings.clock.now());
                let names = (&*kind.api_version(), kind.kind);
                track_creation(&mut review, &self.empty(), names, "", owner);
                let status = answer(self, &review)?;
                set(&mut review, "status", status);
            }
        }
        set(&mut review, "apiVersion", kind.api_version().into());
        set(&mut review, "kind", kind.kind.into());
        complete(&mut review, self.kind.record(), self.kind.kubernetes());
        Ok(declared_json(&review, self.kind.record()))
    }

    /// Takes the review through webhooks, which may change and refuse it (WM-03).
    async fn admit(
        &self,
        review: DeepValue,
        options: &WriteOptions,
        warnings: &mut Warnings,
    ) -> Result<DeepValue, Status> {
        let kind = self.kind.kind();
        let type_ = GroupVersionKind::new(kind.group, kind.version, kind.kind);
        let resource = GroupVersionResource::new(kind.group, kind.version, kind.plural);
        let attributes = AdmissionAttributes::create(type_, resource, review);
        let namespace = self.request.objects.as_ref().and_then(|path| path.namespace.as_deref());
        let request = options.set(ObjectRequest::create(kind.version, &[]));
        let request = request.namespace(namespace.unwrap_or_default()).user(self.user().clone());
        let request = request.options(self.request.options());
        let outcome = admit_review(self.server, attributes, &request).await;
        self.request.object_of(outcome, warnings)
    }

    fn user(&self) -> &UserInfo {
        self.server.user_of(self.request)
    }

    /// A review in which nothing is said.
    fn empty(&self) -> DeepValue {
        let mut empty = DeepValue::from(json!({}));
        complete(&mut empty, self.kind.record(), self.kind.kubernetes());
        empty
    }
}

fn set(object: &mut Value, name: &str, value: Value) {
    if let Value::Object(members) = object {
        members.insert(name.to_owned(), value);
    }
}
