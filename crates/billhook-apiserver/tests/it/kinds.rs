//! The server's own kinds (RE-141).

use billhook_apiserver::Server;
use http::Method;
use serde_json::{Value, json};

use crate::support::{Answer, call, definition, text};

const MERGE: [(&str, &str); 1] = [("content-type", "application/merge-patch+json")];

async fn post(server: &Server, path: &str, object: &Value) -> Answer {
    call(server, Method::POST, path, &[], &object.to_string()).await
}

async fn get(server: &Server, path: &str) -> Answer {
    call(server, Method::GET, path, &[], "").await
}

fn foo(name: &str) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": name}})
}

/// RE-141.
#[tokio::test]
async fn namespaces_must_exist() {
    let builder = || Server::builder().definition(&definition()).unwrap();
    let (foos, object) = ("/apis/example.com/v1/namespaces/team/foos", foo("a"));
    let server = builder().build();
    let refused = post(&server, foos, &object).await;
    assert_eq!((refused.code, refused.message()), (404, "namespaces \"team\" not found".into()));
    assert_eq!(text(&refused.json(), "/details/kind"), "namespaces");
    assert_eq!(get(&server, foos).await.code, 200);

    let team = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}});
    let created = post(&server, "/api/v1/namespaces", &team).await;
    assert_eq!(created.code, 201);
    assert_eq!(text(&created.json(), "/status/phase"), "Active");
    assert_eq!(post(&server, foos, &object).await.code, 201);
    assert_eq!(post(&builder().any_namespace().build(), foos, &object).await.code, 201);
}

#[tokio::test]
async fn a_namespace_goes_with_all_that_is_in_it() {
    let server = Server::builder().definition(&definition()).unwrap().build();
    let team = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}});
    assert_eq!(post(&server, "/api/v1/namespaces", &team).await.code, 201);
    let foos = "/apis/example.com/v1/namespaces/team/foos";
    let mut held = foo("held");
    held["metadata"]["finalizers"] = json!(["example.com/f"]);
    assert_eq!(post(&server, foos, &held).await.code, 201);
    let settings = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
    let maps = "/api/v1/namespaces/team/configmaps";
    assert_eq!(post(&server, maps, &settings).await.code, 201);

    let path = "/api/v1/namespaces/team";
    let deleted = call(&server, Method::DELETE, path, &[], "").await;
    assert_eq!(text(&deleted.json(), "/status/phase"), "Terminating");
    assert_eq!(get(&server, &format!("{maps}/a")).await.code, 404);
    assert_eq!(get(&server, path).await.code, 200, "an object with a finalizer keeps it");
    let refused = post(&server, maps, &settings).await;
    assert_eq!(refused.code, 403);
    let cause = "namespace team is being terminated";
    assert_eq!(text(&refused.json(), "/details/causes/0/message"), cause);

    let patch = r#"{"metadata": {"finalizers": null}}"#;
    assert_eq!(
        call(&server, Method::PATCH, &format!("{foos}/held"), &MERGE, patch).await.code,
        200
    );
    assert_eq!(get(&server, path).await.code, 404);
    assert_eq!(get(&server, "/api/v1/namespaces/default").await.code, 200);
}

#[tokio::test]
async fn secrets_encode_their_texts() {
    let server = Server::builder().build();
    let secrets = "/api/v1/namespaces/default/secrets";
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"},
        "stringData": {"key": "value"}});
    let created = post(&server, secrets, &secret).await.json();
    assert_eq!(created["data"], json!({"key": "dmFsdWU="}));
    assert_eq!(created["type"], "Opaque");
    assert_eq!(created.get("stringData"), None);
    let path = format!("{secrets}/a");
    let refused = call(&server, Method::PATCH, &path, &MERGE, r#"{"type": "x"}"#).await;
    assert_eq!(
        refused.message(),
        "Secret \"a\" is invalid: type: Invalid value: \"x\": field is immutable",
    );
}

