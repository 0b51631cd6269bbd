//! The questions to a webhook: the request of each operation, in the version it wants
//! (AR-02 to AR-40, DI-37 to DI-39).

use super::world::cluster;
use std::sync::Arc;

use billhook::CustomResourceDefinition;
use billhook::webhook::{AdmissionAttributes, EquivalentResources};
use billhook::{GroupVersionKind, GroupVersionResource, UserInfo};
use billhook_admission::{
    AdmissionResponse, Chain, ChainOutcome, Converter, CustomResources, RequestOptions,
};
use serde_json::{Value, json};

use crate::chain::world::{
    Script, World, allow, answer, configuration, create, json_answer, kind, object, resource,
};

async fn run(chain: &Chain, request: AdmissionAttributes) -> ChainOutcome {
    chain.run(request, &cluster(), &RequestOptions::default(), |_, _| Ok(())).await
}

/// The review that a webhook gets for a request, with its UID checked and taken out.
async fn review(more: &str, request: AdmissionAttributes) -> Value {
    let script: Script = Box::new(move |request, _| {
        let response = json!({"response": {"uid": "UID", "allowed": true},
            "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"});
        json_answer(request, &response)
    });
    let world = World::new(vec![("a", script)]).await;
    let outcome = run(&world.chain(&[configuration("Validating", "a", more)]), request).await;
    outcome.result.unwrap();
    let mut review = world.seen().remove(0).review;
    let uid = review["request"].as_object_mut().unwrap().remove("uid").unwrap();
    let uid = uid.as_str().unwrap();
    assert_eq!((uid.len(), uid.as_bytes()[14], uid.matches('-').count()), (36, b'4', 4), "{uid}");
    review
}

#[tokio::test]
async fn operations_fill_the_request() {
    let common = |operation: &str| {
        json!({
            "kind": {"group": "example.com", "version": "v1", "kind": "Foo"},
            "resource": {"group": "example.com", "version": "v1", "resource": "foos"},
            "requestKind": {"group": "example.com", "version": "v1", "kind": "Foo"},
            "requestResource": {"group": "example.com", "version": "v1", "resource": "foos"},
            "name": "x",
            "namespace": "default",
            "operation": operation,
            "userInfo": {},
            "object": null,
            "oldObject": null,
            "dryRun": false,
            "options": null,
        })
    };
    let options = |kind: &str| json!({"apiVersion": "meta.k8s.io/v1", "kind": kind});
    let mut old = object();
    old["spec"]["n"] = 0.into();

    let mut expected = common("CREATE");
    expected["object"] = object();
    expected["options"] = options("CreateOptions");
    let user = UserInfo::named("carol").group("system:authenticated");
    expected["userInfo"] = json!({"username": "carol", "groups": ["system:authenticated"]});
    let request = create().options(options("CreateOptions")).user(user);
    let found = review("", request).await;
    assert_eq!(found["request"], expected);
    assert_eq!(
        (&found["apiVersion"], &found["kind"]),
        (&json!("admission.k8s.io/v1"), &json!("AdmissionReview"))
    );
    assert_eq!(found.get("response"), None);

    let mut expected = common("UPDATE");
    expected["object"] = object();
    expected["oldObject"] = old.clone();
    expected["subResource"] = "status".into();
    expected["requestSubResource"] = "status".into();
    let request = AdmissionAttributes::update(kind(), resource(), object(), old.clone())
        .subresource("status");
    assert_eq!(review("", request).await["request"], expected);

    let mut expected = common("DELETE");
    expected["oldObject"] = old.clone();
    expected["options"] = options("DeleteOptions");
    let request =
        AdmissionAttributes::delete(kind(), resource(), old).options(options("DeleteOptions"));
    assert_eq!(review("", request).await["request"], expected);

    let exec = json!({"apiVersion": "v1", "kind": "PodExecOptions", "command": ["sh"]});
    let request = AdmissionAttributes::connect(
        GroupVersionKind::new("", "v1", "PodExecOptions"),
        GroupVersionResource::new("", "v1", "pods"),
        "exec",
        exec.clone(),
    )
    .name("web")
    .namespace("default");
    let found = review("", request).await;
    assert_eq!(found["request"]["object"], exec);
    assert_eq!(found["request"]["options"], Value::Null);
    assert_eq!(found["request"]["subResource"], "exec");
    assert_eq!(found["request"]["operation"], "CONNECT");
}

