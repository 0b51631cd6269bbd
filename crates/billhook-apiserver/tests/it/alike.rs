//! Servers of all versions of Kubernetes answer alike, where a difference could be expected.

use billhook_apimachinery::KubernetesVersion;
use billhook_apiserver::{Server, ServerBuilder};
use http::Method;
use serde_json::{Value, json};

use crate::support::{Answer, call, definition};

const FOOS: &str = "/apis/example.com/v1/namespaces/default/foos";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const ADMISSION: &str = "/apis/admissionregistration.k8s.io/v1";

fn builders() -> impl Iterator<Item = (KubernetesVersion, ServerBuilder)> {
    KubernetesVersion::ALL.iter().map(|version| (*version, Server::builder().kubernetes(*version)))
}

async fn post(server: &Server, path: &str, object: &Value) -> Answer {
    call(server, Method::POST, path, &[], &object.to_string()).await
}

async fn post_new(server: &Server, path: &str, object: &Value) {
    let answer = post(server, path, object).await;
    assert_eq!(answer.code, 201, "{}", answer.text);
}

/// A definition whose spec has a schema.
fn with_spec(spec: Value) -> Value {
    let mut definition = definition();
    let version = &mut definition["spec"]["versions"][0];
    version["schema"]["openAPIV3Schema"]["properties"]["spec"] = spec;
    version.as_object_mut().unwrap().remove("selectableFields");
    definition
}

fn foo(spec: Value) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "a"}, "spec": spec})
}

/// Creates a definition with a spec, and an object in all versions; each answers with a code and,
/// unless the object is created, a text in its message.
async fn check(schema: Value, spec: Value, code: u16, message: &str) {
    let (definition, object) = (with_spec(schema), foo(spec));
    for (version, builder) in builders() {
        let server = builder.build();
        let mut answer = post(&server, DEFINITIONS, &definition).await;
        if answer.code == 201 {
            answer = post(&server, FOOS, &object).await;
        }
        assert_eq!(answer.code, code, "{version}: {}", answer.text);
        assert!(code == 201 || answer.message().contains(message), "{version}: {}", answer.text);
    }
}

/// KV-46, KV-52, KV-73: functions with an estimate of their own are refused alike, and answer alike.
#[tokio::test]
async fn addresses_are_compared_alike() {
    let schema = |rule: &str| {
        json!({"type": "object", "x-kubernetes-validations": [{"rule": rule, "message": "no"}],
            "properties": {"range": {"type": "string", "maxLength": 40},
                "ranges": {"type": "array", "items": {"type": "string"}}}})
    };
    for (rule, code, message) in [
        ("cidr(self.range).containsCIDR('10.1.2.0/24')", 201, ""),
        ("cidr(self.range).containsCIDR('10.1.2.3/16')", 201, ""),
        ("cidr('10.1.0.0/16').containsCIDR(self.range)", 422, "spec: Invalid value"),
        ("cidr(self.range).containsIP('10.1.2.3') && isIP('::1') && !isCIDR('10')", 201, ""),
        ("quantity('1Ki').isGreaterThan(quantity('1k')) && isQuantity('5')", 201, ""),
        ("format.dns1123Label().validate(self.range).hasValue()", 201, ""),
        (
            "self.ranges.all(a, self.ranges.exists(b, cidr(a).containsCIDR(b)))",
            422,
            "estimated rule cost exceeds budget",
        ),
    ] {
        check(schema(rule), json!({"range": "10.0.0.0/8"}), code, message).await;
    }
}

/// KV-64, KV-81, KV-82: values and metadata that are wrong are reported in the same words.
#[tokio::test]
async fn values_are_refused_alike() {
    let of = |a: Value| json!({"type": "object", "properties": {"a": a}});
    for (format, wrong) in [
        ("date-time", "yesterday"),
        ("ipv4", "::1"),
        ("uuid", "1-2"),
        ("duration", "5 parsecs"),
        ("byte", "!"),
        ("email", "@"),
    ] {
        let message = format!("spec.a in body must be of type {format}: \"{wrong}\"");
        let schema = of(json!({"type": "string", "format": format}));
        check(schema, json!({"a": wrong}), 422, &message).await;
    }
    let set =
        json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}});
    let message = "spec.a[1]: Duplicate value: \"x\"";
    check(of(set), json!({"a": ["x", "x"]}), 422, message).await;
    for (_, builder) in builders() {
        let server = builder.definition(&definition()).unwrap().build();
        let mut object = foo(json!({}));
        object["metadata"]["finalizers"] = json!(["x"]);
        object["metadata"]["name"] = "B_".into();
        let refused = post(&server, FOOS, &object).await;
        let message = refused.message();
        assert!(message.contains("metadata.name: Invalid value: \"B_\": a lowercase RFC 1123"));
    }
}

/// KV-74: null as a default is one where null is allowed, and none elsewhere.
#[tokio::test]
async fn null_is_a_default_alike() {
    let schema = json!({"type": "object", "properties": {
        "may": {"type": "string", "nullable": true, "default": null},
        "not": {"type": "string", "default": null}}});
    for (version, builder) in builders() {
        let server = builder.build();
        post_new(&server, DEFINITIONS, &with_spec(schema.clone())).await;
        let created = post(&server, FOOS, &foo(json!({"not": null}))).await.json();
        assert_eq!(created["spec"], json!({}), "{version}");
    }
}

