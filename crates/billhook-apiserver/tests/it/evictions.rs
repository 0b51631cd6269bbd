//! Evictions of pods, and the budgets that they use up (BK-111).

use std::sync::Arc;

use billhook_apiserver::Server;
use http::Method;
use serde_json::{Value, json};

use crate::backends::Log;
use crate::support::{Answer, call};

const PODS: &str = "/api/v1/namespaces/default/pods";
const BUDGETS: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";

async fn post(server: &Server, path: &str, object: &Value) -> Answer {
    call(server, Method::POST, path, &[], &object.to_string()).await
}

async fn patch_status(server: &Server, path: &str, status: &Value) {
    let merge = [("content-type", "application/merge-patch+json")];
    let body = json!({"status": status}).to_string();
    let answer = call(server, Method::PATCH, &format!("{path}/status"), &merge, &body).await;
    assert_eq!(answer.code, 200);
}

/// BK-111: evictions at the same time each take a disruption; what another one writes meanwhile is no
/// reason to refuse.
#[tokio::test]
async fn evictions_at_the_same_time_share_a_budget() {
    let builder = Server::builder().bootstrap().without_controllers();
    let server = builder.backend(Arc::new(Log::of(Vec::new()))).build().await.unwrap();
    let server = &server;
    for name in ["a", "b", "c"] {
        let pod = json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": "x"}},
            "spec": {"containers": [{"name": "c", "image": "i"}]},
        });
        assert_eq!(post(server, PODS, &pod).await.code, 201);
        let ready = json!({"type": "Ready", "status": "True"});
        let running = json!({"phase": "Running", "conditions": [ready]});
        patch_status(server, &format!("{PODS}/{name}"), &running).await;
    }
    let budget = json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "x"}}},
    });
    assert_eq!(post(server, BUDGETS, &budget).await.code, 201);
    let allowed = json!({"observedGeneration": 1, "disruptionsAllowed": 2, "expectedPods": 3,
        "currentHealthy": 3, "desiredHealthy": 1});
    patch_status(server, &format!("{BUDGETS}/b"), &allowed).await;
    let evict = async |name: &str| {
        let eviction = json!({"metadata": {"name": name}});
        post(server, &format!("{PODS}/{name}/eviction"), &eviction).await.code
    };
    let (a, b, c) = tokio::join!(evict("a"), evict("b"), evict("c"));
    let mut codes = [a, b, c];
    codes.sort_unstable();
    assert_eq!(codes, [201, 201, 429]);
}