/// The API refuses a dry run of a connection before admission (AR-36).
#[tokio::test]
async fn connections_have_no_dry_run() {
    let world = World::new(vec![]).await;
    let request = AdmissionAttributes::connect(
        GroupVersionKind::new("", "v1", "PodExecOptions"),
        GroupVersionResource::new("", "v1", "pods"),
        "exec",
        json!({"apiVersion": "v1", "kind": "PodExecOptions"}),
    );
    let status = run(&world.chain(&[]), request.dry_run(true)).await.result.unwrap_err();
    assert_eq!((status.code, status.message.as_str()), (400, "dryRun is not supported"));
}

/// A name that is not there yet is left out, as is a namespace (AR-13, AR-14).
#[tokio::test]
async fn what_is_empty_is_left_out() {
    let object = json!({"apiVersion": "example.com/v1", "kind": "Foo",
        "metadata": {"generateName": "x-"}});
    let request = AdmissionAttributes::create(kind(), resource(), object);
    let found = review("", request).await;
    let keys: Vec<_> = found["request"].as_object().unwrap().keys().cloned().collect();
    for absent in ["name", "namespace", "subResource", "requestSubResource"] {
        assert!(!keys.contains(&absent.to_owned()), "{absent}");
    }
}

/// Numbers and nulls of the object stay as they are; whole floats lose their fraction.
#[tokio::test]
async fn objects_are_sent_as_the_server_writes_them() {
    let mut object = object();
    object["spec"] = json!({"f": 1.0, "g": 0.5, "n": null, "big": i64::MAX});
    let request = AdmissionAttributes::create(kind(), resource(), object);
    let found = review("", request).await;
    let expected = r#"{"big":9223372036854775807,"f":1,"g":0.5,"n":null}"#;
    assert_eq!(found["request"]["object"]["spec"].to_string(), expected);
}

/// The first version that is known is used (AR-40).
#[tokio::test]
async fn the_webhook_chooses_the_review_version() {
    for (accepted, expected) in
        [("[v1]", "v1"), ("[v2, v1beta1, v1]", "v1beta1"), ("[v1, v1beta1]", "v1")]
    {
        let script: Script =
            Box::new(|request, _| json_answer(request, &json!({"response": {"allowed": true}})));
        let world = World::new(vec![("a", script)]).await;
        let more = format!("admissionReviewVersions: {accepted}\nfailurePolicy: Ignore");
        run(&world.chain(&[configuration("Validating", "a", &more)]), create()).await;
        let version = format!("admission.k8s.io/{expected}");
        assert_eq!(world.seen()[0].review["apiVersion"], version, "{accepted}");
    }
}

/// A definition with the versions v1, whose schema has a default, and v2.
pub(crate) fn definition() -> CustomResourceDefinition {
    let version = |name: &str, storage: bool, schema: Value| {
        json!({"name": name, "served": true, "storage": storage,
            "schema": {"openAPIV3Schema": schema}})
    };
    let spec = |properties: Value| json!({"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}});
    CustomResourceDefinition::from_value(&json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "foos.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "foos", "kind": "Foo"},
            "versions": [
                version("v1", true, spec(json!({
                    "n": {"type": "integer"},
                    "first": {"type": "string", "default": "one"},
                }))),
                version("v2", false, spec(json!({
                    "n": {"type": "integer"},
                    "second": {"type": "string", "default": "two"},
                }))),
            ],
        },
    }))
    .unwrap()
}

