//! The garbage collector (RE-114).

use billhook_apiserver::Server;
use http::Method;
use serde_json::{Value, json};

use crate::support::{call, definition, text};

const FOOS: &str = "/apis/example.com/v1/namespaces/default/foos";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn server() -> Server {
    Server::builder().definition(&definition()).unwrap().collect_garbage().build()
}

async fn get(server: &Server, path: &str) -> Option<Value> {
    let answer = call(server, Method::GET, path, &[], "").await;
    (answer.code == 200).then(|| answer.json())
}

/// Creates an object with owners, of which it returns the reference that dependents have to it.
async fn create(server: &Server, path: &str, name: &str, metadata: Value) -> Value {
    let (api_version, kind) =
        if path == FOOS { ("example.com/v1", "Foo") } else { ("v1", "ConfigMap") };
    let mut object = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}});
    object["metadata"].as_object_mut().unwrap().extend(metadata.as_object().unwrap().clone());
    let created = call(server, Method::POST, path, &[], &object.to_string()).await;
    assert_eq!(created.code, 201, "{}", created.text);
    let uid = text(&created.json(), "/metadata/uid");
    json!({"apiVersion": api_version, "kind": kind, "name": name, "uid": uid})
}

fn owned(owners: &[&Value]) -> Value {
    json!({ "ownerReferences": owners })
}

fn blocking(owner: &Value) -> Value {
    let mut owner = owner.clone();
    owner["blockOwnerDeletion"] = true.into();
    owner
}

async fn delete(server: &Server, path: &str, policy: &str) {
    let options = json!({"propagationPolicy": policy}).to_string();
    let deleted = call(server, Method::DELETE, path, &[], &options).await;
    assert_eq!(deleted.code, 200, "{}", deleted.text);
}

#[tokio::test]
async fn objects_go_with_the_last_of_their_owners() {
    let server = server();
    let [first, other] =
        [create(&server, FOOS, "first", json!({})), create(&server, FOOS, "other", json!({}))];
    let (first, other) = (first.await, other.await);
    let child = create(&server, MAPS, "child", owned(&[&first])).await;
    create(&server, FOOS, "grandchild", owned(&[&child])).await;
    create(&server, MAPS, "shared", owned(&[&first, &other])).await;
    delete(&server, &format!("{FOOS}/first"), "Background").await;
    assert_eq!(get(&server, &format!("{MAPS}/child")).await, None);
    assert_eq!(get(&server, &format!("{FOOS}/grandchild")).await, None);
    let shared = get(&server, &format!("{MAPS}/shared")).await.unwrap();
    assert_eq!(shared["metadata"]["ownerReferences"], json!([other]));
    delete(&server, &format!("{FOOS}/other"), "Background").await;
    assert_eq!(get(&server, &format!("{MAPS}/shared")).await, None);
}

/// BK-481: an owner can be named in each version of its kind.
#[tokio::test]
async fn objects_go_with_owners_of_either_version() {
    let server = server();
    let path = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
    let autoscaler = json!({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "a"},
        "spec": {"maxReplicas": 5, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}}});
    let created = call(&server, Method::POST, path, &[], &autoscaler.to_string()).await;
    let uid = text(&created.json(), "/metadata/uid").to_owned();
    for version in ["v1", "v2"] {
        let owner = json!({"apiVersion": format!("autoscaling/{version}"),
            "kind": "HorizontalPodAutoscaler", "name": "a", "uid": uid});
        create(&server, MAPS, version, owned(&[&owner])).await;
    }
    delete(&server, &format!("{path}/a"), "Background").await;
    for version in ["v1", "v2"] {
        assert_eq!(get(&server, &format!("{MAPS}/{version}")).await, None, "{version}");
    }
}