/// KV-76: operations and schemas have the same names.
#[tokio::test]
async fn documents_name_operations_alike() {
    for (version, builder) in builders() {
        let server = builder.definition(&definition()).unwrap().build();
        let path = "/openapi/v3/apis/example.com/v1";
        let document = call(&server, Method::GET, path, &[], "").await.json();
        let patch = "/paths/~1apis~1example.com~1v1~1namespaces~1{namespace}~1foos~1{name}/patch";
        let patch = document.pointer(patch).unwrap();
        assert_eq!(patch["operationId"], "patchExampleComV1NamespacedFoo", "{version}");
        let schema = &document["components"]["schemas"]["com.example.v1.Foo"];
        let fields = json!([{"fieldPath": "spec.color"}]);
        assert_eq!(schema["x-kubernetes-selectable-fields"], fields, "{version}");
    }
}

/// KV-86: a write to an absent object is reported before its content.
#[tokio::test]
async fn what_is_missing_is_not_updated() {
    for (version, builder) in builders() {
        let server = builder.definition(&definition()).unwrap().build();
        let mut object = foo(json!({"a": 1}));
        object["metadata"]["resourceVersion"] = "5".into();
        for path in [format!("{FOOS}/a"), format!("{FOOS}/a/status")] {
            let answer = call(&server, Method::PUT, &path, &[], &object.to_string()).await;
            let message = "foos.example.com \"a\" not found";
            assert_eq!((answer.code, answer.message().as_str()), (404, message), "{version}");
        }
    }
}

/// A policy for the creation of foos, and its binding.
fn policy(expression: &str) -> [(&'static str, Value); 2] {
    let metadata = json!({"name": "p"});
    let of_kind = |kind: &str, spec: Value| {
        json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind,
            "metadata": metadata, "spec": spec})
    };
    let rule = json!({"operations": ["CREATE"], "apiGroups": ["example.com"],
        "apiVersions": ["v1"], "resources": ["foos"]});
    let spec = json!({"matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": expression}]});
    let binding = json!({"policyName": "p", "validationActions": ["Deny"]});
    [
        ("validatingadmissionpolicies", of_kind("ValidatingAdmissionPolicy", spec)),
        ("validatingadmissionpolicybindings", of_kind("ValidatingAdmissionPolicyBinding", binding)),
    ]
}

/// KV-45, KV-53: what a policy costs counts in full.
#[tokio::test]
async fn policies_may_cost_the_same() {
    let schema = json!({"type": "object", "properties": {
        "all": {"type": "array", "items": {"type": "string"}}}});
    for (version, builder) in builders() {
        let server = builder.definition(&with_spec(schema.clone())).unwrap().build();
        let all = "object.spec.all";
        let expression = format!("{all}.all(a, {all}.all(b, {all}.all(c, a == b && b == c)))");
        for (plural, object) in policy(&expression) {
            post_new(&server, &format!("{ADMISSION}/{plural}"), &object).await;
        }
        for (items, code) in [(10, 201), (200, 422)] {
            let mut object = foo(json!({"all": vec!["a"; items]}));
            object["metadata"]["name"] = format!("a{items}").into();
            let answer = post(&server, FOOS, &object).await;
            assert_eq!(answer.code, code, "{version}: {}", answer.text);
            assert!(
                code == 201 || answer.message().contains("cost limit exceeded"),
                "{}",
                answer.text
            );
        }
    }
}

/// KV-90: conditions of webhooks may ask what the user may do, with selectors.
#[tokio::test]
async fn conditions_know_selectors_of_permissions() {
    let condition = "authorizer.group('').resource('pods').fieldSelector('spec.nodeName=a')\
                     .check('list').allowed()";
    let configuration = json!({"apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "w"},
        "webhooks": [{"name": "w.example.com", "sideEffects": "None",
            "admissionReviewVersions": ["v1"], "clientConfig": {"url": "https://example.com"},
            "matchConditions": [{"name": "c", "expression": condition}]}]});
    for (_, builder) in builders() {
        let path = format!("{ADMISSION}/validatingwebhookconfigurations");
        post_new(&builder.build(), &path, &configuration).await;
    }
}

/// KV-93: a policy sees a namespace that has just been created.
#[tokio::test]
async fn policies_know_new_namespaces() {
    for (version, builder) in builders() {
        let server = builder.definition(&definition()).unwrap().build();
        for (plural, object) in policy("namespaceObject.metadata.labels['team'] == 'a'") {
            post_new(&server, &format!("{ADMISSION}/{plural}"), &object).await;
        }
        for (name, team, code) in [("one", "a", 201), ("two", "b", 422)] {
            let namespace = json!({"apiVersion": "v1", "kind": "Namespace",
                "metadata": {"name": name, "labels": {"team": team}}});
            post_new(&server, "/api/v1/namespaces", &namespace).await;
            let foos = FOOS.replace("default", name);
            let answer = post(&server, &foos, &foo(json!({}))).await;
            assert_eq!(answer.code, code, "{version}: {}", answer.text);
        }
    }
}