/// OM-03: a null in a map stands for the empty text, whatever brings it.
#[tokio::test]
async fn nulls_in_data_are_empty_texts() {
    let server = Server::builder().build();
    let maps = "/api/v1/namespaces/default/configmaps";
    let secrets = "/api/v1/namespaces/default/secrets";
    let object = |kind: &str, more: &Value| {
        let mut object = json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": "a"}});
        object.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        object
    };
    let map = object(
        "ConfigMap",
        &json!({"data": {"a": null, "b": "1"}, "binaryData": {"e": null}, "immutable": null}),
    );
    let created = post(&server, maps, &map).await;
    assert_eq!(created.code, 201, "{}", created.text);
    let created = created.json();
    assert_eq!(created["data"], json!({"a": "", "b": "1"}));
    assert_eq!(created["binaryData"], json!({"e": ""}));
    assert_eq!(created.get("immutable"), None);

    let secret = object("Secret", &json!({"data": {"a": null}, "stringData": {"b": null}}));
    let created = post(&server, secrets, &secret).await.json();
    assert_eq!(created["data"], json!({"a": "", "b": ""}));

    let path = format!("{maps}/a");
    let patch = r#"[{"op": "add", "path": "/data/c", "value": null}]"#;
    let headers = [("content-type", "application/json-patch+json")];
    let patched = call(&server, Method::PATCH, &path, &headers, patch).await;
    assert_eq!(patched.code, 200, "{}", patched.text);
    let patched = patched.json();
    assert_eq!(patched["data"], json!({"a": "", "b": "1", "c": ""}));
    // In a merge patch null removes.
    let patched = call(&server, Method::PATCH, &path, &MERGE, r#"{"data": {"a": null}}"#).await;
    assert_eq!(patched.json()["data"], json!({"b": "1", "c": ""}));
    let headers = [("content-type", "application/apply-patch+yaml")];
    let applied = object("ConfigMap", &json!({"data": {"d": null}})).to_string();
    let path = format!("{path}?fieldManager=m");
    let applied = call(&server, Method::PATCH, &path, &headers, &applied).await;
    assert_eq!(applied.code, 200, "{}", applied.text);
    assert_eq!(applied.json()["data"], json!({"b": "1", "c": "", "d": ""}));
}

#[tokio::test]
async fn what_is_immutable_stays() {
    let server = Server::builder().build();
    let maps = "/api/v1/namespaces/default/configmaps";
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"},
        "data": {"k": "v"}, "immutable": true});
    assert_eq!(post(&server, maps, &map).await.code, 201);
    let path = format!("{maps}/a");
    let refused = call(&server, Method::PATCH, &path, &MERGE, r#"{"data": {"k": "w"}}"#).await;
    assert_eq!(
        refused.message(),
        "ConfigMap \"a\" is invalid: data: Forbidden: field is immutable when `immutable` is set",
    );
    let bad = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"},
        "data": {"a b": "v"}});
    assert_eq!(post(&server, maps, &bad).await.code, 422);
}

#[tokio::test]
async fn webhook_configurations_are_validated() {
    let server = Server::builder().build();
    let configurations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    let configuration = json!({"apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "a"},
        "webhooks": [{"name": "pods.policy.example.com", "admissionReviewVersions": ["v1"],
            "clientConfig": {"url": "https://example.com"}}]});
    let refused = post(&server, configurations, &configuration).await;
    assert_eq!(refused.code, 422);
    assert!(
        refused.message().contains("webhooks[0].sideEffects: Required value"),
        "{}",
        refused.message()
    );
}

