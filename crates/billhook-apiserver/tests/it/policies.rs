//! Admission policies that are written through the API (PO-01 to PO-92).

use billhook_apiserver::Server;
use http::Method;
use serde_json::{Value, json};

use crate::support::{Answer, call, definition, server, text};

const GROUP: &str = "/apis/admissionregistration.k8s.io/v1";
const FOOS: &str = "/apis/example.com/v1/namespaces/default/foos";

async fn post(server: &Server, path: &str, object: &Value) -> Answer {
    call(server, Method::POST, path, &[], &object.to_string()).await
}

/// Creates a policy or a binding.
async fn add(server: &Server, kind: &str, name: &str, spec: &Value) -> Answer {
    let object = json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind,
        "metadata": {"name": name}, "spec": spec});
    let plural = match kind.strip_suffix("Policy") {
        Some(start) => format!("{start}policies"),
        None => format!("{kind}s"),
    };
    post(server, &format!("{GROUP}/{}", plural.to_lowercase()), &object).await
}

/// The constraints of a policy for creations and updates of a resource.
fn constraints(group: &str, resource: &str) -> Value {
    json!({"resourceRules": [{"operations": ["CREATE", "UPDATE"], "apiGroups": [group],
        "apiVersions": ["v1"], "resources": [resource]}]})
}

fn of_foos(expression: &str) -> Value {
    json!({"matchConstraints": constraints("example.com", "foos"),
        "validations": [{"expression": expression}]})
}

/// Creates a validating policy, and a binding with actions.
async fn enforce(server: &Server, name: &str, policy: &Value, actions: &[&str], params: &Value) {
    let created = add(server, "ValidatingAdmissionPolicy", name, policy).await;
    assert_eq!(created.code, 201, "{}", created.text);
    let mut binding = json!({"policyName": name, "validationActions": actions});
    if !params.is_null() {
        binding["paramRef"] = params.clone();
    }
    let created = add(server, "ValidatingAdmissionPolicyBinding", name, &binding).await;
    assert_eq!(created.code, 201, "{}", created.text);
}

async fn create(server: &Server, name: &str, color: &str) -> Answer {
    let object = json!({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": name},
        "spec": {"color": color}});
    post(server, FOOS, &object).await
}

/// PO-22, PO-23, PO-54.
#[tokio::test]
async fn a_policy_denies_from_its_binding_on() {
    let server = server();
    let policy = of_foos("object.spec.color != 'red'");
    assert_eq!(add(&server, "ValidatingAdmissionPolicy", "no-red", &policy).await.code, 201);
    assert_eq!(create(&server, "a", "red").await.code, 201);
    let binding = json!({"policyName": "no-red", "validationActions": ["Deny"]});
    assert_eq!(add(&server, "ValidatingAdmissionPolicyBinding", "all", &binding).await.code, 201);
    let denied = create(&server, "b", "red").await;
    assert_eq!(denied.code, 422);
    let why = "ValidatingAdmissionPolicy 'no-red' with binding 'all' denied request: failed \
               expression: object.spec.color != 'red'";
    assert_eq!(denied.message(), format!("foos.example.com \"b\" is forbidden: {why}"));
    assert_eq!(
        denied.json()["details"],
        json!({"name": "b", "group": "example.com", "kind": "foos", "causes": [{"message": why}]})
    );
    assert_eq!(create(&server, "b", "blue").await.code, 201);
    let fork = server.fork();
    let gone = format!("{GROUP}/validatingadmissionpolicybindings/all");
    assert_eq!(call(&fork, Method::DELETE, &gone, &[], "").await.code, 200);
    assert_eq!(create(&fork, "c", "red").await.code, 201);
    assert_eq!(create(&server, "c", "red").await.code, 422);
}

