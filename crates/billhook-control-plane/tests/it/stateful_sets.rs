//! StatefulSets (CP-50 to CP-57).

use std::time::Duration;

use billhook_control_plane::ControlPlane;
use billhook_control_plane::simulation::Rule;
use serde_json::Value;

use crate::support::{column, create, request, run, run_with};

const PATH: &str = "/apis/apps/v1/namespaces/default/statefulsets/db";
const PODS: &str = "/api/v1/namespaces/default/pods";
const REVISIONS: &str = "/apis/apps/v1/namespaces/default/controllerrevisions";
const CLAIMS: &str = "/api/v1/namespaces/default/persistentvolumeclaims";

/// Returns a StatefulSet with members of its spec.
fn stateful_set(spec: &str) -> String {
    format!(
        "
apiVersion: apps/v1
kind: StatefulSet
metadata: {{name: db, namespace: default}}
spec:
  replicas: 3
  serviceName: db
  selector: {{matchLabels: {{app: db}}}}
  template:
    metadata: {{labels: {{app: db}}}}
    spec: {{terminationGracePeriodSeconds: 1, containers: [{{name: c, image: i}}]}}
{spec}
"
    )
}

async fn patch(plane: &ControlPlane, patch: &str) {
    request(plane, "PATCH", PATH, patch).await;
    plane.advance(Duration::from_secs(20)).await.unwrap();
}

async fn set_image(plane: &ControlPlane, image: &str) {
    let container = format!(r#"{{"name": "c", "image": {image:?}}}"#);
    patch(
        plane,
        &format!(r#"{{"spec": {{"template": {{"spec": {{"containers": [{container}]}}}}}}}}"#),
    )
    .await;
}

async fn images(plane: &ControlPlane) -> Vec<String> {
    column(plane, PODS, "/spec/containers/0/image").await
}

async fn status(plane: &ControlPlane) -> Value {
    request(plane, "GET", PATH, "").await["status"].take()
}

/// CP-50, CP-52: pods have names, places and claims; each waits for the one before.
#[test]
fn pods_come_in_order() {
    let slow = |builder: billhook_control_plane::ControlPlaneBuilder| {
        builder.simulate(Rule::pods("db-*").start().after(Duration::from_secs(10)))
    };
    run_with(slow, async |plane| {
        create(plane, &stateful_set("  ordinals: {start: 4}")).await;
        for pods in [&["db-4"][..], &["db-4", "db-5"], &["db-4", "db-5", "db-6"]] {
            assert_eq!(column(plane, PODS, "/metadata/name").await, pods);
            plane.advance(Duration::from_secs(11)).await.unwrap();
        }
        assert_eq!(column(plane, PODS, "/spec/hostname").await, ["db-4", "db-5", "db-6"]);
        let index = "/metadata/labels/apps.kubernetes.io~1pod-index";
        assert_eq!(column(plane, PODS, index).await, ["4", "5", "6"]);
        let status = status(plane).await;
        assert_eq!(status["availableReplicas"], 3);
        assert_eq!(status["currentRevision"], status["updateRevision"]);
    });
}

/// CP-53: in parallel nothing waits.
#[test]
fn pods_come_at_once() {
    let unready = |builder: billhook_control_plane::ControlPlaneBuilder| {
        builder.simulate(Rule::pods("db-*").never_get_ready())
    };
    run_with(unready, async |plane| {
        create(plane, &stateful_set("  podManagementPolicy: Parallel")).await;
        assert_eq!(column(plane, PODS, "/metadata/name").await, ["db-0", "db-1", "db-2"]);
        patch(plane, r#"{"spec": {"replicas": 1}}"#).await;
        assert_eq!(column(plane, PODS, "/metadata/name").await, ["db-0"]);
    });
}

/// CP-52: a pod below the partition stays in the current revision, also when it is created again.
#[test]
fn a_partition_keeps_pods_from_an_update() {
    run(async |plane| {
        let spec = "  updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 2}}";
        create(plane, &stateful_set(spec)).await;
        set_image(plane, "j").await;
        assert_eq!(images(plane).await, ["i", "i", "j"]);
        request(plane, "DELETE", &format!("{PODS}/db-0"), "").await;
        plane.advance(Duration::from_secs(10)).await.unwrap();
        assert_eq!(images(plane).await, ["i", "i", "j"]);
        let between = status(plane).await;
        assert_eq!(
            (&between["currentReplicas"], &between["updatedReplicas"]),
            (&2.into(), &1.into())
        );
        patch(plane, r#"{"spec": {"updateStrategy": {"rollingUpdate": {"partition": 0}}}}"#).await;
        assert_eq!(images(plane).await, ["j", "j", "j"]);
        let after = status(plane).await;
        assert_eq!(after["currentRevision"], between["updateRevision"]);
    });
}

/// CP-52: pods are only brought to a new template when they are deleted.
#[test]
fn an_update_may_wait_for_deletions() {
    run(async |plane| {
        create(plane, &stateful_set("  updateStrategy: {type: OnDelete}")).await;
        set_image(plane, "j").await;
        assert_eq!(images(plane).await, ["i", "i", "i"]);
        request(plane, "DELETE", &format!("{PODS}/db-1"), "").await;
        plane.advance(Duration::from_secs(10)).await.unwrap();
        assert_eq!(images(plane).await, ["i", "j", "i"]);
    });
}

/// CP-54: a stuck update stays stuck when it is taken back, until its pod is deleted.
#[test]
fn a_stuck_update_does_not_repair_itself() {
    let unready = |builder: billhook_control_plane::ControlPlaneBuilder| {
        builder.script(|pod, script| {
            if pod.text("/spec/containers/0/image") == "bad" {
                script.unready = Some(Default::default());
            }
        })
    };
    run_with(unready, async |plane| {
        create(plane, &stateful_set("")).await;
        set_image(plane, "bad").await;
        assert_eq!(images(plane).await, ["i", "i", "bad"]);
        set_image(plane, "i").await;
        assert_eq!(images(plane).await, ["i", "i", "bad"]);
        request(plane, "DELETE", &format!("{PODS}/db-2"), "").await;
        plane.advance(Duration::from_secs(10)).await.unwrap();
        assert_eq!(images(plane).await, ["i", "i", "i"]);
    });
}

/// CP-51: a template that was there before has its revision again, with a higher number; old ones go.
#[test]
fn revisions_are_used_again_and_limited() {
    run(async |plane| {
        create(plane, &stateful_set("  revisionHistoryLimit: 1")).await;
        let first = column(plane, REVISIONS, "/metadata/name").await;
        set_image(plane, "j").await;
        set_image(plane, "i").await;
        let mut numbers = column(plane, REVISIONS, "/revision").await;
        numbers.sort();
        assert_eq!(numbers, ["2", "3"]);
        assert_eq!(status(plane).await["currentRevision"], first[0]);
        for image in ["k", "l"] {
            set_image(plane, image).await;
        }
        let mut numbers = column(plane, REVISIONS, "/revision").await;
        numbers.sort();
        assert_eq!(numbers, ["4", "5"]);
    });
}

/// CP-57: whose deletion takes the claims with it.
#[test]
fn claims_are_tied_to_the_set() {
    const CLASS: &str = "
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: standard, annotations: {storageclass.kubernetes.io/is-default-class: 'true'}}
provisioner: example.com/p
";
    for (policy, owners) in [("Retain", 0), ("Delete", 1)] {
        run(async |plane| {
            create(plane, CLASS).await;
            let spec = format!(
                "  persistentVolumeClaimRetentionPolicy: {{whenDeleted: {policy}}}
  volumeClaimTemplates:
  - metadata: {{name: data, labels: {{q: r}}}}
    spec: {{accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Gi}}}}}}"
            );
            create(plane, &stateful_set(&spec)).await;
            let names = column(plane, CLAIMS, "/metadata/name").await;
            assert_eq!(names, ["data-db-0", "data-db-1", "data-db-2"]);
            assert_eq!(column(plane, CLAIMS, "/metadata/labels/app").await, ["db"; 3]);
            let claim = request(plane, "GET", &format!("{CLAIMS}/data-db-0"), "").await;
            let found = claim["metadata"]["ownerReferences"].as_array().map_or(0, Vec::len);
            assert_eq!(found, owners, "{policy}");
            // The policy may change later.
            let other = if owners == 0 { "Delete" } else { "Retain" };
            let retention = format!(
                r#"{{"spec": {{"persistentVolumeClaimRetentionPolicy": {{"whenDeleted": {other:?}}}}}}}"#
            );
            patch(plane, &retention).await;
            let claim = request(plane, "GET", &format!("{CLAIMS}/data-db-0"), "").await;
            let found = claim["metadata"]["ownerReferences"].as_array().map_or(0, Vec::len);
            assert_eq!(found, 1 - owners, "{other}");
        });
    }
}

