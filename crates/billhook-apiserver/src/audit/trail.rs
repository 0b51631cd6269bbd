//! One request on its way through the stages of an audit log.

use std::net::IpAddr;
use std::sync::{Arc, PoisonError};

use billhook::webhook::{AuthorizationDecision, AuthorizationRequest};
use billhook_admission::AuditLevel;
use billhook_apimachinery::UserInfo;
use billhook_apimachinery::record::text;
use billhook_apimachinery::value::DeepValue;
use billhook_apply::ManagedFields;
use billhook_decode::read_json;
use http::{Uri, header};
use serde_json::Value;

use super::AuditLog;
use super::event::{AuditEvent, AuditedObject, AuditedStatus};
use super::policy::{API_VERSION, Asked, COMPLETE, RECEIVED, STARTED};
use crate::budget::Budget;
use crate::clock::Clock;
use crate::kinds::record_of;
use crate::protobuf::{self, PROTOBUF};
use crate::request::{AUDIT_ID, Request};
use crate::response::{Response, status_of};

/// Where a request came from, and for which path and query.
#[derive(Debug)]
pub(crate) struct Origin {
    uri: Uri,
    address: Option<IpAddr>,
}

impl Origin {
    pub(crate) fn of(request: &http::request::Parts) -> Self {
        Origin { uri: request.uri.clone(), address: request.extensions.get().copied() }
    }
}

/// A request that is written down. When it is dropped, it is over.
#[derive(Debug)]
pub(crate) struct Trail {
    log: Arc<AuditLog>,
    clock: Clock,
    asked: Asked,
    question: AuthorizationRequest,
    event: AuditEvent,
}

impl Trail {
    /// Begins with a request that a user makes, if the policy asks for it, and writes down that it came.
    pub(crate) fn begin(
        log: &Arc<AuditLog>,
        clock: &Clock,
        request: &mut Request,
        origin: &Origin,
        user: &UserInfo,
        question: AuthorizationRequest,
    ) -> Option<Box<Self>> {
        let asked = log.policy.asks(user, &question)?;
        let audit_id = request.audit_id();
        // The answer has the same one.
        request.headers.insert(AUDIT_ID, audit_id.clone());
        request.annotations = Some(Box::default());
        let now = clock.precise().to_rfc3339();
        let event = AuditEvent {
            kind: "Event".to_owned(),
            api_version: API_VERSION.to_owned(),
            level: asked.level.name().to_owned(),
            audit_id: String::from_utf8_lossy(audit_id.as_bytes()).into_owned(),
            request_uri: origin.uri.path_and_query().map(ToString::to_string).unwrap_or_default(),
            verb: question.verb.clone(),
            user: user.clone(),
            source_ips: source_ips(request, origin.address),
            user_agent: request.header("user-agent").to_owned(),
            object: object(request),
            request_received: now.clone(),
            ..AuditEvent::default()
        };
        let (log, clock) = (Arc::clone(log), clock.clone());
        let mut trail = Box::new(Trail { log, clock, asked, question, event });
        trail.write(RECEIVED, now);
        Some(trail)
    }

    /// Returns the question whether the request may be made.
    pub(crate) fn question(&self) -> &AuthorizationRequest {
        &self.question
    }

    /// Adds whom the request impersonates.
    pub(crate) fn impersonates(&mut self, user: &UserInfo) {
        self.event.impersonated_user = Some(user.clone());
    }

    /// Adds the decision about permissions.
    pub(crate) fn decided(&mut self, decision: AuthorizationDecision) {
        let word = if decision.allowed { "allow" } else { "forbid" };
        let annotations = &mut self.event.annotations;
        annotations.insert("authorization.k8s.io/decision".to_owned(), word.to_owned());
        annotations.insert("authorization.k8s.io/reason".to_owned(), decision.reason);
    }

    /// Adds the answer. That of a stream is over when its body is dropped.
    pub(crate) fn answered(
        mut self: Box<Self>,
        request: &Request,
        response: &mut Response,
        budget: &Budget,
    ) {
        self.add_annotations(request);
        self.add_bodies(request, response, budget);
        let mut status = AuditedStatus::default();
        if let Some(found) = status_of(response) {
            status.status.clone_from(&found.status);
            status.message.clone_from(&found.message);
            status.reason.clone_from(&found.reason);
            status.details.clone_from(&found.details);
        }
        status.code = response.status().as_u16().into();
        self.event.response_status = Some(status);
        if response.body().end().is_some() {
            let now = self.clock.precise().to_rfc3339();
            self.write(STARTED, now);
            response.body_mut().keep(self);
        }
    }