/// PO-52.
#[tokio::test]
async fn a_policy_warns() {
    let server = server();
    let mut policy = of_foos("object.spec.color != 'red'");
    policy["validations"][0]["message"] = json!("red is ugly");
    enforce(&server, "p", &policy, &["Warn"], &Value::Null).await;
    let created = create(&server, "a", "red").await;
    let warning = "299 - \"Validation failed for ValidatingAdmissionPolicy 'p' with binding 'p': \
                   red is ugly\"";
    assert_eq!((created.code, created.warnings), (201, vec![warning.to_owned()]));
}

/// PO-30, PO-31, PO-32.
#[tokio::test]
async fn parameters_are_objects_of_the_server() {
    let server = server();
    let mut policy = of_foos("object.spec.color in params.spec.color.split(',')");
    policy["paramKind"] = json!({"apiVersion": "example.com/v1", "kind": "Foo"});
    policy["matchConditions"] =
        json!([{"name": "not-itself", "expression": "object.metadata.name != 'colors'"}]);
    let by_name = json!({"name": "colors", "parameterNotFoundAction": "Deny"});
    enforce(&server, "p", &policy, &["Deny"], &by_name).await;
    let denied = create(&server, "a", "red").await;
    let none = "failed to configure binding: no params found for policy binding with `Deny` \
                parameterNotFoundAction";
    assert!(denied.message().ends_with(none), "{}", denied.text);
    // The parameter is one of the objects that the policy is about.
    let unbound = server.fork();
    let gone = format!("{GROUP}/validatingadmissionpolicybindings/p");
    assert_eq!(call(&unbound, Method::DELETE, &gone, &[], "").await.code, 200);
    assert_eq!(create(&unbound, "colors", "red,green").await.code, 201);
    let binding = json!({"policyName": "p", "validationActions": ["Deny"], "paramRef": by_name});
    assert_eq!(add(&unbound, "ValidatingAdmissionPolicyBinding", "p", &binding).await.code, 201);
    assert_eq!(create(&unbound, "a", "red").await.code, 201);
    assert_eq!(create(&unbound, "b", "blue").await.code, 422);
}

/// PO-30, PO-31, PO-33: a policy that is created after another one sees the parameters as they are.
#[tokio::test]
async fn config_maps_are_parameters() {
    let server = server();
    let mut policy = of_foos("object.spec.color != params.data.color");
    policy["paramKind"] = json!({"apiVersion": "v1", "kind": "ConfigMap"});
    let selected = json!({"selector": {"matchLabels": {"use": "colors"}},
        "parameterNotFoundAction": "Allow"});
    enforce(&server, "p", &policy, &["Deny"], &selected).await;
    let add = async |name: &str, color: &str, labels: Value| {
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": name, "labels": labels}, "data": {"color": color}});
        assert_eq!(post(&server, "/api/v1/namespaces/default/configmaps", &map).await.code, 201);
    };
    assert_eq!(create(&server, "a", "red").await.code, 201);
    add("red", "red", json!({"use": "colors"})).await;
    add("blue", "blue", json!({"use": "colors"})).await;
    add("green", "green", json!({})).await;
    assert_eq!(create(&server, "b", "red").await.code, 422);
    assert_eq!(create(&server, "b", "blue").await.code, 422);
    assert_eq!(create(&server, "b", "green").await.code, 201);
    for plural in ["policybindings", "policies"] {
        let gone = format!("{GROUP}/validatingadmission{plural}/p");
        assert_eq!(call(&server, Method::DELETE, &gone, &[], "").await.code, 200);
    }
    add("white", "white", json!({"use": "colors"})).await;
    enforce(&server, "p", &policy, &["Deny"], &selected).await;
    assert_eq!(create(&server, "c", "white").await.code, 422);
}

