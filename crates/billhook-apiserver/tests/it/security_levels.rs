//! Levels of security of namespaces that ask for none (BK-567).

use billhook_apiserver::{SecurityDefaults, Server};
use http::Method;
use serde_json::{Value, json};

use crate::support::{Answer, call};

const PODS: &str = "/api/v1/namespaces/default/pods";

async fn post(server: &Server, path: &str, object: &Value) -> Answer {
    call(server, Method::POST, path, &[], &object.to_string()).await
}

async fn patch(server: &Server, path: &str, patch: &Value) -> Answer {
    let type_ = [("content-type", "application/merge-patch+json")];
    call(server, Method::PATCH, path, &type_, &patch.to_string()).await
}

fn pod(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
        "spec": {"containers": [{"name": "c", "image": "i"}]}})
}

/// BK-567: namespaces that ask for no level have one where that is configured; some are exempt.
#[tokio::test]
async fn levels_of_security_have_defaults() {
    let configuration = json!({
        "apiVersion": "pod-security.admission.config.k8s.io/v1", "kind": "PodSecurityConfiguration",
        "defaults": {"enforce": "baseline", "enforce-version": "v1.30", "warn": "restricted"},
        "exemptions": {"usernames": ["alice"], "namespaces": ["free"], "runtimeClasses": ["vm"]},
    });
    let defaults = SecurityDefaults::read(&configuration).unwrap();
    let server = Server::builder().bootstrap().without_controllers().pod_security(defaults).build();
    let warned = post(&server, PODS, &pod("a")).await;
    assert_eq!(warned.code, 201);
    assert!(
        warned.warnings[0].starts_with("299 - \"would violate PodSecurity \\\"restricted:latest")
    );
    let mut open = pod("b");
    open["spec"]["hostPID"] = true.into();
    let refused = post(&server, PODS, &open).await;
    assert_eq!(
        refused.message(),
        "pods \"b\" is forbidden: violates PodSecurity \"baseline:v1.30\": host namespaces (hostPID=true)"
    );
    let by_alice = [("impersonate-user", "alice")];
    let by_alice = call(&server, Method::POST, PODS, &by_alice, &open.to_string()).await;
    assert_eq!((by_alice.code, by_alice.warnings), (201, Vec::new()));
    let labels =
        json!({"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "privileged"}}});
    assert_eq!(patch(&server, "/api/v1/namespaces/default", &labels).await.code, 200);
    open["metadata"]["name"] = "c".into();
    assert_eq!(post(&server, PODS, &open).await.code, 201, "labels count first");
    let free = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "free"}});
    assert_eq!(post(&server, "/api/v1/namespaces", &free).await.code, 201);
    let in_free = post(&server, "/api/v1/namespaces/free/pods", &open).await;
    assert_eq!((in_free.code, in_free.warnings), (201, Vec::new()));

    for (place, value, expected) in [
        (
            "/defaults/warn",
            json!("x"),
            "defaults.warn: Invalid value: \"x\": must be one of privileged, baseline, restricted",
        ),
        (
            "/defaults/enforce-version",
            json!("1.30"),
            "defaults.enforce-version: Invalid value: \"1.30\": must be \"latest\" or \"v1.x\"",
        ),
        (
            "/exemptions",
            json!({"users": []}),
            "strict decoding error: unknown field \"exemptions.users\"",
        ),
        (
            "/kind",
            json!("x"),
            "expected PodSecurityConfiguration of pod-security.admission.config.k8s.io/v1, found \"x\" of \"pod-security.admission.config.k8s.io/v1\"",
        ),
    ] {
        let mut wrong = configuration.clone();
        *wrong.pointer_mut(place).unwrap() = value;
        assert_eq!(SecurityDefaults::read(&wrong).unwrap_err().to_string(), expected);
    }
}
