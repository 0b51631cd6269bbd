//! The end of namespaces (CP-21 to CP-23).

use std::time::Duration;

use billhook_apiserver::{RequestRecord, Server};
use billhook_control_plane::ControlPlane;
use serde_json::Value;

use crate::support::{create, request, run, run_with};

const PATH: &str = "/api/v1/namespaces/shop";

async fn phase(plane: &ControlPlane) -> String {
    let namespace = request(plane, "GET", PATH, "").await;
    namespace["status"]["phase"].as_str().unwrap_or("gone").to_owned()
}

async fn delete(plane: &ControlPlane, text: &str) {
    create(plane, &format!("apiVersion: v1\nkind: Namespace\nmetadata: {{name: shop}}\n---{text}"))
        .await;
    request(plane, "DELETE", PATH, "").await;
    plane.settled().await.unwrap();
}

fn message(namespace: &Value, kind: &str) -> String {
    let conditions = namespace["status"]["conditions"].as_array().unwrap();
    let condition = conditions.iter().find(|condition| condition["type"] == kind).unwrap();
    condition["message"].as_str().unwrap().to_owned()
}

/// CP-21: nothing is deleted in the first five seconds.
#[test]
fn a_namespace_goes_after_five_seconds() {
    run(async |plane| {
        delete(plane, "").await;
        plane.advance(Duration::from_secs(4)).await.unwrap();
        assert_eq!(phase(plane).await, "Terminating");
        plane.advance(Duration::from_secs(2)).await.unwrap();
        assert_eq!(phase(plane).await, "gone");
    });
}

/// CP-21: pods go before everything else, and hold it.
#[test]
fn pods_go_first() {
    run_with(
        |builder| builder.script(|_, script| script.ignores_deletion = true),
        async |plane| {
            let content = "
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: shop}
spec: {terminationGracePeriodSeconds: 100, containers: [{name: c, image: i}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c, namespace: shop}
";
            delete(plane, content).await;
            plane.advance(Duration::from_secs(30)).await.unwrap();
            let map = request(plane, "GET", &format!("{PATH}/configmaps/c"), "").await;
            assert_eq!(map["metadata"]["deletionTimestamp"], Value::Null);
            assert_eq!(map["kind"], "ConfigMap");
            request(plane, "DELETE", &format!("{PATH}/pods/p?gracePeriodSeconds=0"), "").await;
            // The next look is after half of the time that the pod had, and a second.
            plane.advance(Duration::from_secs(51)).await.unwrap();
            assert_eq!(phase(plane).await, "gone");
        },
    );
}

/// A pod that has a second to end.
const POD: &str = "
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: shop}
spec: {terminationGracePeriodSeconds: 1, containers: [{name: c, image: i}]}
";

/// CP-21, CP-22: pods that are there after their time are a failure.
#[test]
fn pods_that_stay_are_a_failure() {
    run_with(
        |builder| builder.script(|_, script| script.ignores_deletion = true),
        async |plane| {
            delete(plane, POD).await;
            plane.advance(Duration::from_secs(10)).await.unwrap();
            let namespace = request(plane, "GET", PATH, "").await;
            assert_eq!(
                message(&namespace, "NamespaceDeletionContentFailure"),
                "Failed to delete all resource types, 1 remaining: unexpected items still remain in \
                 namespace: shop for gvr: /v1, Resource=pods"
            );
        },
    );
}

/// CP-22: the lists are sorted and joined.
#[test]
fn conditions_count_what_remains() {
    run(async |plane| {
        let mut content = String::new();
        for (kind, name, finalizer) in
            [("ConfigMap", "a", "x/b"), ("ConfigMap", "b", "x/a"), ("Secret", "a", "x/b")]
        {
            content += &format!(
                "\napiVersion: v1\nkind: {kind}\nmetadata: {{name: {name}, namespace: shop, \
                 finalizers: [{finalizer}]}}\n---"
            );
        }
        delete(plane, &content).await;
        plane.advance(Duration::from_secs(6)).await.unwrap();
        let namespace = request(plane, "GET", PATH, "").await;
        assert_eq!(
            message(&namespace, "NamespaceContentRemaining"),
            "Some resources are remaining: configmaps. has 2 resource instances, secrets. has 1 \
             resource instances"
        );
        assert_eq!(
            message(&namespace, "NamespaceFinalizersRemaining"),
            "Some content in the namespace has finalizers remaining: x/a in 1 resource instances, \
             x/b in 2 resource instances"
        );
    });
}