/// PO-30, PO-90, BK-481: parameters and types are those of the version that is named.
#[tokio::test]
async fn versions_of_autoscalers_are_told_apart() {
    let server = server();
    let path = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
    let spec = json!({"maxReplicas": 5, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
        "metrics": [{"type": "Resource", "resource": {"name": "cpu",
            "target": {"type": "Utilization", "averageUtilization": 70}}}]});
    let autoscaler = json!({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "a"}, "spec": spec});
    assert_eq!(post(&server, path, &autoscaler).await.code, 201);
    let checked = async |policy: &str| {
        let path = format!("{GROUP}/validatingadmissionpolicies/{policy}");
        call(&server, Method::GET, &path, &[], "").await.json()["status"]["typeChecking"].clone()
    };
    let named = json!({"name": "a", "parameterNotFoundAction": "Deny"});
    for (version, field) in [
        ("v1", "targetCPUUtilizationPercentage"),
        ("v2", "metrics[0].resource.target.averageUtilization"),
    ] {
        let mut policy = of_foos(&format!("params.spec.{field} == 70"));
        policy["paramKind"] = json!({"kind": "HorizontalPodAutoscaler",
            "apiVersion": format!("autoscaling/{version}")});
        enforce(&server, version, &policy, &["Deny"], &named).await;
        assert_eq!(checked(version).await, json!({}), "{version}");
    }
    let created = create(&server, "a", "blue").await;
    assert_eq!(created.code, 201, "{}", created.text);

    let mut policy = of_foos("object.spec.targetCPUUtilizationPercentage < 99");
    policy["matchConstraints"] = constraints("autoscaling", "horizontalpodautoscalers");
    policy["matchConstraints"]["resourceRules"][0]["apiVersions"] = json!(["v1"]);
    assert_eq!(add(&server, "ValidatingAdmissionPolicy", "typed", &policy).await.code, 201);
    assert_eq!(checked("typed").await, json!({}));
}

/// PO-46.
#[tokio::test]
async fn policies_see_the_namespace() {
    let server = server();
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": "team", "labels": {"color": "green"}}});
    assert_eq!(post(&server, "/api/v1/namespaces", &namespace).await.code, 201);
    let policy = of_foos("object.spec.color == namespaceObject.metadata.labels.color");
    enforce(&server, "p", &policy, &["Deny"], &Value::Null).await;
    let foos = "/apis/example.com/v1/namespaces/team/foos";
    for (color, code) in [("green", 201), ("red", 422)] {
        let object = json!({"apiVersion": "example.com/v1", "kind": "Foo",
            "metadata": {"name": "a"}, "spec": {"color": color}});
        assert_eq!(post(&server, foos, &object).await.code, code, "{color}");
    }
}

/// PO-70, PO-75.
#[tokio::test]
async fn mutating_policies_change_what_is_stored() {
    let server = server();
    let policy = |group: &str, resource: &str, mutation: Value| {
        json!({"matchConstraints": constraints(group, resource), "reinvocationPolicy": "Never",
            "mutations": [mutation]})
    };
    let configuration = json!({"patchType": "ApplyConfiguration",
        "applyConfiguration": {"expression": "Object{spec: Object.spec{a: 7}}"}});
    let patch = json!({"patchType": "JSONPatch", "jsonPatch": {"expression":
        "[JSONPatch{op: 'add', path: '/data', value: {'by': request.userInfo.username}}]"}});
    for (name, spec) in [
        ("sizes", policy("example.com", "foos", configuration)),
        ("owners", policy("", "configmaps", patch)),
    ] {
        assert_eq!(add(&server, "MutatingAdmissionPolicy", name, &spec).await.code, 201);
        let binding = json!({"policyName": name});
        assert_eq!(add(&server, "MutatingAdmissionPolicyBinding", name, &binding).await.code, 201);
    }
    let created = create(&server, "a", "red").await.json();
    assert_eq!(created["spec"], json!({"a": 7, "color": "red"}));
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
    let created = post(&server, "/api/v1/namespaces/default/configmaps", &map).await.json();
    assert_eq!(created["data"], json!({"by": "system:admin"}));
}