pub(crate) fn versions() -> EquivalentResources {
    let mut registry = EquivalentResources::new();
    for version in ["v1", "v2"] {
        let resource = GroupVersionResource::new("example.com", version, "foos");
        registry.register(resource, "", GroupVersionKind::new("example.com", version, "Foo"));
    }
    registry
}

pub(crate) fn rule(version: &str) -> String {
    format!(
        "rules: [{{operations: ['*'], apiGroups: [example.com], apiVersions: [{version}], \
         resources: [foos]}}]"
    )
}

pub(crate) fn request_v2() -> AdmissionAttributes {
    let mut object = object();
    object["apiVersion"] = "example.com/v2".into();
    AdmissionAttributes::create(
        GroupVersionKind::new("example.com", "v2", "Foo"),
        GroupVersionResource::new("example.com", "v2", "foos"),
        object,
    )
}

fn adding(name: &'static str) -> Script {
    Box::new(move |request, _| {
        let patch = json!([{"op": "add", "path": format!("/spec/{name}"), "value": 1}]);
        answer(AdmissionResponse::allow(request).patch(&patch))
    })
}

/// The example of DI-38: one webhook wants v1, the next v2, the request is v2. Each version's
/// defaults are set after a patch in that version, and unknown fields stay (DI-32, DI-34).
#[tokio::test]
async fn webhooks_get_the_version_they_want() {
    let world = World::new(vec![
        ("a", adding("a")),
        ("b", adding("b")),
        ("c", Box::new(|request, _| allow(request))),
    ])
    .await;
    let texts = [
        configuration("Mutating", "a", &rule("v1")),
        configuration("Mutating", "b", &rule("v2")),
        configuration("Validating", "c", &rule("v1")),
    ];
    let chain =
        world.chain(&texts).equivalents(versions()).model(CustomResources::new(definition()));
    let outcome = run(&chain, request_v2()).await;
    let object = outcome.result.unwrap().object.unwrap();
    assert_eq!(object["apiVersion"], "example.com/v2");
    let expected = r#"{"a":1,"b":1,"first":"one","n":1,"second":"two"}"#;
    assert_eq!(object["spec"].to_string(), expected);
    let asked: Vec<_> = world
        .seen()
        .iter()
        .map(|seen| {
            let request = &seen.review["request"];
            assert_eq!(request["requestKind"]["version"], "v2");
            assert_eq!(request["requestResource"]["version"], "v2");
            assert_eq!(request["kind"]["version"], request["resource"]["version"]);
            assert_eq!(
                request["object"]["apiVersion"],
                format!("example.com/{}", request["kind"]["version"].as_str().unwrap())
            );
            format!("{} {} {}", seen.path, request["kind"]["version"], request["object"]["spec"])
        })
        .collect();
    assert_eq!(
        asked,
        [
            r#"/a "v1" {"n":1}"#,
            r#"/b "v2" {"a":1,"first":"one","n":1}"#,
            r#"/c "v1" {"a":1,"b":1,"first":"one","n":1,"second":"two"}"#,
        ]
    );
}

/// A change counts even if the defaults take it back (DI-32).
#[tokio::test]
async fn a_change_is_seen_before_defaults() {
    let script: Script = Box::new(|request, _| {
        let patch = json!([{"op": "remove", "path": "/spec/first"}]);
        answer(AdmissionResponse::allow(request).patch(&patch))
    });
    let world = World::new(vec![("a", script)]).await;
    let chain = world
        .chain(&[configuration("Mutating", "a", "")])
        .model(CustomResources::new(definition()));
    let mut object = object();
    object["spec"]["first"] = "one".into();
    let outcome = run(&chain, AdmissionAttributes::create(kind(), resource(), object)).await;
    let mutated = outcome.annotations.get("mutation.webhook.admission.k8s.io/round_0_index_0");
    assert_eq!(
        mutated.unwrap().value,
        r#"{"configuration":"a","webhook":"a.example.com","mutated":true}"#
    );
    let patch = outcome.annotations.get("patch.webhook.admission.k8s.io/round_0_index_0");
    assert_eq!(
        patch.unwrap().value,
        r#"{"configuration":"a","webhook":"a.example.com","patch":[{"op":"remove","path":"/spec/first"}],"patchType":"JSONPatch"}"#
    );
    assert_eq!(outcome.result.unwrap().object.unwrap()["spec"]["first"], "one");
}

