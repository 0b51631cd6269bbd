//! The bytes that are sent: the examples of the rules, and the requests that are not for custom
//! resources (AR-02, AR-10 to AR-20, AR-36, AR-37, AR-96).

use std::collections::BTreeMap;

use billhook::webhook::{AdmissionAttributes, EquivalentResources, NamespaceLabels};
use billhook::{GroupVersionKind, GroupVersionResource, UserInfo};
use billhook_admission::{
    AdmissionResponse, AdmissionReview, BoxFuture, ChainOutcome, MemoryCluster, ObjectModel,
    ObjectModelError, RequestOptions, ReviewVersion,
};
use billhook_apimachinery::value::DeepValue;
use serde_json::{Value, json};

use crate::chain::world::{Script, World, allow, answer, configuration};

fn gvk(group: &str, version: &str, kind: &str) -> GroupVersionKind {
    GroupVersionKind::new(group, version, kind)
}

fn gvr(group: &str, version: &str, resource: &str) -> GroupVersionResource {
    GroupVersionResource::new(group, version, resource)
}

/// The world with a webhook `a` that allows everything, and one named `b` that patches.
async fn world(patch: Value) -> World {
    let patches: Script =
        Box::new(move |request, _| answer(AdmissionResponse::allow(request).patch(&patch)));
    World::new(vec![("a", Box::new(|request, _| allow(request))), ("b", patches)]).await
}

async fn run(world: &World, texts: &[String], request: AdmissionAttributes) -> ChainOutcome {
    let namespaces: BTreeMap<String, NamespaceLabels> =
        ["shop", "default"].map(|name| (name.to_owned(), NamespaceLabels::new())).into();
    let (chain, cluster) = (world.chain(texts), MemoryCluster::from(namespaces));
    chain.run(request, &cluster, &RequestOptions::default(), |_, _| Ok(())).await
}

/// The request that the webhook `a` gets, without its UID.
async fn asked(request: AdmissionAttributes) -> Value {
    let world = world(json!([])).await;
    run(&world, &[configuration("Validating", "a", "")], request).await.result.unwrap();
    let mut review = world.seen().remove(0).review;
    review["request"].as_object_mut().unwrap().remove("uid").unwrap();
    review["request"].take()
}

/// The example of section 3: an update of `deployments/scale`.
#[tokio::test]
async fn a_subresource_has_the_kind_of_its_body() {
    let scale = |replicas: i64| {
        json!({"apiVersion": "autoscaling/v1", "kind": "Scale",
            "metadata": {"name": "web", "namespace": "shop"}, "spec": {"replicas": replicas}})
    };
    let mut user = UserInfo::named("carol").group("system:authenticated");
    user.uid = "u-77".to_owned();
    user.extra.insert("team".to_owned(), vec!["a".to_owned(), "b".to_owned()]);
    let request = AdmissionAttributes::update(
        gvk("autoscaling", "v1", "Scale"),
        gvr("apps", "v1", "deployments"),
        scale(3),
        scale(2),
    )
    .subresource("scale")
    .user(user)
    .options(json!({"apiVersion": "meta.k8s.io/v1", "kind": "UpdateOptions"}));
    let expected: Value = serde_json::from_str(
        r#"{
 "kind":{"group":"autoscaling","version":"v1","kind":"Scale"},
 "resource":{"group":"apps","version":"v1","resource":"deployments"},"subResource":"scale",
 "requestKind":{"group":"autoscaling","version":"v1","kind":"Scale"},
 "requestResource":{"group":"apps","version":"v1","resource":"deployments"},"requestSubResource":"scale",
 "name":"web","namespace":"shop","operation":"UPDATE",
 "userInfo":{"username":"carol","uid":"u-77","groups":["system:authenticated"],"extra":{"team":["a","b"]}},
 "object":{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"web","namespace":"shop"},"spec":{"replicas":3}},
 "oldObject":{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"web","namespace":"shop"},"spec":{"replicas":2}},
 "dryRun":false,
 "options":{"apiVersion":"meta.k8s.io/v1","kind":"UpdateOptions"}}"#,
    )
    .unwrap();
    assert_eq!(asked(request).await, expected);
}