#[tokio::test]
async fn owners_wait_for_what_blocks_them() {
    let server = server();
    let owner = create(&server, FOOS, "owner", json!({})).await;
    let mut metadata = owned(&[&blocking(&owner)]);
    metadata["finalizers"] = json!(["example.com/f"]);
    create(&server, MAPS, "held", metadata).await;
    create(&server, MAPS, "free", owned(&[&owner])).await;
    let path = format!("{FOOS}/owner");
    delete(&server, &path, "Foreground").await;
    assert_eq!(get(&server, &format!("{MAPS}/free")).await, None);
    let waiting = get(&server, &path).await.unwrap();
    assert_eq!(waiting["metadata"]["finalizers"], json!(["foregroundDeletion"]));
    let held = get(&server, &format!("{MAPS}/held")).await.unwrap();
    assert!(held["metadata"]["deletionTimestamp"].is_string(), "{held}");
    let merge = [("content-type", "application/merge-patch+json")];
    let freed = r#"{"metadata": {"finalizers": null}}"#;
    call(&server, Method::PATCH, &format!("{MAPS}/held"), &merge, freed).await;
    assert_eq!(get(&server, &format!("{MAPS}/held")).await, None);
    assert_eq!(get(&server, &path).await, None);
}

#[tokio::test]
async fn orphans_stay() {
    let server = server();
    let owner = create(&server, FOOS, "owner", json!({})).await;
    let child = create(&server, MAPS, "child", owned(&[&blocking(&owner)])).await;
    create(&server, MAPS, "grandchild", owned(&[&child])).await;
    delete(&server, &format!("{FOOS}/owner"), "Orphan").await;
    assert_eq!(get(&server, &format!("{FOOS}/owner")).await, None);
    let orphan = get(&server, &format!("{MAPS}/child")).await.unwrap();
    assert_eq!(orphan["metadata"].get("ownerReferences"), None);
    let grandchild = get(&server, &format!("{MAPS}/grandchild")).await.unwrap();
    assert_eq!(grandchild["metadata"]["ownerReferences"], json!([child]));
}

#[tokio::test]
async fn only_what_is_known_to_be_gone_is_gone() {
    let server = server();
    let reference = |kind: &str, name: &str, uid: &str| {
        let api_version = if kind == "Foo" { "example.com/v1" } else { "other.com/v1" };
        json!({"apiVersion": api_version, "kind": kind, "name": name, "uid": uid})
    };
    create(&server, FOOS, "a", json!({})).await;
    for (name, owner, stays) in [
        ("of-nobody", reference("Foo", "none", "u"), false),
        ("of-another-of-that-name", reference("Foo", "a", "u"), false),
        ("of-an-unknown-kind", reference("Bar", "a", "u"), true),
    ] {
        create(&server, MAPS, name, owned(&[&owner])).await;
        assert_eq!(get(&server, &format!("{MAPS}/{name}")).await.is_some(), stays, "{name}");
    }
    let merge = [("content-type", "application/merge-patch+json")];
    create(&server, MAPS, "late", json!({})).await;
    let patch = json!({"metadata": owned(&[&reference("Foo", "none", "u")])}).to_string();
    call(&server, Method::PATCH, &format!("{MAPS}/late?dryRun=All"), &merge, &patch).await;
    assert!(get(&server, &format!("{MAPS}/late")).await.is_some());
    call(&server, Method::PATCH, &format!("{MAPS}/late"), &merge, &patch).await;
    assert_eq!(get(&server, &format!("{MAPS}/late")).await, None);
}

#[tokio::test]
async fn objects_go_with_the_definition_of_their_owners() {
    let server = server();
    let owner = create(&server, FOOS, "owner", json!({})).await;
    create(&server, MAPS, "child", owned(&[&owner])).await;
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/foos.example.com";
    delete(&server, path, "Background").await;
    assert_eq!(get(&server, &format!("{MAPS}/child")).await, None);
}

/// Definitions and namespaces have owners like other objects of the cluster.
#[tokio::test]
async fn definitions_and_namespaces_go_with_their_owners() {
    const NAMESPACES: &str = "/api/v1/namespaces";
    const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let server = server();
    let namespace = |name: &str, owners: Value| {
        let metadata = json!({"name": name, "ownerReferences": owners});
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}).to_string()
    };
    let body = namespace("owner", json!([]));
    let owner = call(&server, Method::POST, NAMESPACES, &[], &body).await.json();
    let uid = text(&owner, "/metadata/uid");
    let owners = json!([{"apiVersion": "v1", "kind": "Namespace", "name": "owner", "uid": uid}]);
    call(&server, Method::POST, NAMESPACES, &[], &namespace("owned", owners.clone())).await;
    create(&server, "/api/v1/namespaces/owned/configmaps", "inside", json!({})).await;
    let patch = json!({"metadata": {"ownerReferences": owners}}).to_string();
    let merge = [("content-type", "application/merge-patch+json")];
    let definition = format!("{DEFINITIONS}/foos.example.com");
    call(&server, Method::PATCH, &definition, &merge, &patch).await;
    create(&server, FOOS, "a", json!({})).await;
    assert!(get(&server, &definition).await.is_some());
    delete(&server, &format!("{NAMESPACES}/owner"), "Background").await;
    assert_eq!(get(&server, &format!("{NAMESPACES}/owner")).await, None);
    assert_eq!(get(&server, &format!("{NAMESPACES}/owned")).await, None);
    assert_eq!(get(&server, &definition).await, None);
}