/// CP-53: pods are created in batches that double; all of the batch in which one fails are tried.
#[test]
fn parallel_pods_start_slowly() {
    const QUOTA: &str = "
apiVersion: v1
kind: ResourceQuota
metadata: {name: q, namespace: default}
spec: {hard: {pods: '1'}}
";
    run(async |plane| {
        create(plane, QUOTA).await;
        create(plane, &stateful_set("  podManagementPolicy: Parallel").replace('3', "4")).await;
        let events = "/api/v1/namespaces/default/events";
        let messages = column(plane, events, "/message").await;
        let has = |text: &str| messages.iter().any(|message| message.starts_with(text));
        assert!(has("Create Pod db-0 in StatefulSet db successful"), "{messages:?}");
        for (pod, is_tried) in [("db-1", true), ("db-2", true), ("db-3", false)] {
            let text = format!("Create Pod {pod} in StatefulSet db failed error: ");
            assert_eq!(has(&text), is_tried, "{messages:?}");
        }
    });
}

/// CP-52: an adopted pod without the volume of its claim gets the claim; the server refuses the volume, and an
/// event tells of it (CP-55).
#[test]
fn a_pod_without_its_claim_is_put_right() {
    run(async |plane| {
        let pod = "apiVersion: v1\nkind: Pod\n\
                   metadata: {name: db-0, namespace: default, labels: {app: db}}\n\
                   spec: {containers: [{name: c, image: i}]}";
        create(plane, pod).await;
        let claims = "  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], \
                      resources: {requests: {storage: 1Gi}}}}]";
        create(plane, &stateful_set(claims)).await;
        let created = column(plane, CLAIMS, "/metadata/name").await;
        assert_eq!(created.first().map(String::as_str), Some("data-db-0"));
        let events = "/api/v1/namespaces/default/events";
        let messages = column(plane, events, "/message").await;
        let refused = "Update Pod db-0 in StatefulSet db failed error: Pod \"db-0\" is invalid: spec: Forbidden: \
                       pod updates may not change fields other than";
        assert!(messages.iter().any(|message| message.starts_with(refused)), "{messages:?}");
        assert!(column(plane, events, "/reason").await.iter().any(|it| it == "FailedUpdate"));
    });
}