/// PO-75: what a patch leaves of an object of a built-in kind has no unknown field.
#[tokio::test]
async fn patched_built_in_objects_are_read_strictly() {
    let server = server();
    let patch = json!({"patchType": "JSONPatch", "jsonPatch": {"expression":
        "[JSONPatch{op: 'add', path: '/metadata/labels', value: {'a': 'b'}}, \
          JSONPatch{op: 'add', path: '/bogus', value: object.data.bogus}]"}});
    let spec = json!({"matchConstraints": constraints("", "configmaps"),
        "reinvocationPolicy": "Never", "mutations": [patch]});
    assert_eq!(add(&server, "MutatingAdmissionPolicy", "p", &spec).await.code, 201);
    let binding = json!({"policyName": "p"});
    assert_eq!(add(&server, "MutatingAdmissionPolicyBinding", "p", &binding).await.code, 201);
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"},
        "data": {"bogus": "1"}});
    let refused = post(&server, "/api/v1/namespaces/default/configmaps", &map).await;
    assert_eq!(refused.code, 500);
    assert_eq!(
        refused.message(),
        "Internal error occurred: strict decoding error: unknown field \"bogus\""
    );
    let kind = "[JSONPatch{op: 'replace', path: '/kind', value: object.data.bogus}]";
    let mut other = spec.clone();
    other["mutations"][0]["jsonPatch"]["expression"] = kind.into();
    let path = format!("{GROUP}/mutatingadmissionpolicies/p");
    let change = json!({ "spec": other }).to_string();
    let merge = [("content-type", "application/merge-patch+json")];
    assert_eq!(call(&server, Method::PATCH, &path, &merge, &change).await.code, 200);
    let refused = post(&server, "/api/v1/namespaces/default/configmaps", &map).await;
    let message = "Internal error occurred: no kind \"1\" is registered for version \"v1\" in scheme \
                   \"k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30\"";
    assert_eq!((refused.code, refused.message().as_str()), (500, message));
}

/// PO-66: the type of what is merged is that of the kind that the policy matches, in whichever group it is.
#[tokio::test]
async fn configurations_are_merged_as_the_kind_of_the_policy() {
    let server = server();
    let configuration = json!({"patchType": "ApplyConfiguration",
        "applyConfiguration": {"expression": "Object{note: object.note + '!'}"}});
    let spec = json!({"matchConstraints": constraints("events.k8s.io", "events"),
        "reinvocationPolicy": "Never", "mutations": [configuration]});
    assert_eq!(add(&server, "MutatingAdmissionPolicy", "p", &spec).await.code, 201);
    let binding = json!({"policyName": "p"});
    assert_eq!(add(&server, "MutatingAdmissionPolicyBinding", "p", &binding).await.code, 201);
    let event = json!({"apiVersion": "v1", "kind": "Event", "message": "sent",
        "metadata": {"name": "a"}, "involvedObject": {"namespace": "default"}});
    let created = post(&server, "/api/v1/namespaces/default/events", &event).await;
    assert_eq!(created.code, 201, "{}", created.text);
    assert_eq!(created.json()["message"], "sent!");
}

/// PO-02, PO-03, PO-10.
#[tokio::test]
async fn policies_are_completed_and_validated() {
    let server = server();
    let created = add(&server, "ValidatingAdmissionPolicy", "p", &of_foos("true")).await.json();
    assert_eq!(created["metadata"]["generation"], 1);
    assert_eq!(created["spec"]["failurePolicy"], "Fail");
    let completed = json!({"matchPolicy": "Equivalent", "namespaceSelector": {},
        "objectSelector": {}, "resourceRules": [{"operations": ["CREATE", "UPDATE"],
            "apiGroups": ["example.com"], "apiVersions": ["v1"], "resources": ["foos"],
            "scope": "*"}]});
    assert_eq!(created["spec"]["matchConstraints"], completed);
    let refused = add(&server, "ValidatingAdmissionPolicy", "q", &of_foos("1")).await;
    assert_eq!(refused.code, 422);
    assert_eq!(
        refused.message(),
        "ValidatingAdmissionPolicy.admissionregistration.k8s.io \"q\" is invalid: \
         spec.validations[0].expression: Invalid value: \"1\": must evaluate to bool \
         but got int"
    );
    let binding = json!({"policyName": "p", "validationActions": ["Deny", "Warn"]});
    let refused = add(&server, "ValidatingAdmissionPolicyBinding", "p", &binding).await;
    assert_eq!(refused.code, 422);
    assert!(refused.message().contains("must not contain both Deny and Warn"));
    // PO-20: a mutating policy is not for deletions.
    let mut policy = json!({"matchConstraints": constraints("example.com", "foos"),
        "reinvocationPolicy": "Never", "mutations": [{"patchType": "ApplyConfiguration",
            "applyConfiguration": {"expression": "Object{}"}}]});
    policy["matchConstraints"]["resourceRules"][0]["operations"] = json!(["DELETE"]);
    let refused = add(&server, "MutatingAdmissionPolicy", "p", &policy).await;
    let expected = "spec.matchConstraints.resourceRules.operations: Unsupported value: \"DELETE\"";
    assert!(refused.message().contains(expected), "{}", refused.text);
}