    fn add_annotations(&mut self, request: &Request) {
        let Some(annotations) = &request.annotations else { return };
        let annotations = annotations.lock().unwrap_or_else(PoisonError::into_inner);
        for (key, annotation) in annotations.iter() {
            if annotation.level <= self.asked.level {
                let value = annotation.value.clone();
                self.event.annotations.entry(key.to_owned()).or_insert(value);
            }
        }
    }

    /// Adds the bodies, and what the body of the request says of its object where the path does not.
    fn add_bodies(&mut self, request: &Request, response: &mut Response, budget: &Budget) {
        let is_for_objects = self.event.object.is_some();
        let sent = request.body().ok().filter(|body| is_for_objects && !body.is_empty());
        let sent = sent.and_then(|body| read(body, request.content_type()));
        if let (Some(sent), Some(object)) = (&sent, &mut self.event.object) {
            let metadata = sent.get("metadata").unwrap_or(&Value::Null);
            let AuditedObject { namespace, name, uid, resource_version, .. } = object;
            let fields = [(namespace, "namespace"), (name, "name"), (uid, "uid")];
            let fields = fields.into_iter().chain([(resource_version, "resourceVersion")]);
            for (field, member) in fields.filter(|(field, _)| field.is_empty()) {
                text(metadata, member).clone_into(field);
            }
        }
        if self.asked.level >= AuditLevel::Request {
            self.event.request_object = sent.map(|sent| self.as_written(sent));
        }
        if self.asked.level >= AuditLevel::RequestResponse {
            let type_ = response.headers().get(header::CONTENT_TYPE).cloned();
            let type_ = type_.as_ref().and_then(|it| it.to_str().ok()).unwrap_or_default();
            let answer = response.body_mut().gather(budget).and_then(|body| read(body, type_));
            self.event.response_object = answer.map(|answer| self.as_written(answer));
        }
    }

    /// An object or a list without what is left out.
    fn as_written(&self, mut object: DeepValue) -> DeepValue {
        if self.asked.omits_managed_fields {
            ManagedFields::take_out(&mut object);
            let items = object.get_mut("items").and_then(Value::as_array_mut);
            for item in items.into_iter().flatten() {
                ManagedFields::take_out(item);
            }
        }
        object
    }

    fn write(&mut self, stage: &str, now: String) {
        if !self.asked.omits(stage) {
            stage.clone_into(&mut self.event.stage);
            self.event.stage_time = now;
            (self.log.write)(&self.event);
        }
    }
}

impl Drop for Trail {
    fn drop(&mut self) {
        let now = self.clock.precise().to_rfc3339();
        self.write(COMPLETE, now);
    }
}

/// The object of a body of some type, if it can be read.
fn read(body: &[u8], type_: &str) -> Option<DeepValue> {
    let type_ = type_.split_once(';').map_or(type_, |(name, _)| name).trim();
    match type_ {
        PROTOBUF => protobuf::read(body, record_of).ok(),
        _ if type_.contains("yaml") => Some(billhook_yaml::read_document(body).ok()?.into_value()),
        _ => Some(read_json(body).ok()?.into_value()),
    }
}

fn object(request: &Request) -> Option<AuditedObject> {
    let path = request.objects.as_ref()?;
    Some(AuditedObject {
        resource: path.resource.clone(),
        namespace: path.namespace.clone().unwrap_or_default(),
        name: path.name.clone().unwrap_or_default(),
        group: path.group.clone(),
        version: path.version.clone(),
        subresource: path.subresource.clone(),
        ..AuditedObject::default()
    })
}

/// Where a request came from, the first place first.
fn source_ips(request: &Request, address: Option<IpAddr>) -> Vec<String> {
    let forwarded = request.header("x-forwarded-for").split(',');
    let mut ips: Vec<String> = forwarded.filter_map(ip).collect();
    let real = ip(request.header("x-real-ip")).filter(|real| !ips.contains(real));
    ips.extend(real);
    let own = address.map(|address| address.to_string());
    ips.extend(own.filter(|own| ips.last() != Some(own)));
    ips
}

fn ip(text: &str) -> Option<String> {
    text.trim().parse::<IpAddr>().ok().map(|address| address.to_string())
}
