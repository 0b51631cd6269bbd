//! Conversions from and to the types of `kube` and `k8s-openapi`.

use std::collections::BTreeMap;

use billhook::label_selector::LabelSelector;
use billhook::webhook::{
    AdmissionAttributes, ConfigurationKind, Operation, WebhookConfiguration, namespace_labels,
};
use billhook::{CrdError, CustomResourceDefinition, Definition, Scope};
use billhook::{GroupVersionKind, GroupVersionResource, UserInfo};
use billhook::{Status, StatusCause, StatusDetails};
use billhook_admission::{
    AdmissionRequest, AdmissionResponse, AdmissionReview, BoxFuture, CallerError, Chain,
    MemoryCluster, RequestOptions, ReviewVersion, WebhookAnswer, WebhookCall, WebhookCaller,
};
use billhook_kinds::Kind;
use k8s_openapi::api::admissionregistration::v1 as registration;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1 as apiextensions;
use k8s_openapi::apimachinery::pkg::apis::meta::v1 as meta;
use kube_core::admission as kube;
use kube_core::{DynamicObject, ObjectMeta, ResourceExt as _};
use proptest::prelude::*;
use serde_json::{Value, json};

fn crd() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "foos.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "foos", "kind": "Foo"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {
                "openAPIV3Schema": {"type": "object", "properties": {
                    "spec": {"type": "object", "properties": {
                        "keep": {"type": "integer", "default": 7, "minimum": 1},
                        "port": {"x-kubernetes-int-or-string": true},
                    }},
                }},
            }}],
        },
    })
}

#[test]
fn a_definition_is_the_same_as_its_document() {
    let typed: apiextensions::CustomResourceDefinition = serde_json::from_value(crd()).unwrap();
    let definition = CustomResourceDefinition::from_kube(&typed).unwrap();
    assert_eq!((definition.name(), definition.kind()), ("foos.example.com", "Foo"));
    assert_eq!(definition.scope(), Scope::Namespaced);
    let body =
        br#"{"apiVersion": "example.com/v1", "kind": "Foo", "spec": {"kep": 1, "port": "a"}}"#;
    let version = definition.version("v1").unwrap();
    let decoded = version.decode(body, &Default::default()).unwrap();
    assert_eq!(decoded.object()["spec"], json!({"keep": 7, "port": "a"}));

    let empty = apiextensions::CustomResourceDefinition::default();
    let error = CustomResourceDefinition::from_kube(&empty).unwrap_err();
    assert!(matches!(error, CrdError::Field { .. }), "{error}");
}

#[test]
fn a_typed_definition_is_validated_as_its_document() {
    let mut crd = crd();
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["keep"]
        ["default"] = json!(0);
    let typed: apiextensions::CustomResourceDefinition =
        serde_json::from_value(crd.clone()).unwrap();
    let found = Definition::from_kube(&typed).unwrap().validate_create();
    assert_eq!(found, Definition::from_value(&crd).unwrap().validate_create());
    assert_eq!(found.errors().len(), 1, "the default: {:?}", found.errors());
}

#[test]
fn webhook_configurations_keep_every_field() {
    let webhook = json!({
        "name": "a.example.com",
        "clientConfig": {
            "service": {"namespace": "n", "name": "s", "path": "/p", "port": 8443},
            "caBundle": "eHg=",
        },
        "rules": [{"operations": ["CREATE"], "apiGroups": ["*"], "apiVersions": ["v1"],
            "resources": ["foos/*"], "scope": "Cluster"}],
        "failurePolicy": "Ignore",
        "matchPolicy": "Exact",
        "namespaceSelector": {"matchExpressions": [
            {"key": "env", "operator": "In", "values": ["a", "b"]},
            {"key": "team", "operator": "Exists"},
        ]},
        "objectSelector": {"matchLabels": {"x": "y"}},
        "sideEffects": "None",
        "timeoutSeconds": 3,
        "admissionReviewVersions": ["v1", "v1beta1"],
        "matchConditions": [{"name": "c", "expression": "true"}],
    });
    let document = |kind: &str, webhook: &Value| {
        json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": kind,
            "metadata": {"name": "c", "labels": {"l": "v"}},
            "webhooks": [webhook],
        })
    };
    let validating = document("ValidatingWebhookConfiguration", &webhook);
    let typed: registration::ValidatingWebhookConfiguration =
        serde_json::from_value(validating.clone()).unwrap();
    let found = WebhookConfiguration::try_from(&typed).unwrap();
    assert_eq!(found, WebhookConfiguration::from_value(&validating).unwrap());
    assert_eq!(found.webhooks[0].client_config.ca_bundle, b"xx");

    let mut webhook = webhook;
    webhook["reinvocationPolicy"] = json!("IfNeeded");
    let mutating = document("MutatingWebhookConfiguration", &webhook);
    let typed: registration::MutatingWebhookConfiguration =
        serde_json::from_value(mutating.clone()).unwrap();
    let found = WebhookConfiguration::try_from(&typed).unwrap();
    assert_eq!(found, WebhookConfiguration::from_value(&mutating).unwrap());
    assert_eq!(found.kind, ConfigurationKind::Mutating);
    assert_eq!(found.webhooks[0].reinvocation_policy.as_deref(), Some("IfNeeded"));
}