/// LC-02: strategic merge patches know webhooks by their names, as `kubectl apply` sends them.
#[tokio::test]
async fn strategic_patches_merge_lists_by_key() {
    let server = Server::builder().build();
    let configurations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    let webhook = |name: &str| {
        json!({"name": name, "admissionReviewVersions": ["v1"], "sideEffects": "None",
            "clientConfig": {"url": "https://example.com"}})
    };
    let configuration = json!({"apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "a"},
        "webhooks": [webhook("a.example.com"), webhook("b.example.com")]});
    assert_eq!(post(&server, configurations, &configuration).await.code, 201);
    let patch = json!({
        "$setElementOrder/webhooks": [{"name": "c.example.com"}, {"name": "a.example.com"}],
        "webhooks": [webhook("c.example.com"), {"name": "a.example.com", "timeoutSeconds": 3},
            {"$patch": "delete", "name": "b.example.com"}]});
    let strategic = [("content-type", "application/strategic-merge-patch+json")];
    let path = format!("{configurations}/a?fieldValidation=Strict");
    let patched = call(&server, Method::PATCH, &path, &strategic, &patch.to_string()).await;
    assert_eq!(patched.code, 200, "{}", patched.text);
    let patched = patched.json();
    let names: Vec<_> = patched["webhooks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|webhook| (text(webhook, "/name"), webhook["timeoutSeconds"].clone()))
        .collect();
    let expected = [("c.example.com", 10), ("a.example.com", 3)];
    assert_eq!(names, expected.map(|(name, seconds)| (name.to_owned(), json!(seconds))));
}

#[tokio::test]
async fn events_are_selected_by_what_they_are_about() {
    let server = Server::builder().build();
    let event = json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": "a"},
        "involvedObject": {"kind": "Foo", "apiVersion": "example.com/v1", "name": "x",
            "namespace": "default"}});
    assert_eq!(post(&server, "/api/v1/namespaces/default/events", &event).await.code, 201);
    for (kind, count) in [("Foo", 1), ("Bar", 0)] {
        let path = format!(
            "/api/v1/events?fieldSelector=involvedObject.kind%3D{kind},\
             involvedObject.apiVersion%3Dexample.com%2Fv1,involvedObject.name%3Dx"
        );
        let found = get(&server, &path).await.json();
        assert_eq!(found["items"].as_array().map(Vec::len), Some(count), "{found}");
    }
}

/// An event is the same object in both of its groups, whichever it was written in.
#[tokio::test]
async fn events_have_two_groups() {
    let server = Server::builder().build();
    let core = "/api/v1/namespaces/default/events";
    let other = "/apis/events.k8s.io/v1/namespaces/default/events";
    let old = json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": "old"},
        "involvedObject": {"kind": "Foo", "name": "x"}, "message": "m", "count": 2,
        "eventTime": "2026-11-22T11:00:00.000000Z", "reportingComponent": "c",
        "reportingInstance": "i", "action": "A", "reason": "R",
        "source": {"component": "s"}, "lastTimestamp": "2026-11-22T11:00:00Z"});
    assert_eq!(post(&server, core, &old).await.code, 201);
    let new = json!({"apiVersion": "events.k8s.io/v1", "kind": "Event",
        "metadata": {"name": "new"}, "eventTime": "2026-11-22T11:00:00.000000Z",
        "regarding": {"kind": "Foo", "name": "x"}, "note": "n", "reportingController": "c",
        "reportingInstance": "i", "action": "A", "reason": "R", "type": "Normal"});
    assert_eq!(post(&server, other, &new).await.code, 201);
    assert_eq!(post(&server, core, &old).await.code, 409);

    let shown = get(&server, &format!("{other}/old")).await.json();
    for (place, expected) in [
        ("/apiVersion", json!("events.k8s.io/v1")),
        ("/regarding/name", json!("x")),
        ("/note", json!("m")),
        ("/deprecatedCount", json!(2)),
        ("/deprecatedSource/component", json!("s")),
        ("/deprecatedLastTimestamp", json!("2026-11-22T11:00:00Z")),
        ("/reportingController", json!("c")),
    ] {
        assert_eq!(shown.pointer(place), Some(&expected), "{place}");
    }
    assert_eq!(shown.get("message"), None);
    let fields = "fieldSelector=involvedObject.name%3Dx";
    let found = get(&server, &format!("{core}?{fields}")).await.json();
    let messages = found["items"].as_array().unwrap().iter().map(|event| text(event, "/message"));
    assert_eq!(messages.collect::<Vec<_>>(), ["n", "m"]);

    let path = format!("{core}/new");
    let patched = call(&server, Method::PATCH, &path, &MERGE, r#"{"message": "o"}"#).await;
    assert_eq!(patched.code, 200, "{}", patched.text);
    assert_eq!(text(&get(&server, &format!("{other}/new")).await.json(), "/note"), "o");
    assert_eq!(server.dump().await.unwrap().matches("kind: Event\n").count(), 2);
    assert_eq!(call(&server, Method::DELETE, &format!("{other}/old"), &[], "").await.code, 200);
    assert_eq!(get(&server, &format!("{core}/old")).await.code, 404);
}