/// A conversion that fails refuses the request under every failure policy; in the mutating
/// stage the text has its prefix twice (DI-39).
#[tokio::test]
async fn failed_conversions_refuse_the_request() {
    let world = World::new(vec![]).await;
    let broken: Arc<dyn Converter> =
        Arc::new(|_: &Value, to: &str| Err(format!("cannot convert to {to}").into()));
    for (stage, expected) in [
        (
            "Mutating",
            "Internal error occurred: Internal error occurred: conversion webhook for \
             example.com/v2, Kind=Foo failed: cannot convert to example.com/v1",
        ),
        (
            "Validating",
            "Internal error occurred: conversion webhook for example.com/v2, Kind=Foo failed: \
             cannot convert to example.com/v1",
        ),
    ] {
        let more = format!("{}\nfailurePolicy: Ignore", rule("v1"));
        let model = CustomResources::new(definition()).converter(Arc::clone(&broken));
        let chain =
            world.chain(&[configuration(stage, "a", &more)]).equivalents(versions()).model(model);
        let status = run(&chain, request_v2()).await.result.unwrap_err();
        assert_eq!((status.code, status.message.as_str()), (500, expected));
    }
    let mut registry = versions();
    let unlisted = GroupVersionResource::new("example.com", "v9", "foos");
    registry.register(unlisted, "", GroupVersionKind::new("example.com", "v9", "Foo"));
    let chain = world
        .chain(&[configuration("Validating", "a", &rule("v9"))])
        .equivalents(registry)
        .model(CustomResources::new(definition()));
    let status = run(&chain, request_v2()).await.result.unwrap_err();
    assert_eq!(
        status.message,
        "Internal error occurred: request to convert CR to an invalid group/version: example.com/v9"
    );
}

/// Errors of matching refuse the request before any webhook of the stage is called, whatever the
/// failure policy is (DI-60, DI-70).
#[tokio::test]
async fn matching_errors_refuse_the_request() {
    let labels = "namespaceSelector: {matchLabels: {a: b}}\nfailurePolicy: Ignore";
    for stage in ["Mutating", "Validating"] {
        let script: Script = Box::new(|request, _| allow(request));
        let world = World::new(vec![("a", script)]).await;
        let texts = [configuration(stage, "a", ""), configuration(stage, "b", labels)];
        let request = create().namespace("missing");
        let status = run(&world.chain(&texts), request).await.result.unwrap_err();
        let expected = (404, "NotFound", "namespaces \"missing\" not found");
        assert_eq!((status.code, status.reason.as_str(), status.message.as_str()), expected);
        assert_eq!(world.calls("a"), usize::from(stage == "Mutating"));
    }
}

/// Configurations of webhooks themselves are seen by no webhook (WM-03), and a stage can be
/// switched off (DI-02).
#[tokio::test]
async fn some_requests_are_seen_by_nobody() {
    let script: Script = Box::new(|request, _| allow(request));
    let world = World::new(vec![("a", script)]).await;
    let text = configuration("Validating", "a", "");
    let group = "admissionregistration.k8s.io";
    let request = AdmissionAttributes::create(
        GroupVersionKind::new(group, "v1", "MutatingWebhookConfiguration"),
        GroupVersionResource::new(group, "v1", "mutatingwebhookconfigurations"),
        json!({"metadata": {"name": "x"}}),
    );
    assert!(run(&world.chain(std::slice::from_ref(&text)), request).await.result.is_ok());
    let chain = world.chain(&[text]).without(billhook_admission::Stage::Validating);
    assert!(run(&chain, create()).await.result.is_ok());
    assert_eq!(world.calls("a"), 0);
}