/// The members that are always there, even without a value, and those that never are (AR-02).
#[tokio::test]
async fn some_members_are_always_there() {
    let pod = json!({"metadata":
        {"generateName": "p-", "namespace": "shop", "creationTimestamp": null}});
    let request = AdmissionAttributes::create(gvk("", "v1", "Pod"), gvr("", "v1", "pods"), pod);
    let found = asked(request).await;
    let expected = json!({
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "resource": {"group": "", "version": "v1", "resource": "pods"},
        "requestKind": {"group": "", "version": "v1", "kind": "Pod"},
        "requestResource": {"group": "", "version": "v1", "resource": "pods"},
        "namespace": "shop",
        "operation": "CREATE",
        "userInfo": {},
        // An object that goes without them in the process has its version and kind here (AR-17).
        "object": {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"generateName": "p-", "namespace": "shop"}},
        "oldObject": null,
        "dryRun": false,
        "options": null,
    });
    assert_eq!(found, expected);
}

/// A Namespace is in itself (AR-14), other objects without a namespace are in none.
#[tokio::test]
async fn a_namespace_is_in_itself() {
    let object =
        |kind: &str| json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": "shop"}});
    for (kind, resource, expected) in
        [("Namespace", "namespaces", Some("shop")), ("Node", "nodes", None)]
    {
        let (gvk, gvr, object) = (gvk("", "v1", kind), gvr("", "v1", resource), object(kind));
        for request in [
            AdmissionAttributes::create(gvk.clone(), gvr.clone(), object.clone()),
            AdmissionAttributes::update(gvk.clone(), gvr.clone(), object.clone(), object.clone()),
            AdmissionAttributes::delete(gvk.clone(), gvr.clone(), object.clone()),
        ] {
            let found = asked(request).await;
            assert_eq!(found.get("namespace").and_then(Value::as_str), expected);
            assert_eq!(found["name"], "shop");
        }
    }
}

/// Deployments that any version is made of by name alone.
struct ByName;

impl ObjectModel for ByName {
    fn convert<'a>(
        &'a self,
        object: &'a Value,
        to: &'a GroupVersionKind,
    ) -> BoxFuture<'a, Result<DeepValue, ObjectModelError>> {
        let mut object = object.clone();
        object["apiVersion"] = to.api_version().into();
        object["kind"] = to.kind.as_str().into();
        Box::pin(std::future::ready(Ok(object.into())))
    }

    fn apply_defaults(&self, _: &mut Value, _: &GroupVersionKind) -> Result<(), ObjectModelError> {
        Ok(())
    }
}

/// The example of an equivalent match: the rule is for `apps/v1`, the client used
/// `extensions/v1beta1` (AR-11, AR-12, WM-51).
#[tokio::test]
async fn an_equivalent_is_sent_as_what_the_rule_names() {
    let mut registry = EquivalentResources::new();
    registry.share_storage(("extensions", "deployments"), ("apps", "deployments"));
    for (group, version) in [("extensions", "v1beta1"), ("apps", "v1")] {
        let resource = gvr(group, version, "deployments");
        registry.register(resource.clone(), "", gvk(group, version, "Deployment"));
        let scale = if group == "apps" { ("autoscaling", "v1") } else { (group, version) };
        registry.register(resource, "scale", gvk(scale.0, scale.1, "Scale"));
    }
    let rules = "rules: [{operations: ['*'], apiGroups: [apps], apiVersions: [v1], resources: \
                 [deployments, deployments/scale]}]";
    let world = world(json!([{"op": "add", "path": "/spec/added", "value": 1}])).await;
    let texts = [configuration("Mutating", "b", rules), configuration("Validating", "a", rules)];
    for (subresource, kind, sent) in [
        ("", "Deployment", gvk("apps", "v1", "Deployment")),
        ("scale", "Scale", gvk("autoscaling", "v1", "Scale")),
    ] {
        let object = json!({"apiVersion": "extensions/v1beta1", "kind": kind,
            "metadata": {"name": "web", "namespace": "default"}, "spec": {}});
        let request = AdmissionAttributes::update(
            gvk("extensions", "v1beta1", kind),
            gvr("extensions", "v1beta1", "deployments"),
            object.clone(),
            object,
        )
        .subresource(subresource);
        let chain = world.chain(&texts).equivalents(registry.clone()).model(ByName);
        let outcome = chain
            .run(request, &super::world::cluster(), &RequestOptions::default(), |_, _| Ok(()))
            .await;
        let object = outcome.result.unwrap().object.unwrap();
        assert_eq!(object["apiVersion"], "extensions/v1beta1");
        assert_eq!((&object["kind"], &object["spec"]), (&json!(kind), &json!({"added": 1})));
        let seen = world.seen();
        for review in seen.iter().rev().take(2) {
            let request = &review.review["request"];
            assert_eq!(request["kind"], serde_json::to_value(&sent).unwrap());
            let resource = json!({"group": "apps", "version": "v1", "resource": "deployments"});
            assert_eq!(request["resource"], resource);
            let kind = json!({"group": "extensions", "version": "v1beta1", "kind": kind});
            assert_eq!(request["requestKind"], kind);
            assert_eq!(request["requestResource"]["group"], "extensions");
            assert_eq!(request["object"]["apiVersion"], sent.api_version());
            assert_eq!(request["oldObject"]["kind"], sent.kind);
        }
    }
}

