//! How bodies of the server's own kinds are read by their types (BK-01, BK-02, BK-22).

use billhook_apiserver::Server;
use http::Method;
use serde_json::{Value, json};

use crate::support::{Answer, call};

async fn post(server: &Server, path: &str, object: &Value) -> Answer {
    call(server, Method::POST, path, &[], &object.to_string()).await
}

/// BK-22: of several values of wrong types the first one in the text is reported.
#[tokio::test]
async fn the_first_wrong_type_in_the_text_counts() {
    let server = Server::builder().build();
    for (body, wrong) in [
        (
            r#"{"spec":{"replicas":1.5,"paused":"x"}}"#,
            "number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32",
        ),
        (
            r#"{"spec":{"paused":"x","replicas":1.5},"metadata":{"name":5}}"#,
            "string into Go struct field DeploymentSpec.spec.paused of type bool",
        ),
        (
            r#"{"spec":{"paused":"x"},"metadata":{"name":5},"apiVersion":"apps/v1","kind":"Deployment"}"#,
            "string into Go struct field DeploymentSpec.spec.paused of type bool",
        ),
        (
            r#"{"metadata":{"labels":[],"annotations":[]},"spec":5}"#,
            "array into Go struct field ObjectMeta.metadata.labels of type map[string]string",
        ),
        // What was YAML is read in the order of keys.
        (
            "spec:\n  replicas: 1.5\n  paused: x\n",
            "string into Go struct field DeploymentSpec.spec.paused of type bool",
        ),
    ] {
        let path = "/apis/apps/v1/namespaces/default/deployments";
        let media = if body.starts_with('{') { "application/json" } else { "application/yaml" };
        let answer = call(&server, Method::POST, path, &[("content-type", media)], body).await;
        let prefix = "Deployment in version \"v1\" cannot be handled as a Deployment: json: cannot";
        assert_eq!((answer.code, answer.message()), (400, format!("{prefix} unmarshal {wrong}")));
    }
}

/// BK-22: types have the package that declares them, wherever they are used.
#[tokio::test]
async fn wrong_types_are_named_with_their_packages() {
    let server = Server::builder().build();
    let autoscalers = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
    let budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
    let policies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
    for (path, kind, version, body, wrong) in [
        (
            autoscalers,
            "HorizontalPodAutoscaler",
            "v2",
            json!({"spec": {"metrics": [{"resource": {"name": 5}}]}}),
            "number into Go struct field ResourceMetricSource.spec.metrics.resource.name of type \
             v1.ResourceName",
        ),
        (
            autoscalers,
            "HorizontalPodAutoscaler",
            "v2",
            json!({"spec": {"metrics": [{"containerResource": {"name": true}}]}}),
            "bool into Go struct field \
             ContainerResourceMetricSource.spec.metrics.containerResource.name of type \
             v1.ResourceName",
        ),
        (
            autoscalers,
            "HorizontalPodAutoscaler",
            "v2",
            json!({"status": {"conditions": [{"status": []}]}}),
            "array into Go struct field HorizontalPodAutoscalerCondition.status.conditions.status \
             of type v1.ConditionStatus",
        ),
        (
            autoscalers,
            "HorizontalPodAutoscaler",
            "v2",
            json!({"spec": {"metrics": [{"type": 5}]}}),
            "number into Go struct field MetricSpec.spec.metrics.type of type v2.MetricSourceType",
        ),
        (
            budgets,
            "PodDisruptionBudget",
            "v1",
            json!({"status": {"disruptedPods": "x"}}),
            "string into Go struct field PodDisruptionBudgetStatus.status.disruptedPods of type \
             map[string]v1.Time",
        ),
        (
            policies,
            "ValidatingAdmissionPolicy",
            "v1",
            json!({"status": {"conditions": "x"}}),
            "string into Go struct field ValidatingAdmissionPolicyStatus.status.conditions of type \
             []v1.Condition",
        ),
        (
            policies,
            "ValidatingAdmissionPolicy",
            "v1",
            json!({"status": {"conditions": [{"type": 5}]}}),
            "number into Go struct field Condition.status.conditions.type of type string",
        ),
    ] {
        let answer = post(&server, path, &body).await;
        let prefix =
            format!("{kind} in version \"{version}\" cannot be handled as a {kind}: json: ");
        let expected = format!("{prefix}cannot unmarshal {wrong}");
        assert_eq!((answer.code, answer.message()), (400, expected));
    }
}

/// BK-01, BK-02: the conditions of a policy have the fields of their type, and no others.
#[tokio::test]
async fn conditions_of_policies_are_of_a_type() {
    let server = Server::builder().build();
    let path = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
    let policy = json!({"apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "a"}, "spec": {
            "matchConstraints": {"resourceRules": [{"operations": ["CREATE"], "apiGroups": [""],
                "apiVersions": ["v1"], "resources": ["pods"]}]},
            "validations": [{"expression": "true"}]}});
    assert_eq!(post(&server, path, &policy).await.code, 201);
    let merge = [("content-type", "application/merge-patch+json")];
    let condition = json!({"zz": 1, "reason": "R", "status": "True", "type": "A",
        "lastTransitionTime": "2024-01-01T01:00:00.5+01:00"});
    let patch = json!({"status": {"conditions": [condition]}});
    let path = format!("{path}/a/status");
    let answer = call(&server, Method::PATCH, &path, &merge, &patch.to_string()).await;
    assert_eq!(answer.code, 200, "{}", answer.message());
    let shown = "\"conditions\":[{\"type\":\"A\",\"status\":\"True\",\"lastTransitionTime\":\
                 \"2024-01-01T00:00:00Z\",\"reason\":\"R\",\"message\":\"\"}]";
    assert!(answer.text.contains(shown), "{}", answer.text);
}
