//! Quotas (CP-92).

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{create, request, run};

const QUOTA: &str = "/api/v1/namespaces/default/resourcequotas/q";
const DEFINITION: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: foos.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: foos, kind: Foo}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
";

/// CP-92: the use of what cannot be counted is not known: events, objects of the cluster, kinds that do
/// not exist. A kind that comes is counted.
#[test]
fn what_cannot_be_counted_has_no_use() {
    run(async |plane| {
        let names = ["configmaps", "events", "foos.example.com", "jobs.batch", "jobs", "nodes"];
        let hard: Value = names.iter().map(|it| (format!("count/{it}"), json!("5"))).collect();
        let quota = json!({
            "apiVersion": "v1", "kind": "ResourceQuota", "spec": {"hard": hard},
            "metadata": {"name": "q", "namespace": "default"},
        });
        create(plane, &quota.to_string()).await;
        let used = async || request(plane, "GET", QUOTA, "").await["status"]["used"].take();
        assert_eq!(used().await, json!({"count/configmaps": "0", "count/jobs.batch": "0"}));
        create(plane, DEFINITION).await;
        assert_eq!(used().await["count/foos.example.com"], "0");
    });
}

/// CP-92: usage is counted when the spec changes, after deletions and every five minutes, not when only
/// the status changes.
#[test]
fn usage_is_not_counted_for_each_creation() {
    run(async |plane| {
        let quota = "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q, namespace: default}\n\
                     spec: {hard: {count/secrets: 5}}";
        create(plane, quota).await;
        let used = async || request(plane, "GET", QUOTA, "").await["status"]["used"].take();
        let wrong = r#"{"status": {"used": {"count/secrets": "3"}}}"#;
        request(plane, "PATCH", &format!("{QUOTA}/status"), wrong).await;
        let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: default}";
        create(plane, secret).await;
        assert_eq!(used().await, json!({"count/secrets": "4"}));
        plane.advance(Duration::from_secs(301)).await.unwrap();
        assert_eq!(used().await, json!({"count/secrets": "1"}));
        request(plane, "PATCH", &format!("{QUOTA}/status"), wrong).await;
        request(plane, "DELETE", "/api/v1/namespaces/default/secrets/s", "").await;
        plane.settled().await.unwrap();
        assert_eq!(used().await, json!({"count/secrets": "0"}));
    });
}