/// Clients of typed languages send the server's own kinds, and options of deletions, as protobuf.
#[tokio::test]
async fn own_kinds_are_read_from_protobuf() {
    let server = Server::builder().definition(&definition()).unwrap().build();
    let protobuf = [("content-type", "application/vnd.kubernetes.protobuf")];
    // As `kubectl create namespace team` sends it.
    let team = "k8s\0\n\x0f\n\x02v1\x12\tNamespace\x12\x0e\n\x08\n\x04team\x12\0\x12\0\x1a\0";
    let created = call(&server, Method::POST, "/api/v1/namespaces", &protobuf, team).await;
    assert_eq!(created.code, 201, "{}", created.text);
    assert_eq!(text(&created.json(), "/metadata/name"), "team");
    assert_eq!(text(&created.json(), "/status/phase"), "Active");
    let foos = "/apis/example.com/v1/namespaces/team/foos";
    assert_eq!(post(&server, foos, &foo("a")).await.code, 201);
    let options = "k8s\0\n\x13\n\x02v1\x12\rDeleteOptions\x12\x05*\x03All";
    let dry = call(&server, Method::DELETE, &format!("{foos}/a"), &protobuf, options).await;
    assert_eq!(dry.code, 200, "{}", dry.text);
    assert_eq!(get(&server, &format!("{foos}/a")).await.code, 200, "it was a dry run");
    let refused = call(&server, Method::POST, foos, &protobuf, team).await;
    assert_eq!(refused.code, 415, "custom resources have no such form");
    let refused = call(&server, Method::POST, "/api/v1/namespaces", &protobuf, "{}").await;
    assert_eq!(refused.code, 400, "{}", refused.text);
}

/// A field of a message in protobuf that holds text or another message.
fn field(number: u8, content: impl AsRef<[u8]>) -> Vec<u8> {
    let content = content.as_ref();
    let (low, high) = (content.len() & 127, u8::try_from(content.len() >> 7).unwrap());
    let low = u8::try_from(low).unwrap();
    [&[number << 3 | 2, low | 128, high], content].concat()
}

async fn post_protobuf(server: &Server, path: &str, kind: &str, fields: &[Vec<u8>]) -> Answer {
    let version = "admissionregistration.k8s.io/v1";
    let type_ = [field(1, version), field(2, kind)].concat();
    let metadata = field(1, field(1, "a"));
    let object = [&[metadata], fields].concat().concat();
    let body = [b"k8s\0".to_vec(), field(1, type_), field(2, object)].concat();
    let request = http::Request::post(path)
        .header("content-type", "application/vnd.kubernetes.protobuf")
        .body(http_body_util::Full::new(bytes::Bytes::from(body)))
        .unwrap();
    let answer = tower_service::Service::call(&mut server.clone(), request).await.unwrap();
    let (head, body) = answer.into_parts();
    let body = http_body_util::BodyExt::collect(body).await.unwrap().to_bytes();
    let text = String::from_utf8(body.to_vec()).unwrap();
    Answer { code: head.status.as_u16(), headers: head.headers, warnings: Vec::new(), text }
}

