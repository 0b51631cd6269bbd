//! The list of what tests may rely on (CP-118).

use std::time::Duration;

use billhook_control_plane::ControlPlane;
use serde_json::Value;

use crate::support::{column, create, request, run};

const OBJECTS: &str = "
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: example.com/disk
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: i}]}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: shop}
spec:
  replicas: 3
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: c, image: i}]}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {storageClassName: fast, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: once, namespace: shop}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}
";

fn path(group: &str, rest: &str) -> String {
    format!("{group}/namespaces/shop/{rest}")
}

async fn pods(plane: &ControlPlane, app: &str, pointer: &str) -> Vec<String> {
    column(plane, &path("/api/v1", &format!("pods?labelSelector=app={app}")), pointer).await
}

async fn condition(plane: &ControlPlane, path: &str, kind: &str) -> Value {
    let object = request(plane, "GET", path, "").await;
    let conditions = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
    conditions.into_iter().find(|it| it["type"] == kind).unwrap_or_default()
}

/// CP-118: all ends well, and what is deleted is gone with all that is its own.
#[test]
fn the_list_of_promises() {
    run(async |plane| {
        create(plane, OBJECTS).await;
        plane.advance(Duration::from_secs(10)).await.unwrap();

        let web = path("/apis/apps/v1", "deployments/web");
        assert_eq!(request(plane, "GET", &web, "").await["status"]["readyReplicas"], 4);
        assert_eq!(pods(plane, "web", "/status/phase").await, ["Running"; 4]);
        let available = condition(plane, &web, "Available").await;
        assert_eq!(
            (&available["status"], &available["reason"]),
            (&"True".into(), &"MinimumReplicasAvailable".into())
        );
        assert_eq!(condition(plane, &web, "Progressing").await["reason"], "NewReplicaSetAvailable");

        assert_eq!(pods(plane, "db", "/metadata/name").await, ["db-0", "db-1", "db-2"]);
        let events = path("/api/v1", "events?fieldSelector=involvedObject.name=db");
        let messages = column(plane, &events, "/message").await;
        let created: Vec<&str> = messages
            .iter()
            .filter_map(|it| it.strip_prefix("Create Pod ")?.split(' ').next())
            .collect();
        assert_eq!(created, ["db-0", "db-1", "db-2"]);
        let claims = path("/api/v1", "persistentvolumeclaims");
        assert_eq!(column(plane, &claims, "/status/phase").await, ["Bound"; 3]);

        let job = path("/apis/batch/v1", "jobs/once");
        assert_eq!(condition(plane, &job, "Complete").await["status"], "True");

        let slices = path("/apis/discovery.k8s.io/v1", "endpointslices");
        let ready = column(plane, &slices, "/endpoints/3/conditions/ready").await;
        assert_eq!(ready, ["true"]);

        request(plane, "DELETE", &web, "").await;
        plane.advance(Duration::from_secs(60)).await.unwrap();
        assert_eq!(pods(plane, "web", "/metadata/name").await, [""; 0]);
        let sets = path("/apis/apps/v1", "replicasets");
        assert_eq!(column(plane, &sets, "/metadata/name").await, [""; 0]);
        assert_eq!(pods(plane, "db", "/status/phase").await, ["Running"; 3]);

        request(plane, "DELETE", "/api/v1/namespaces/shop", "").await;
        plane.advance(Duration::from_secs(120)).await.unwrap();
        assert_eq!(request(plane, "GET", "/api/v1/namespaces/shop", "").await["code"], 404);
        assert_eq!(column(plane, "/api/v1/pods", "/metadata/name").await, [""; 0]);
        assert_eq!(column(plane, "/api/v1/persistentvolumes", "/metadata/name").await, [""; 0]);
    });
}
