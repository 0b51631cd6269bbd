//! kube's client, without a socket.

use std::time::Duration;

use billhook_apiserver::Server;
use futures_util::{StreamExt as _, TryStreamExt as _, pin_mut};
use k8s_openapi::api::admissionregistration::v1::{
    ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding,
};
use kube::api::{
    Api, DeleteParams, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams,
};
use kube::runtime::{WatchStreamExt as _, watcher};
use kube::{Client, CustomResource, CustomResourceExt as _};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "example.com", version = "v1", kind = "Foo", namespaced)]
struct FooSpec {
    #[serde(default = "one")]
    size: u32,
}

fn one() -> u32 {
    1
}

fn client() -> Client {
    let definition = serde_json::to_value(Foo::crd()).unwrap();
    let server = Server::builder().definition(&definition).unwrap().build();
    Client::new(server, "default")
}

#[tokio::test]
async fn a_typed_client_creates_changes_and_deletes() {
    let foos: Api<Foo> = Api::default_namespaced(client());
    let created = foos.create(&PostParams::default(), &Foo::new("a", FooSpec { size: 2 })).await;
    assert_eq!(created.unwrap().metadata.generation, Some(1));
    let mut found = foos.get("a").await.unwrap();
    found.spec.size = 3;
    foos.replace("a", &PostParams::default(), &found).await.unwrap();
    let patch = Patch::Merge(json!({"metadata": {"labels": {"x": "y"}}}));
    let patched = foos.patch("a", &PatchParams::default(), &patch).await.unwrap();
    assert_eq!((patched.spec.size, patched.metadata.labels.unwrap().len()), (3, 1));

    let conflict = foos.replace("a", &PostParams::default(), &found).await.unwrap_err();
    assert!(matches!(conflict, kube::Error::Api(status) if status.code == 409));
    let listed = foos.list(&ListParams::default().labels("x=y")).await.unwrap();
    assert_eq!(listed.items.len(), 1);
    let deleted = foos.delete("a", &DeleteParams::default()).await.unwrap();
    assert!(deleted.right().unwrap().is_success());
    assert!(foos.get_opt("a").await.unwrap().is_none());
}

#[tokio::test]
async fn a_watch_sees_every_change() {
    let foos: Api<Foo> = Api::default_namespaced(client());
    foos.create(&PostParams::default(), &Foo::new("a", FooSpec { size: 1 })).await.unwrap();
    let events = foos.watch(&WatchParams::default(), "0").await.unwrap();
    pin_mut!(events);
    let patch = Patch::Merge(json!({"spec": {"size": 5}}));
    foos.patch("a", &PatchParams::default(), &patch).await.unwrap();
    foos.delete("a", &DeleteParams::default()).await.unwrap();
    let mut seen = Vec::new();
    while seen.len() < 3 {
        let event = tokio::time::timeout(Duration::from_secs(60), events.try_next());
        match event.await.expect("an event").unwrap().unwrap() {
            WatchEvent::Added(foo) => seen.push(("added", foo.spec.size)),
            WatchEvent::Modified(foo) => seen.push(("modified", foo.spec.size)),
            WatchEvent::Deleted(foo) => seen.push(("deleted", foo.spec.size)),
            WatchEvent::Bookmark(_) => {}
            WatchEvent::Error(status) => panic!("{status:?}"),
        }
    }
    assert_eq!(seen, [("added", 1), ("modified", 5), ("deleted", 5)]);
}

#[tokio::test]
async fn a_watcher_lists_and_follows() {
    let client = client();
    let foos: Api<Foo> = Api::default_namespaced(client.clone());
    foos.create(&PostParams::default(), &Foo::new("a", FooSpec { size: 1 })).await.unwrap();
    for config in [watcher::Config::default(), watcher::Config::default().streaming_lists()] {
        let objects = watcher(foos.clone(), config).applied_objects();
        pin_mut!(objects);
        let first = tokio::time::timeout(Duration::from_secs(60), objects.next()).await.unwrap();
        assert_eq!(first.unwrap().unwrap().metadata.name.as_deref(), Some("a"));
        let name = format!("b-{}", foos.list(&ListParams::default()).await.unwrap().items.len());
        foos.create(&PostParams::default(), &Foo::new(&name, FooSpec { size: 1 })).await.unwrap();
        let found = loop {
            let next = tokio::time::timeout(Duration::from_secs(60), objects.next());
            let found = next.await.unwrap().unwrap().unwrap().metadata.name.unwrap();
            if found == name {
                break found;
            }
        };
        assert_eq!(found, name);
    }
}

#[tokio::test]
async fn a_typed_client_writes_policies() {
    let client = client();
    let policy: ValidatingAdmissionPolicy = serde_json::from_value(json!({
        "metadata": {"name": "small"},
        "spec": {
            "matchConstraints": {"resourceRules": [{"operations": ["CREATE"],
                "apiGroups": ["example.com"], "apiVersions": ["v1"], "resources": ["foos"]}]},
            "validations": [{"expression": "object.spec.size < 5", "reason": "Forbidden"}]},
    }))
    .unwrap();
    let binding: ValidatingAdmissionPolicyBinding = serde_json::from_value(json!({
        "metadata": {"name": "small"},
        "spec": {"policyName": "small", "validationActions": ["Deny"]},
    }))
    .unwrap();
    let parameters = PostParams::default();
    Api::all(client.clone()).create(&parameters, &policy).await.unwrap();
    Api::all(client.clone()).create(&parameters, &binding).await.unwrap();
    let policies: Api<ValidatingAdmissionPolicy> = Api::all(client.clone());
    assert_eq!(policies.get("small").await.unwrap().status.unwrap().observed_generation, Some(1));
    let foos: Api<Foo> = Api::default_namespaced(client);
    foos.create(&parameters, &Foo::new("a", FooSpec { size: 4 })).await.unwrap();
    let denied = foos.create(&parameters, &Foo::new("b", FooSpec { size: 5 })).await.unwrap_err();
    let kube::Error::Api(status) = denied else { panic!("{denied}") };
    assert_eq!((status.code, status.reason.as_str()), (403, "Forbidden"));
}