/// Tests of controllers install their webhooks and policies with clients of typed languages.
#[tokio::test]
async fn webhooks_and_policies_are_read_from_protobuf() {
    let server = Server::builder().build();
    let rule = [field(1, "a.com"), field(2, "v1"), field(3, "x/*"), field(4, "*")];
    let rule = [field(1, "CREATE"), field(1, "UPDATE"), field(2, rule.concat())].concat();
    let service = [field(1, "ns"), field(2, "s"), field(3, "/p"), vec![4 << 3, 80]].concat();
    let selector = field(2, [field(1, "k"), field(2, "In"), field(3, "v")].concat());
    let webhook = [
        field(1, "a.example.com"),
        field(2, [field(1, service), field(2, "pem")].concat()),
        field(3, &rule),
        field(5, &selector),
        field(6, "None"),
        vec![7 << 3, 3],
        field(8, "v1"),
        field(11, [field(1, "c"), field(2, "true")].concat()),
    ];
    let root = "/apis/admissionregistration.k8s.io/v1";
    let path = format!("{root}/validatingwebhookconfigurations");
    let kind = "ValidatingWebhookConfiguration";
    let created = post_protobuf(&server, &path, kind, &[field(2, webhook.concat())]).await;
    assert_eq!(created.code, 201, "{}", created.text);
    let rules = json!([{"operations": ["CREATE", "UPDATE"], "apiGroups": ["a.com"],
        "apiVersions": ["v1"], "resources": ["x/*"], "scope": "*"}]);
    let expressions =
        json!({"matchExpressions": [{"key": "k", "operator": "In", "values": ["v"]}]});
    assert_eq!(
        created.json()["webhooks"],
        json!([{"name": "a.example.com", "admissionReviewVersions": ["v1"], "sideEffects": "None",
            "clientConfig": {"service": {"namespace": "ns", "name": "s", "path": "/p", "port": 80},
                "caBundle": "cGVt"},
            "rules": rules, "namespaceSelector": expressions, "objectSelector": {},
            "timeoutSeconds": 3, "failurePolicy": "Fail", "matchPolicy": "Equivalent",
            "matchConditions": [{"name": "c", "expression": "true"}]}]),
    );

    let matched = field(3, [field(1, "named"), field(2, &rule)].concat());
    let spec = [
        field(2, matched),
        field(3, [field(1, "false"), field(2, "no")].concat()),
        field(7, [field(1, "n"), field(2, "1")].concat()),
    ];
    let path = format!("{root}/validatingadmissionpolicies");
    let kind = "ValidatingAdmissionPolicy";
    let created = post_protobuf(&server, &path, kind, &[field(2, spec.concat())]).await;
    assert_eq!(created.code, 201, "{}", created.text);
    let spec = &created.json()["spec"];
    assert_eq!(spec["validations"], json!([{"expression": "false", "message": "no"}]));
    assert_eq!(spec["variables"], json!([{"name": "n", "expression": "1"}]));
    let mut rules = rules;
    rules[0]["resourceNames"] = json!(["named"]);
    assert_eq!(spec["matchConstraints"]["resourceRules"], rules);

    let spec = [
        field(1, "a"),
        field(2, [field(3, selector), field(4, "Deny")].concat()),
        field(4, "Audit"),
    ];
    let path = format!("{root}/validatingadmissionpolicybindings");
    let kind = "ValidatingAdmissionPolicyBinding";
    let created = post_protobuf(&server, &path, kind, &[field(2, spec.concat())]).await;
    assert_eq!(created.code, 201, "{}", created.text);
    assert_eq!(
        created.json()["spec"],
        json!({"policyName": "a", "validationActions": ["Audit"],
            "paramRef": {"selector": expressions, "parameterNotFoundAction": "Deny"}}),
    );
}