#[test]
fn namespaces_have_labels() {
    let namespace = |name: &str, labels: Option<BTreeMap<String, String>>| Namespace {
        metadata: ObjectMeta { name: Some(name.to_owned()), labels, ..ObjectMeta::default() },
        ..Namespace::default()
    };
    let labels = BTreeMap::from([("env".to_owned(), "prod".to_owned())]);
    let known = namespace_labels([namespace("a", Some(labels.clone())), namespace("b", None)]);
    let expected = [("a".to_owned(), labels), ("b".to_owned(), BTreeMap::new())];
    assert_eq!(known, BTreeMap::from(expected));
}

#[test]
fn selectors_and_users_come_back() {
    for selector in [
        json!({}),
        json!({"matchLabels": {"a": "b"}}),
        json!({"matchExpressions": [{"key": "k", "operator": "In", "values": ["v"]},
            {"key": "k", "operator": "Exists"}]}),
    ] {
        let typed: meta::LabelSelector = serde_json::from_value(selector.clone()).unwrap();
        let ours = LabelSelector::from(typed.clone());
        assert_eq!(ours, LabelSelector::from_value(&selector).unwrap());
        assert_eq!(meta::LabelSelector::from(ours), typed);
    }
    type Typed = k8s_openapi::api::authentication::v1::UserInfo;
    for user in [
        json!({}),
        json!({"username": "u", "uid": "1", "groups": ["g"], "extra": {"k": ["v", "w"]}}),
    ] {
        let typed: Typed = serde_json::from_value(user.clone()).unwrap();
        let ours = UserInfo::from(typed.clone());
        assert_eq!(serde_json::to_value(&ours).unwrap(), user);
        assert_eq!(Typed::from(ours), typed);
    }
}

/// The request of a review with every field.
fn request() -> AdmissionRequest {
    let object = |n: i64| {
        let object = json!({
            "apiVersion": "example.com/v1",
            "kind": "Foo",
            "metadata": {"name": "x", "namespace": "default", "labels": {"l": "v"}},
            "spec": {"n": n},
        });
        Some(object.into())
    };
    let review = json!({"request": {
        "uid": "u1",
        "kind": {"group": "example.com", "version": "v1", "kind": "Foo"},
        "resource": {"group": "example.com", "version": "v1", "resource": "foos"},
        "subResource": "status",
        "requestKind": {"group": "example.com", "version": "v2", "kind": "Foo"},
        "requestResource": {"group": "example.com", "version": "v2", "resource": "foos"},
        "requestSubResource": "status",
        "name": "x",
        "namespace": "default",
        "operation": "UPDATE",
        "userInfo": {"username": "ada", "uid": "7", "groups": ["g"], "extra": {"k": ["v"]}},
        "dryRun": true,
        "options": {"apiVersion": "meta.k8s.io/v1", "kind": "UpdateOptions"},
    }});
    let mut request =
        AdmissionReview::from_slice(review.to_string().as_bytes()).unwrap().request.unwrap();
    request.object = object(2);
    request.old_object = object(1);
    request
}

/// The review as JSON, without the field of resources that `kube` fills from their other fields
/// unless it reads them.
fn shown(review: &kube::AdmissionReview<DynamicObject>) -> Value {
    let mut shown = serde_json::to_value(review).unwrap();
    for name in ["resource", "requestResource"] {
        if let Some(resource) = shown["request"][name].as_object_mut() {
            resource.remove("api_version");
        }
    }
    shown
}