#[tokio::test]
async fn a_namespace_goes_when_the_last_owner_in_it_need_not_wait() {
    let server = server();
    let (space, spaces) = ("/api/v1/namespaces/x", "/api/v1/namespaces");
    let body = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "x"}});
    call(&server, Method::POST, spaces, &[], &body.to_string()).await;
    let maps = format!("{space}/configmaps");
    let owner = create(&server, &maps, "owner", json!({})).await;
    let mut metadata = owned(&[&blocking(&owner)]);
    metadata["finalizers"] = json!(["example.com/f"]);
    create(&server, &maps, "held", metadata).await;
    delete(&server, &format!("{maps}/owner"), "Foreground").await;
    delete(&server, space, "Background").await;
    assert!(get(&server, &format!("{maps}/owner")).await.is_some());
    let merge = [("content-type", "application/merge-patch+json")];
    let freed = r#"{"metadata": {"finalizers": null}}"#;
    call(&server, Method::PATCH, &format!("{maps}/held"), &merge, freed).await;
    assert_eq!(get(&server, &format!("{maps}/owner")).await, None);
    assert_eq!(get(&server, space).await, None);
}

/// CP-14: objects that wait for each other in a circle all go.
#[tokio::test]
async fn circles_go() {
    for (length, policy) in
        [2, 3].into_iter().flat_map(|it| [(it, "Background"), (it, "Foreground")])
    {
        let server = server();
        let first = create(&server, MAPS, "m0", json!({})).await;
        let mut last = first.clone();
        for index in 1..length {
            let owner = owned(&[&blocking(&last)]);
            last = create(&server, MAPS, &format!("m{index}"), owner).await;
        }
        let merge = [("content-type", "application/merge-patch+json")];
        let patch = json!({"metadata": owned(&[&blocking(&last)])}).to_string();
        call(&server, Method::PATCH, &format!("{MAPS}/m0"), &merge, &patch).await;
        delete(&server, &format!("{MAPS}/m0"), policy).await;
        for index in 0..length {
            let left = get(&server, &format!("{MAPS}/m{index}")).await;
            assert_eq!(left, None, "{length} {policy}");
        }
    }
}

/// CP-11, CP-16: an object that is being deleted keeps its references, and so does one of whose owners
/// one cannot be known.
#[tokio::test]
async fn references_stay_where_nothing_may_be_done() {
    let unknown = |api_version: &str, kind: &str| json!({"apiVersion": api_version, "kind": kind, "name": "n", "uid": "u"});
    for (finalizers, other, is_deleted) in [
        (json!(["example.com/f"]), None, true),
        (json!([]), Some(unknown("other.com/v1", "Bar")), false),
        (json!([]), Some(unknown("v9", "ConfigMap")), false),
    ] {
        let server = server();
        let owner = create(&server, FOOS, "owner", json!({})).await;
        let second = create(&server, FOOS, "second", json!({})).await;
        let owners = [Some(owner), Some(second), other].into_iter().flatten();
        let owners: Vec<Value> = owners.collect();
        let metadata = json!({"ownerReferences": owners, "finalizers": finalizers});
        create(&server, MAPS, "child", metadata).await;
        if is_deleted {
            delete(&server, &format!("{MAPS}/child"), "Background").await;
        }
        delete(&server, &format!("{FOOS}/owner"), "Background").await;
        let child = get(&server, &format!("{MAPS}/child")).await.unwrap();
        assert_eq!(child["metadata"]["ownerReferences"], json!(owners));
    }
}