/// Creates an object of each kind of the server, and returns its path.
async fn one_of_each(server: &Server) -> Vec<(&'static str, String)> {
    let admission = "/apis/admissionregistration.k8s.io/v1";
    let webhook = json!({"name": "a.example.com", "sideEffects": "None",
        "admissionReviewVersions": ["v1"], "reinvocationPolicy": "Never", "matchConditions":
        [{"expression": "true", "name": "c"}], "clientConfig": {"caBundle": "", "service":
        {"port": 1, "path": "/", "name": "s", "namespace": "n"}}, "rules": [{"scope": "*",
        "resources": ["foos"], "apiVersions": ["v1"], "apiGroups": ["g"], "operations": ["*"]}]});
    let mut validating = webhook.clone();
    validating.as_object_mut().unwrap().remove("reinvocationPolicy");
    let matched = json!({"resourceRules": [{"resources": ["foos"], "apiVersions": ["v1"],
        "apiGroups": ["g"], "operations": ["*"]}]});
    let involved = json!({"uid": "u", "name": "n", "namespace": "default", "kind": "K"});
    let objects = [
        ("/api/v1/namespaces", "Namespace", json!({"status": {}, "spec": {}})),
        (
            "/api/v1/namespaces/default/configmaps",
            "ConfigMap",
            json!({"binaryData": {}, "data": {"b": "", "a": ""}, "immutable": true}),
        ),
        (
            "/api/v1/namespaces/default/secrets",
            "Secret",
            json!({"type": "t", "data": {"a": ""}, "immutable": true}),
        ),
        (
            "/api/v1/namespaces/default/serviceaccounts",
            "ServiceAccount",
            json!({"automountServiceAccountToken": true, "imagePullSecrets": [{"name": "i"}],
                "secrets": [{"uid": "u", "name": "n", "kind": "Secret"}]}),
        ),
        (
            "/api/v1/namespaces/default/events",
            "Event",
            json!({"type": "t", "count": 1, "source": {"host": "h", "component": "c"},
                "message": "m", "reason": "r", "involvedObject": involved}),
        ),
        (
            "/apis/coordination.k8s.io/v1/namespaces/default/leases",
            "Lease",
            json!({"spec": {"renewTime": null, "leaseTransitions": 1, "leaseDurationSeconds": 2,
                "holderIdentity": "h"}}),
        ),
        (
            "mutatingwebhookconfigurations",
            "MutatingWebhookConfiguration",
            json!({"webhooks": [webhook]}),
        ),
        (
            "validatingwebhookconfigurations",
            "ValidatingWebhookConfiguration",
            json!({"webhooks": [validating]}),
        ),
        (
            "validatingadmissionpolicies",
            "ValidatingAdmissionPolicy",
            json!({"spec": {"variables": [], "validations": [{"message": "m", "expression": "true"}],
                "matchConstraints": matched, "failurePolicy": "Fail"}}),
        ),
        (
            "mutatingadmissionpolicybindings",
            "MutatingAdmissionPolicyBinding",
            json!({"spec": {"policyName": "p", "paramRef": {"parameterNotFoundAction": "Deny",
                "namespace": "n", "name": "m"}}}),
        ),
    ];
    let mut paths = Vec::new();
    for (path, kind, mut object) in objects {
        let (path, version) = match path.strip_prefix("/api") {
            None => (format!("{admission}/{path}"), "admissionregistration.k8s.io/v1"),
            Some(core) if core.starts_with("/v1") => (path.to_owned(), "v1"),
            Some(_) => (path.to_owned(), "coordination.k8s.io/v1"),
        };
        object["kind"] = kind.into();
        object["apiVersion"] = version.into();
        object["metadata"] = json!({"name": "a", "labels": {"z": "1", "b": "2"}});
        let created = post(server, &path, &object).await;
        assert_eq!(created.code, 201, "{kind}: {}", created.text);
        paths.push((kind, path));
    }
    paths
}