/// A webhook may change the options of a connection (AR-36).
#[tokio::test]
async fn options_of_a_connection_may_be_changed() {
    let world = world(json!([{"op": "add", "path": "/command/-", "value": "-x"}])).await;
    let options = json!({"apiVersion": "v1", "kind": "PodExecOptions", "command": ["sh"]});
    let request = AdmissionAttributes::connect(
        gvk("", "v1", "PodExecOptions"),
        gvr("", "v1", "pods"),
        "exec",
        options,
    )
    .name("web")
    .namespace("default");
    let texts = [configuration("Mutating", "b", ""), configuration("Validating", "a", "")];
    let outcome = run(&world, &texts, request).await;
    let expected = json!({"apiVersion": "v1", "kind": "PodExecOptions", "command": ["sh", "-x"]});
    assert_eq!(*outcome.result.unwrap().object.unwrap(), expected);
    assert_eq!(world.seen()[1].review["request"]["object"], expected);
}

/// The example of AR-96, and a webhook that is written with the types of this library alone:
/// either version, answered in the same (AR-95).
#[test]
fn both_sides_of_a_review() {
    let patch = r#"[{"op": "add", "path": "/spec/replicas", "value": 3}]"#;
    let encoded = "W3sib3AiOiAiYWRkIiwgInBhdGgiOiAiL3NwZWMvcmVwbGljYXMiLCAidmFsdWUiOiAzfV0=";
    for (name, version) in [("v1", ReviewVersion::V1), ("v1beta1", ReviewVersion::V1beta1)] {
        let sent = json!({
            "apiVersion": format!("admission.k8s.io/{name}"),
            "kind": "AdmissionReview",
            "request": {
                "uid": "u", "operation": "CREATE", "unknown": [1],
                "kind": {"group": null, "kind": "Pod", "more": 1},
                "requestKind": null,
                "userInfo": {"groups": null, "extra": null, "uid": null, "username": "x"},
                "object": {"a": null}, "oldObject": null, "options": null, "dryRun": null,
            },
            "response": null,
        });
        let review = AdmissionReview::from_slice(sent.to_string().as_bytes()).unwrap();
        assert_eq!(review.version(), Some(version));
        let request = review.request.unwrap();
        assert_eq!(request.kind, gvk("", "", "Pod"));
        assert_eq!((request.user_info.username.as_str(), request.dry_run), ("x", false));
        assert_eq!(**request.object.as_ref().unwrap(), json!({"a": null}));
        assert_eq!(request.old_object, None);
        let mut response = AdmissionResponse::allow(&request);
        response.patch = patch.as_bytes().to_vec();
        response.patch_type = Some("JSONPatch".to_owned());
        let answer = AdmissionReview::of_response(version, response).to_json();
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        let expected = json!({
            "apiVersion": format!("admission.k8s.io/{name}"),
            "kind": "AdmissionReview",
            "response":
                {"uid": "u", "allowed": true, "patch": encoded, "patchType": "JSONPatch"},
        });
        assert_eq!(answer, expected);
        let read = AdmissionReview::from_slice(answer.to_string().as_bytes()).unwrap();
        assert_eq!(read.response.unwrap().patch, patch.as_bytes());
    }
    for text in ["[]", "1", r#"["admission.k8s.io/v1"]"#, r#"{"request":["u"]}"#, r#"{"kind":1}"#] {
        assert!(AdmissionReview::from_slice(text.as_bytes()).is_err(), "{text}");
    }
}
