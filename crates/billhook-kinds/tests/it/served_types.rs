//! Types of built-in kinds in policies (PO-91, PO-92).

use billhook_apimachinery::KubernetesVersion;
use billhook_kinds::ServedTypes;
use billhook_policy::PolicyDocument;
use serde_json::json;

/// Returns what the type check finds in a validation of objects of a resource, and the advice about
/// it.
fn findings(resource: [&str; 3], expression: &str) -> (Vec<String>, Vec<&'static str>) {
    let [group, version, name] = resource;
    let rule = json!({"operations": ["*"], "apiGroups": [group], "apiVersions": [version],
        "resources": [name]});
    let document = PolicyDocument::from_value(&json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "p"},
        "spec": {
            "matchConstraints": {"resourceRules": [rule]},
            "validations": [{"expression": expression}],
        },
    }))
    .unwrap();
    let kubernetes = KubernetesVersion::default();
    let types = ServedTypes::new(kubernetes, Vec::new());
    let advice = document.lints_for(kubernetes, &types).into_iter().map(|lint| lint.code).collect();
    let PolicyDocument::Validating(policy) = document else { panic!("another kind") };
    let warnings = policy.type_check(&types).expression_warnings.into_iter();
    (warnings.map(|it| it.warning.lines().next().unwrap().to_owned()).collect(), advice)
}

const PODS: [&str; 3] = ["", "v1", "pods"];
const DEPLOYMENTS: [&str; 3] = ["apps", "v1", "deployments"];

#[test]
fn expressions_that_fit_the_kind() {
    let fitting = [
        (PODS, "object.spec.?securityContext.?runAsNonRoot.orValue(false) == true"),
        (
            PODS,
            "object.spec.containers.all(c, c.image.startsWith('a/') && !has(c.securityContext))",
        ),
        (PODS, "object.spec.containers.all(c, quantity(c.resources.limits['cpu']).isInteger())"),
        (PODS, "object.spec.containers[0].livenessProbe.httpGet.port == 'http'"),
        (PODS, "object.spec.containers[0].livenessProbe.httpGet.port == 80"),
        (PODS, "object.metadata.?labels[?'a'].hasValue()"),
        (DEPLOYMENTS, "object.spec.selector.matchLabels == object.spec.template.metadata.labels"),
        (["", "v1", "configmaps"], "object.data.size() < 5 && object.immutable"),
        (["", "v1", "secrets"], "object.data['a'] != 'x' && object.type == 'Opaque'"),
        (
            ["coordination.k8s.io", "v1", "leases"],
            "object.spec.renewTime < timestamp('2030-01-01T00:00:00Z')",
        ),
        (["rbac.authorization.k8s.io", "v1", "roles"], "object.rules.all(r, !('*' in r.verbs))"),
    ];
    for (resource, expression) in fitting {
        // Bounds in their schemas cannot be set, so the cost of large objects is not reported (PO-48).
        assert_eq!(findings(resource, expression), (vec![], vec![]), "{expression}");
    }
}

#[test]
fn expressions_that_do_not_fit_the_kind() {
    let table = [
        (
            PODS,
            "object.spec.container.size() > 0",
            "/v1, Kind=Pod: ERROR: <input>:1:12: undefined field 'container'",
        ),
        (
            DEPLOYMENTS,
            "object.spec.replicas == '3'",
            "apps/v1, Kind=Deployment: ERROR: <input>:1:22: found no matching overload for '_==_' applied to '(int, string)'",
        ),
        (
            DEPLOYMENTS,
            "object.metadata.label == ''",
            "apps/v1, Kind=Deployment: ERROR: <input>:1:16: undefined field 'label'",
        ),
    ];
    for (resource, expression, warning) in table {
        assert_eq!(findings(resource, expression).0, [warning], "{expression}");
    }
    let unknown = findings(["apps", "v1beta9", "deployments"], "object.nothing == 1");
    assert_eq!(unknown, (vec![], vec![]));
}