#[test]
fn requests_are_the_same_as_over_the_wire() {
    for request in [request(), AdmissionRequest::default()] {
        for version in [ReviewVersion::V1, ReviewVersion::V1beta1] {
            let review = AdmissionReview::of_request(version, request.clone());
            let converted: kube::AdmissionReview<DynamicObject> =
                review.clone().try_into().unwrap();
            let read: kube::AdmissionReview<DynamicObject> =
                serde_json::from_slice(&review.to_json()).unwrap();
            assert_eq!(shown(&converted), shown(&read));
            let types = &converted.request.as_ref().unwrap().types;
            assert_eq!(types.api_version, version.api_version());
            assert_eq!(AdmissionReview::try_from(converted).unwrap(), review);
        }
    }
}

#[test]
fn objects_are_of_the_type_that_is_asked_for() {
    let config_map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"},
        "data": {"k": "v"}});
    let with = |object: Value| {
        let mut request = AdmissionRequest::default();
        request.object = Some(object.into());
        kube::AdmissionRequest::<ConfigMap>::try_from(request)
    };
    let found = with(config_map).unwrap().object.unwrap();
    assert_eq!((found.name_any().as_str(), found.data.unwrap()["k"].as_str()), ("c", "v"));

    let error = with(json!({"data": 1})).unwrap_err().to_string();
    assert!(error.starts_with("object: invalid type: integer `1`"), "{error}");

    let mut deep = json!(1);
    for _ in 0..10_000 {
        deep = Value::Array(vec![deep]);
    }
    let error = with(deep).unwrap_err().to_string();
    assert_eq!(error, "object: it is nested too deeply");
}

/// A response as `kube` sends it: with the patch as a list of numbers.
#[test]
fn responses_of_kube_are_understood() {
    let request = kube::AdmissionRequest::<DynamicObject>::try_from(request()).unwrap();
    let operations = json!([{"op": "add", "path": "/spec/owner", "value": "me"}]);
    let patch = serde_json::from_value(operations.clone()).unwrap();
    let mut response = kube::AdmissionResponse::from(&request).with_patch(patch).unwrap();
    response.warnings = Some(vec!["careful".to_owned()]);
    response.audit_annotations.insert("k".to_owned(), "v".to_owned());

    let mut expected = AdmissionResponse::default();
    expected.uid = "u1".to_owned();
    expected.allowed = true;
    expected.audit_annotations = BTreeMap::from([("k".to_owned(), "v".to_owned())]);
    expected.warnings = vec!["careful".to_owned()];
    let expected = expected.patch(&operations);

    let converted = AdmissionResponse::from(response.clone());
    assert_eq!(converted, expected);
    let sent = serde_json::to_vec(&response.clone().into_review()).unwrap();
    assert!(String::from_utf8_lossy(&sent).contains(r#""patch":[91,"#), "it is a list of bytes");
    let mut received = AdmissionReview::from_slice(&sent).unwrap().response.unwrap();
    assert_eq!(received.status.take(), Some(Status::default()));
    assert_eq!(received, expected);
    assert_eq!(kube::AdmissionResponse::try_from(converted).unwrap(), response);

    let denied = kube::AdmissionResponse::from(&request).deny("no");
    let converted = AdmissionResponse::from(denied);
    assert_eq!(converted.status.unwrap().message, "no");

    let mut other = AdmissionResponse::default();
    other.patch_type = Some("MergePatch".to_owned());
    let error = kube::AdmissionResponse::try_from(other).unwrap_err().to_string();
    assert!(error.starts_with("response: unknown variant `MergePatch`"), "{error}");
}

/// A webhook that is written with `kube`, in the same process or over the wire.
struct Labels {
    over_the_wire: bool,
}

impl Labels {
    fn handle(
        review: kube::AdmissionReview<DynamicObject>,
    ) -> kube::AdmissionReview<DynamicObject> {
        let request: kube::AdmissionRequest<DynamicObject> = review.try_into().unwrap();
        let response = kube::AdmissionResponse::from(&request);
        let object = request.object.unwrap();
        assert_eq!(object.name_any(), "x");
        let patch = json!([{"op": "add", "path": "/spec/owner", "value": "kube"}]);
        response.with_patch(serde_json::from_value(patch).unwrap()).unwrap().into_review()
    }
}

impl WebhookCaller for Labels {
    fn call<'a>(
        &'a self,
        call: WebhookCall<'a>,
    ) -> BoxFuture<'a, Result<WebhookAnswer, CallerError>> {
        let answer = match self.over_the_wire {
            true => {
                let review = serde_json::from_slice(&call.review.to_json()).unwrap();
                let body = serde_json::to_vec(&Self::handle(review)).unwrap();
                WebhookAnswer::new("application/json", body)
            }
            false => {
                let review = Self::handle(call.review.try_into().unwrap());
                WebhookAnswer::of_review(&AdmissionReview::try_from(review).unwrap())
            }
        };
        Box::pin(std::future::ready(Ok(answer)))
    }
}

