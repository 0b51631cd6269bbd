//! The write path with webhooks in the same process: a definition, a mutating webhook `m` and a
//! validating one `v`, and what they were asked.

use std::sync::{Arc, Mutex};

use billhook::CustomResourceDefinition;
use billhook::webhook::WebhookConfiguration;
use billhook_admission::{
    Admission, AdmissionOutcome, AdmissionRequest, AdmissionResponse, AdmissionReview, BoxFuture,
    CallerError, Chain, ObjectRequest, ReviewVersion, ServerFields, WebhookAnswer, WebhookCall,
    WebhookCaller,
};
use serde_json::{Value, json};

type Answers = dyn Fn(&str, &AdmissionRequest) -> AdmissionResponse + Send + Sync;

/// Answers at once, and remembers the questions.
#[derive(Clone)]
pub(crate) struct InProcess {
    answers: Arc<Answers>,
    pub(crate) seen: Arc<Mutex<Vec<(String, Value)>>>,
}

impl InProcess {
    pub(crate) fn new(
        answers: impl Fn(&str, &AdmissionRequest) -> AdmissionResponse + Send + Sync + 'static,
    ) -> Self {
        InProcess { answers: Arc::new(answers), seen: Arc::default() }
    }

    pub(crate) fn answer(&self, hook: &str, request: &AdmissionRequest) -> AdmissionResponse {
        (self.answers)(hook, request)
    }

    /// The last request to a webhook.
    pub(crate) fn asked(&self, hook: &str) -> Value {
        let seen = self.seen.lock().unwrap();
        seen.iter().rev().find(|(name, _)| name == hook).unwrap().1.clone()
    }
}

impl WebhookCaller for InProcess {
    fn call<'a>(
        &'a self,
        call: WebhookCall<'a>,
    ) -> BoxFuture<'a, Result<WebhookAnswer, CallerError>> {
        let review: Value = serde_json::from_slice(&call.review.to_json()).unwrap();
        self.seen.lock().unwrap().push((call.hook.to_owned(), review["request"].clone()));
        let response = (self.answers)(call.hook, call.review.request.as_ref().unwrap());
        let review = AdmissionReview::of_response(ReviewVersion::V1, response);
        Box::pin(std::future::ready(Ok(WebhookAnswer::of_review(&review))))
    }
}

pub(crate) fn definition() -> CustomResourceDefinition {
    definition_with("None")
}

pub(crate) fn definition_with(strategy: &str) -> CustomResourceDefinition {
    let schema = |more: Value| {
        let mut spec = json!({"size": {"type": "integer", "default": 1, "maximum": 9}});
        spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"openAPIV3Schema": {"type": "object", "properties": {
            "spec": {"type": "object", "properties": spec},
            "status": {"type": "object", "properties": {
                "ready": {"type": "boolean"},
                "size": {"type": "integer"},
                "selector": {"type": "string"},
            }},
        }}})
    };
    CustomResourceDefinition::from_value(&json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "foos.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "foos", "kind": "Foo"},
            "conversion": {"strategy": strategy},
            "versions": [
                {"name": "v1", "served": true, "storage": true,
                    "subresources": {"status": {}, "scale": {
                        "specReplicasPath": ".spec.size",
                        "statusReplicasPath": ".status.size",
                        "labelSelectorPath": ".status.selector",
                    }},
                    "schema": schema(json!({}))},
                {"name": "v1beta1", "served": true, "storage": false, "deprecated": true,
                    "subresources": {"status": {}},
                    "schema": schema(json!({"old": {"type": "string"}}))},
                {"name": "v1alpha1", "served": false, "storage": false, "schema": schema(json!({}))},
            ],
        },
    }))
    .unwrap()
}

pub(crate) fn configuration(kind: &str, name: &str) -> WebhookConfiguration {
    WebhookConfiguration::from_value(&json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": format!("{kind}WebhookConfiguration"),
        "metadata": {"name": name},
        "webhooks": [{
            "name": name,
            "clientConfig": {"url": "https://unused"},
            "rules": [{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["v1"],
                "resources": ["*/*"]}],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
        }],
    }))
    .unwrap()
}

/// A mutating webhook `m` and a validating one `v` before the resources of the definition.
pub(crate) fn admission(caller: &InProcess) -> Admission {
    let configurations = [configuration("Mutating", "m"), configuration("Validating", "v")];
    let chain = Chain::new(caller.clone()).webhooks(&configurations);
    Admission::new(definition(), chain)
        .server_fields(|| ServerFields::new("u-1", "2026-01-01T00:00:00Z", "xxxxx"))
}

pub(crate) fn allow(_: &str, request: &AdmissionRequest) -> AdmissionResponse {
    AdmissionResponse::allow(request)
}

pub(crate) fn patch_of_m(operations: Value) -> InProcess {
    InProcess::new(move |hook, request| {
        let response = AdmissionResponse::allow(request);
        if hook == "m" { response.patch(&operations) } else { response }
    })
}

pub(crate) fn body(version: &str, spec: impl Into<Value>) -> Value {
    json!({
        "apiVersion": format!("example.com/{version}"),
        "kind": "Foo",
        "metadata": {"name": "x"},
        "spec": spec.into(),
    })
}

pub(crate) fn create(version: &str, object: &Value) -> ObjectRequest {
    ObjectRequest::create(version, object.to_string().as_bytes())
}

pub(crate) fn stored(outcome: AdmissionOutcome) -> Value {
    serde_json::from_slice(&outcome.result.unwrap().stored.unwrap()).unwrap()
}

pub(crate) fn message(outcome: &AdmissionOutcome) -> &str {
    &outcome.result.as_ref().unwrap_err().message
}

pub(crate) fn update(version: &str, object: &Value, old: &Value) -> ObjectRequest {
    let (object, old) = (object.to_string(), old.to_string());
    ObjectRequest::update(version, object.as_bytes(), old.as_bytes())
}
