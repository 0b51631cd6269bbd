//! ReplicaSets (CP-40 to CP-44).

use std::time::Duration;

use crate::support::{column, create, request, run, run_with};

const SET: &str = "
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web, namespace: default}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: i}]}
";
const PODS: &str = "/api/v1/namespaces/default/pods";
const PATH: &str = "/apis/apps/v1/namespaces/default/replicasets/web";

/// CP-41, CP-43: pods are created, get ready, and are counted.
#[test]
fn a_set_has_its_pods() {
    run(async |plane| {
        create(plane, SET).await;
        assert_eq!(column(plane, PODS, "/status/phase").await, ["Running"; 3]);
        let set = request(plane, "GET", PATH, "").await;
        assert_eq!(set["status"]["availableReplicas"], 3);
        assert_eq!(set["status"]["observedGeneration"], 1);
    });
}

/// CP-42: unready pods go first.
#[test]
fn surplus_pods_are_deleted() {
    run(async |plane| {
        create(plane, SET).await;
        request(plane, "PATCH", PATH, r#"{"spec": {"replicas": 1}}"#).await;
        plane.settled().await.unwrap();
        assert_eq!(column(plane, PODS, "/status/phase").await, ["Running"]);
        let events = column(plane, "/api/v1/namespaces/default/events", "/reason").await;
        assert_eq!(events.iter().filter(|reason| *reason == "SuccessfulDelete").count(), 2);
    });
}

/// CP-44: a pod whose labels are changed away is released and replaced; labelled back it is adopted,
/// and one too many goes.
#[test]
fn a_pod_that_does_not_match_is_released() {
    run(async |plane| {
        create(plane, SET).await;
        let first = column(plane, PODS, "/metadata/name").await.remove(0);
        let path = format!("{PODS}/{first}");
        let label = |app: &str| format!(r#"{{"metadata": {{"labels": {{"app": "{app}"}}}}}}"#);
        request(plane, "PATCH", &path, &label("other")).await;
        plane.settled().await.unwrap();
        assert_eq!(column(plane, PODS, "/metadata/name").await.len(), 4);
        let pod = request(plane, "GET", &path, "").await;
        assert_eq!(pod.pointer("/metadata/ownerReferences"), None);
        request(plane, "PATCH", &path, &label("web")).await;
        plane.settled().await.unwrap();
        assert_eq!(column(plane, PODS, "/metadata/name").await.len(), 3);
    });
}

/// CP-40: only active pods are claimed; one that is being deleted keeps its owner, whatever its labels.
#[test]
fn a_pod_that_is_being_deleted_is_not_released() {
    run_with(
        |builder| builder.script(|_, script| script.ignores_deletion = true),
        async |plane| {
            create(plane, SET).await;
            let path = format!("{PODS}/{}", column(plane, PODS, "/metadata/name").await.remove(0));
            request(plane, "DELETE", &path, "").await;
            request(plane, "PATCH", &path, r#"{"metadata": {"labels": {"app": "other"}}}"#).await;
            plane.settled().await.unwrap();
            let pod = request(plane, "GET", &path, "").await;
            assert_eq!(pod["metadata"]["ownerReferences"][0]["name"], "web");
            let set = request(plane, "GET", PATH, "").await;
            assert_eq!([&set["status"]["replicas"], &set["status"]["terminatingReplicas"]], [3, 1]);
        },
    );
}

/// CP-07: creations in a namespace that is being deleted are given up, without an event or a condition.
#[test]
fn a_namespace_that_is_being_deleted_is_no_failure() {
    run_with(
        |builder| builder.script(|_, script| script.ignores_deletion = true),
        async |plane| {
            let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n---";
            let set = SET.replace("namespace: default", "namespace: shop");
            create(plane, &[namespace, &set].concat()).await;
            request(plane, "DELETE", "/api/v1/namespaces/shop", "").await;
            plane.advance(Duration::from_secs(10)).await.unwrap();
            let set = request(plane, "GET", &PATH.replace("default", "shop"), "").await;
            assert_eq!([&set["status"]["replicas"], &set["status"]["terminatingReplicas"]], [0, 3]);
            assert_eq!(set["status"].get("conditions"), None);
            let reasons = column(plane, "/api/v1/namespaces/shop/events", "/reason").await;
            assert!(!reasons.iter().any(|reason| reason == "FailedCreate"), "{reasons:?}");
        },
    );
}