#[test]
fn a_webhook_of_kube_takes_part_in_a_chain() {
    let configuration = json!({
        "metadata": {"name": "c"},
        "webhooks": [{
            "name": "owner.example.com",
            "clientConfig": {"url": "https://unused"},
            "rules": [{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"],
                "resources": ["*"]}],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
        }],
    });
    let typed: registration::MutatingWebhookConfiguration =
        serde_json::from_value(configuration).unwrap();
    let webhooks = [WebhookConfiguration::try_from(&typed).unwrap()];
    let attributes = AdmissionAttributes::create(
        GroupVersionKind::new("example.com", "v1", "Foo"),
        GroupVersionResource::new("example.com", "v1", "foos"),
        json!({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "x"},
            "spec": {}}),
    );
    for over_the_wire in [false, true] {
        let chain = Chain::new(Labels { over_the_wire }).webhooks(&webhooks);
        let options = RequestOptions::default();
        let cluster = MemoryCluster::new();
        let run = chain.run(attributes.clone(), &cluster, &options, |_, _| Ok(()));
        let outcome = tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(run);
        let object = outcome.result.unwrap().object.unwrap();
        assert_eq!(object["spec"]["owner"], "kube");
    }
}

#[test]
fn names_of_resources_come_back() {
    let deployments = Kind::named("apps/v1", "Deployment").unwrap().api_resource();
    let kind = kube_core::GroupVersionKind::from(deployments.kind.clone());
    assert_eq!(GroupVersionKind::from(kind), deployments.kind);
    let resource = kube_core::GroupVersionResource::from(deployments.resource.clone());
    assert_eq!(GroupVersionResource::from(resource), deployments.resource);
    for operation in Operation::ALL {
        let typed = kube::Operation::from(operation);
        assert_eq!(serde_json::to_value(&typed).unwrap(), operation.name());
        assert_eq!(Operation::from(typed), operation);
    }
}

fn status() -> impl Strategy<Value = Status> {
    let text = || prop_oneof![Just(String::new()), "[a-zA-Z .\"]{1,8}"];
    let cause = (text(), text(), text()).prop_map(|(reason, message, field)| {
        let mut cause = StatusCause::default();
        (cause.reason, cause.message, cause.field) = (reason, message, field);
        cause
    });
    let causes = prop::collection::vec(cause, 0..3);
    let details = (text(), text(), text(), text(), causes, 0..100_i32).prop_map(
        |(name, group, kind, uid, causes, after)| {
            let mut details = StatusDetails::default();
            (details.name, details.group, details.kind, details.uid) = (name, group, kind, uid);
            (details.causes, details.retry_after_seconds) = (causes, after);
            Box::new(details)
        },
    );
    let word = prop_oneof![Just(""), Just("Success"), Just("Failure")];
    (word, text(), text(), prop::option::of(details), 0..=600_i32).prop_map(
        |(word, message, reason, details, code)| {
            let mut status = Status::default();
            (status.status, status.message, status.reason) = (word.to_owned(), message, reason);
            (status.details, status.code) = (details, code);
            status
        },
    )
}

proptest! {
    /// Both ways, and the same as over the wire.
    #[test]
    fn a_status_comes_back(status in status()) {
        let typed = meta::Status::from(status.clone());
        prop_assert_eq!(&serde_json::to_value(&typed).unwrap(), &*status.to_value());
        prop_assert_eq!(Status::from(typed), status.clone());

        let typed = kube_core::Status::from(status.clone());
        let wire = serde_json::to_value(&typed).unwrap();
        prop_assert_eq!(wire, serde_json::to_value(&status).unwrap());
        prop_assert_eq!(Status::from(typed), status);
    }
}

#[test]
fn a_status_that_kube_cannot_hold_loses_what_is_odd() {
    let mut status = Status::failure(70_000, "R", "m");
    status.status = "custom".to_owned();
    let found = kube_core::Status::from(status);
    assert_eq!((found.status, found.code, found.message.as_str()), (None, 0, "m"));
}