/// CP-21: a write of the conditions is a change like others, after which five seconds pass, even if what
/// remains would take longer.
#[test]
fn the_next_look_is_five_seconds_after_a_change() {
    run(async |plane| {
        let held = "
apiVersion: v1
kind: ConfigMap
metadata: {name: c, namespace: shop, finalizers: [x.io/f]}
";
        delete(plane, held).await;
        plane.advance(Duration::from_secs(5)).await.unwrap();
        let path = format!("{PATH}/configmaps/c");
        request(plane, "PATCH", &path, r#"{"metadata": {"finalizers": null}}"#).await;
        plane.advance(Duration::from_millis(4_900)).await.unwrap();
        assert_eq!(phase(plane).await, "Terminating");
        plane.advance(Duration::from_millis(200)).await.unwrap();
        assert_eq!(phase(plane).await, "gone");
    });
}

/// CP-21: after failures it looks again within a minute.
#[test]
fn failures_are_not_waited_for_longer_than_a_minute() {
    run_with(
        |builder| builder.script(|_, script| script.ignores_deletion = true),
        async |plane| {
            delete(plane, POD).await;
            plane.advance(Duration::from_secs(700)).await.unwrap();
            request(plane, "DELETE", &format!("{PATH}/pods/p?gracePeriodSeconds=0"), "").await;
            plane.advance(Duration::from_secs(61)).await.unwrap();
            assert_eq!(phase(plane).await, "gone");
        },
    );
}

/// CP-21: the requests of a run, in their order.
#[test]
fn a_run_makes_these_requests() {
    run_with(
        |builder| {
            let server = Server::builder().bootstrap().collect_garbage().log_requests();
            builder.server(server).nodes([])
        },
        async |plane| {
            let held = "
apiVersion: v1
kind: ConfigMap
metadata: {name: c, namespace: shop, finalizers: [x.io/f]}
";
            delete(plane, held).await;
            let requests = || {
                let all = plane.server().requests();
                let of_controller = |it: &&RequestRecord| {
                    it.user == "system:serviceaccount:kube-system:namespace-controller"
                };
                let own = all.iter().filter(of_controller);
                own.map(|it| format!("{} {}", it.verb, it.path)).collect::<Vec<_>>()
            };
            plane.advance(Duration::from_millis(4_900)).await.unwrap();
            assert_eq!(requests(), [""; 0]);
            plane.advance(Duration::from_millis(100)).await.unwrap();
            let first = requests();
            assert_eq!(first[..3], [format!("get {PATH}"), "get /api".into(), "get /apis".into()]);
            assert_eq!(
                first[3..5],
                ["deletecollection", "list"].map(|it| format!("{it} {PATH}/pods"))
            );
            assert_eq!(first.last().unwrap(), &format!("update {PATH}/status"));
            // Each resource is emptied, then listed, whether there is something or not.
            for pair in first[3..first.len() - 1].chunks(2) {
                let path = pair[0].strip_prefix("deletecollection ").unwrap();
                assert_eq!(pair[1], format!("list {path}"));
            }
            for path in ["deployments", "jobs", "leases", "secrets", "endpointslices"] {
                let count = first.iter().filter(|it| it.ends_with(&format!("/{path}"))).count();
                assert_eq!(count, 2, "{path}");
            }
            let path = format!("{PATH}/configmaps/c");
            request(plane, "PATCH", &path, r#"{"metadata": {"finalizers": null}}"#).await;
            plane.advance(Duration::from_secs(5)).await.unwrap();
            assert_eq!(phase(plane).await, "gone");
            let all = requests();
            let last = ["status", "finalize"].map(|it| format!("update {PATH}/{it}"));
            assert_eq!(all[all.len() - 2..], last);
        },
    );
}

/// CP-21: objects of a definition that was made meanwhile go with the rest.
#[test]
fn custom_resources_go_too() {
    run(async |plane| {
        let definition = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: foos.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: foos, singular: foo, kind: Foo, listKind: FooList}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
";
        create(plane, definition).await;
        delete(
            plane,
            "\napiVersion: example.com/v1\nkind: Foo\nmetadata: {name: f, namespace: shop}",
        )
        .await;
        plane.advance(Duration::from_secs(5)).await.unwrap();
        assert_eq!(phase(plane).await, "gone");
    });
}