/// PO-90 to PO-92.
#[tokio::test]
async fn types_are_checked_in_the_status() {
    let server = server();
    let path = format!("{GROUP}/validatingadmissionpolicies/p");
    let policy = of_foos("object.spec.b < 5");
    let created = add(&server, "ValidatingAdmissionPolicy", "p", &policy).await;
    assert_eq!(created.json()["status"], json!({}));
    let found = call(&server, Method::GET, &path, &[], "").await.json();
    assert_eq!(found["status"]["observedGeneration"], 1);
    let warnings = &found["status"]["typeChecking"]["expressionWarnings"];
    assert_eq!(warnings[0]["fieldRef"], "spec.validations[0].expression");
    let warning = text(&warnings[0], "/warning");
    let expected = "example.com/v1, Kind=Foo: ERROR: <input>:1:12: undefined field 'b'";
    assert!(warning.starts_with(expected), "{warning}");
    let managers = found["metadata"]["managedFields"].as_array().unwrap();
    assert!(managers.iter().any(|entry| entry["manager"] == "validatingadmissionpolicy-status"
        && entry["operation"] == "Apply"
        && entry["subresource"] == "status"));

    let patch = json!({"spec": {"validations": [{"expression": "object.spec.a < 5"}]}});
    let headers = [("content-type", "application/merge-patch+json")];
    let patched = call(&server, Method::PATCH, &path, &headers, &patch.to_string()).await;
    assert_eq!(patched.code, 200, "{}", patched.text);
    let found = call(&server, Method::GET, &path, &[], "").await.json();
    assert_eq!(found["status"]["observedGeneration"], 2);
    assert_eq!(found.pointer("/status/typeChecking/expressionWarnings"), None);
}

/// PO-21: what a policy would deny can be taken back.
#[tokio::test]
async fn policies_are_not_about_policies() {
    let server = Server::builder().definition(&definition()).unwrap().build();
    let everything = json!({"matchConstraints": {"resourceRules": [{"operations": ["*"],
        "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"]}]},
        "validations": [{"expression": "false"}]});
    enforce(&server, "nothing", &everything, &["Deny"], &Value::Null).await;
    assert_eq!(create(&server, "a", "red").await.code, 422);
    let gone = format!("{GROUP}/validatingadmissionpolicies/nothing");
    assert_eq!(call(&server, Method::DELETE, &gone, &[], "").await.code, 200);
    assert_eq!(create(&server, "a", "red").await.code, 201);
}

/// Of many policies and bindings, one decides.
#[tokio::test]
async fn hundreds_of_policies_are_served() {
    let server = server();
    let mut policy = of_foos("object.spec.color != 'red'");
    for index in 0..300 {
        let group = if index == 200 { "example.com" } else { "other.example.com" };
        policy["matchConstraints"] = constraints(group, "foos");
        enforce(&server, &format!("p{index}"), &policy, &["Deny"], &Value::Null).await;
    }
    assert_eq!(create(&server, "a", "blue").await.code, 201);
    assert!(create(&server, "b", "red").await.message().contains("'p200'"));
}