/// RE-14: the members of each kind come in the order of its type, in objects, lists, tables and
/// events.
#[tokio::test(start_paused = true)]
async fn members_have_the_order_of_their_types() {
    let server = Server::builder().build();
    let members = |kind: &str| match kind {
        "Namespace" => "spec finalizers status phase",
        "ConfigMap" => "immutable data a b",
        "Secret" => "immutable data type",
        "ServiceAccount" => "secrets name imagePullSecrets automountServiceAccountToken",
        "Event" => {
            "involvedObject kind namespace name uid reason message source component host count type"
        }
        "Lease" => "spec holderIdentity leaseDurationSeconds leaseTransitions",
        "MutatingWebhookConfiguration" => {
            "webhooks name clientConfig service namespace name path port rules operations \
             apiGroups apiVersions resources scope failurePolicy matchPolicy namespaceSelector \
             objectSelector sideEffects timeoutSeconds admissionReviewVersions reinvocationPolicy \
             matchConditions name expression"
        }
        "ValidatingWebhookConfiguration" => {
            "webhooks name clientConfig rules failurePolicy matchPolicy namespaceSelector \
             objectSelector sideEffects timeoutSeconds admissionReviewVersions matchConditions"
        }
        "ValidatingAdmissionPolicy" => {
            "spec matchConstraints namespaceSelector objectSelector resourceRules operations \
             apiGroups apiVersions resources scope matchPolicy validations expression message \
             failurePolicy status"
        }
        _ => "spec policyName paramRef name namespace parameterNotFoundAction",
    };
    // Those of the metadata are told elsewhere.
    let check = |kind: &str, start: &str, text: &str| {
        let (before, mut rest) = text.rsplit_once(r#""managedFields""#).unwrap();
        let labels = r#""name":"a","#;
        assert!(before.contains(start), "{text}");
        assert!(before.find(labels) < before.find(r#""labels":{"b":"2","#), "{text}");
        for member in members(kind).split(' ') {
            let name = format!("\"{member}\":");
            let Some((_, after)) = rest.split_once(&name) else {
                panic!("{kind}: {member} is not in its place in {text}");
            };
            rest = after;
        }
    };
    for (kind, path) in one_of_each(&server).await {
        let typed = format!(r#""kind":"{kind}","apiVersion":""#);
        check(kind, &typed, &get(&server, &format!("{path}/a")).await.text);
        let selected = format!("{path}?fieldSelector=metadata.name%3Da");
        check(kind, r#""items":[{"metadata":{"#, &get(&server, &selected).await.text);
        let accept = [("accept", "application/json;as=Table;v=v1;g=meta.k8s.io")];
        let table = format!("{selected}&includeObject=Object");
        check(kind, &typed, &call(&server, Method::GET, &table, &accept, "").await.text);
        let watch = format!("{selected}&watch=1&timeoutSeconds=1");
        check(kind, &typed, &get(&server, &watch).await.text);
    }
}

/// RP-13: a value of the wrong type is refused as the kind's type says.
#[tokio::test]
async fn values_have_the_types_of_their_kinds() {
    let server = Server::builder().build();
    for (path, kind, object, wrong) in [
        (
            "configmaps",
            "ConfigMap",
            json!({"data": {"a": 1}}),
            "json: cannot unmarshal number into Go struct field ConfigMap.data of type string",
        ),
        (
            "configmaps",
            "ConfigMap",
            json!({"data": []}),
            "json: cannot unmarshal array into Go struct field ConfigMap.data of type map[string]string",
        ),
        (
            "secrets",
            "Secret",
            json!({"stringData": "a"}),
            "json: cannot unmarshal string into Go struct field Secret.stringData of type map[string]string",
        ),
        ("secrets", "Secret", json!({"data": {"a": "!"}}), "illegal base64 data at input byte 0"),
        (
            "events",
            "Event",
            json!({"involvedObject": {"kind": true}}),
            "json: cannot unmarshal bool into Go struct field ObjectReference.involvedObject.kind of type string",
        ),
    ] {
        let path = format!("/api/v1/namespaces/default/{path}");
        let mut whole = object;
        whole["kind"] = kind.into();
        whole["apiVersion"] = "v1".into();
        whole["metadata"] = json!({"name": "a"});
        let answer = post(&server, &path, &whole).await;
        let prefix = format!("{kind} in version \"v1\" cannot be handled as a {kind}: ");
        let message = format!("{prefix}{wrong}");
        assert_eq!((answer.code, answer.message()), (400, message));
    }
}

/// RE-141: a server is never without its first namespaces, except for the one of nodes.
#[tokio::test]
async fn some_namespaces_stay() {
    let server = Server::builder().build();
    for (name, code) in
        [("default", 403), ("kube-public", 403), ("kube-system", 403), ("kube-node-lease", 200)]
    {
        let path = format!("/api/v1/namespaces/{name}");
        let answer = call(&server, Method::DELETE, &path, &[], "").await;
        assert_eq!(answer.code, code, "{name}");
        let message =
            format!("namespaces \"{name}\" is forbidden: this namespace may not be deleted");
        assert!(code == 200 || answer.message() == message, "{}", answer.text);
        assert_eq!(get(&server, &path).await.code == 200, code == 403);
    }
}
