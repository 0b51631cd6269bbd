//! The rules of the server's own kinds: names, data, updates, field selectors (BK-09, BK-10, BK-250
//! to BK-254, BK-484, BK-700).

use billhook_apiserver::Server;
use http::Method;
use serde_json::{Value, json};

use crate::support::{Answer, call, text};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const SECRETS: &str = "/api/v1/namespaces/default/secrets";
const EVENTS: &str = "/api/v1/namespaces/default/events";
const NEW_EVENTS: &str = "/apis/events.k8s.io/v1/namespaces/default/events";
const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/default/leases";

async fn post(server: &Server, path: &str, object: &Value) -> Answer {
    call(server, Method::POST, path, &[], &object.to_string()).await
}

async fn put(server: &Server, path: &str, object: &Value) -> Answer {
    call(server, Method::PUT, path, &[], &object.to_string()).await
}

async fn get(server: &Server, path: &str) -> Answer {
    call(server, Method::GET, path, &[], "").await
}

fn lease() -> Value {
    json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "a"}})
}

/// BK-22, BK-28: what a body does not say about its type is that of the path.
#[tokio::test]
async fn a_body_of_another_type_is_refused() {
    let server = Server::builder().build();
    let scheme = "in scheme \"k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30\"";
    for (body, found) in [
        (json!({"kind": "Foo"}), ("Foo", "v1")),
        (json!({"apiVersion": "v9"}), ("ConfigMap", "v9")),
        (json!({"apiVersion": "v9", "kind": "Foo"}), ("Foo", "v9")),
    ] {
        let refused = post(&server, MAPS, &body).await;
        let (kind, version) = found;
        let expected = format!(
            "{kind} in version \"{version}\" cannot be handled as a ConfigMap: no kind \"{kind}\" is \
             registered for version \"{version}\" {scheme}"
        );
        assert_eq!((refused.code, refused.message()), (400, expected));
    }
}

/// BK-22, BK-27, BK-28: unlike that of a custom resource, the `Scale` of a kind says what is wrong.
#[tokio::test]
async fn a_body_that_is_not_a_scale_is_refused() {
    let server = Server::builder().build();
    let deployments = "/apis/apps/v1/namespaces/default/deployments";
    let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {
            "metadata": {"labels": {"a": "b"}},
            "spec": {"containers": [{"name": "c", "image": "i"}]}}}});
    assert_eq!(post(&server, deployments, &deployment).await.code, 201);
    let path = format!("{deployments}/a/scale");
    let wrong_type = "json: cannot unmarshal string into Go struct field ScaleSpec.spec.replicas of \
                      type int32";
    let other_kind = "no kind \"Foo\" is registered for version \"autoscaling/v1\" in scheme \
                      \"k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30\"";
    for (members, kind, error) in [
        (json!({"spec": {"replicas": "x"}}), "Scale", wrong_type),
        (json!({"kind": "Foo"}), "Foo", other_kind),
        (json!({"zz": 1}), "Scale", "strict decoding error: unknown field \"zz\""),
    ] {
        let mut scale = json!({"metadata": {"name": "a"}});
        scale.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        let refused = put(&server, &format!("{path}?fieldValidation=Strict"), &scale).await;
        let expected = format!("{kind} in version \"v1\" cannot be handled as a Scale: {error}");
        assert_eq!((refused.code, refused.message()), (400, expected));

        let merge = [("content-type", "application/merge-patch+json")];
        let strict = format!("{path}?fieldValidation=Strict");
        let refused = call(&server, Method::PATCH, &strict, &merge, &members.to_string()).await;
        assert_eq!(refused.code, 422, "{members}");
        assert!(refused.message().ends_with(&format!(": {error}")), "{}", refused.message());
    }
    let refused = call(&server, Method::PUT, &path, &[], "{").await;
    assert_eq!(
        refused.message(),
        "the object provided is unrecognized (must be of type Scale): couldn't get version/kind; \
         json parse error: unexpected end of JSON input ({)",
    );
}

/// BK-308: a scale that names a UID is for the object with that UID only, whatever the form of the update.
#[tokio::test]
async fn a_scale_is_for_one_object() {
    let server = Server::builder().build();
    let spec = json!({"containers": [{"name": "c", "image": "i"}]});
    let template = json!({"metadata": {"labels": {"a": "b"}}, "spec": spec});
    let of = |kind: &str, version: &str, selector: Value| {
        json!({"apiVersion": version, "kind": kind, "metadata": {"name": "a"},
            "spec": {"selector": selector, "template": template}})
    };
    let core = "/api/v1/namespaces/default/replicationcontrollers";
    let apps = "/apis/apps/v1/namespaces/default/statefulsets";
    let matching = json!({"matchLabels": {"a": "b"}});
    for (path, subject, object) in [
        (core, "replicationcontrollers", of("ReplicationController", "v1", json!({"a": "b"}))),
        (apps, "statefulsets.apps", of("StatefulSet", "apps/v1", matching)),
    ] {
        let created = post(&server, path, &object).await;
        assert_eq!(created.code, 201, "{}", created.message());
        let uid = text(&created.json(), "/metadata/uid").to_owned();
        let expected = format!(
            "Operation cannot be fulfilled on {subject}/scale \"a\": Precondition failed: UID in \
             precondition: zz, UID in object meta: {uid}"
        );
        let path = format!("{path}/a/scale");
        let mut scale = json!({"metadata": {"name": "a", "uid": "zz"}, "spec": {"replicas": 2}});
        let refused = put(&server, &path, &scale).await;
        assert_eq!((refused.code, refused.message()), (409, expected.clone()));
        let merge = [("content-type", "application/merge-patch+json")];
        let refused = call(&server, Method::PATCH, &path, &merge, &scale.to_string()).await;
        assert_eq!((refused.code, refused.message()), (409, expected));
        scale["metadata"]["uid"] = json!(uid);
        assert_eq!(put(&server, &path, &scale).await.code, 200);
    }
}

/// BK-10.
#[tokio::test]
async fn some_kinds_are_updated_without_a_revision() {
    let server = Server::builder().build();
    let object = |kind: &str| json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": "a"}});
    for (path, kind, is_unconditional) in [
        (MAPS, "ConfigMap", true),
        (SECRETS, "Secret", true),
        ("/api/v1/namespaces/default/serviceaccounts", "ServiceAccount", true),
        ("/api/v1/namespaces", "Namespace", true),
        (EVENTS, "Event", true),
        (LEASES, "Lease", false),
    ] {
        let mut object = if kind == "Lease" { lease() } else { object(kind) };
        assert_eq!(post(&server, path, &object).await.code, 201, "{kind}");
        let one = format!("{path}/a");
        object["metadata"]["labels"] = json!({"x": "y"});
        let updated = put(&server, &one, &object).await;
        assert_eq!(updated.code, if is_unconditional { 200 } else { 422 }, "{kind}");
        for cleared in [json!(""), Value::Null] {
            let patch = json!({"metadata": {"resourceVersion": cleared, "labels": {"x": "z"}}});
            let merge = [("content-type", "application/merge-patch+json")];
            let patched = call(&server, Method::PATCH, &one, &merge, &patch.to_string()).await;
            assert_eq!(patched.code, updated.code, "{kind}");
        }
        object["metadata"]["resourceVersion"] = json!("1");
        assert_eq!(put(&server, &one, &object).await.code, 409, "{kind}");
    }
    assert_eq!(
        put(&server, &format!("{LEASES}/a"), &lease()).await.message(),
        "leases.coordination.k8s.io \"a\" is invalid: metadata.resourceVersion: Invalid value: 0: \
         must be specified for an update",
    );
}

/// BK-09.
#[tokio::test]
async fn an_update_creates_leases_and_events() {
    let server = Server::builder().build();
    let (one, named) = (format!("{LEASES}/a"), lease());
    for (field, value, code, message) in [
        ("resourceVersion", "5", 404, "leases.coordination.k8s.io \"a\" not found"),
        (
            "uid",
            "u",
            409,
            "Operation cannot be fulfilled on leases.coordination.k8s.io \"a\": StorageError: \
             invalid object, Code: 4, Key: /registry/leases/default/a, \
             ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: u, \
             UID in object meta: ",
        ),
        ("name", "b", 400, "the name of the object (b) does not match the name on the URL (a)"),
    ] {
        let mut lease = named.clone();
        lease["metadata"][field] = json!(value);
        let refused = put(&server, &one, &lease).await;
        assert_eq!((refused.code, refused.message()), (code, message.to_owned()));
    }
    let created = put(&server, &one, &named).await;
    assert_eq!(created.code, 201);
    assert_ne!(text(&created.json(), "/metadata/uid"), "");
    assert_eq!(get(&server, &one).await.json(), created.json());
    let event = json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"},
        "involvedObject": {"namespace": "default"}});
    assert_eq!(put(&server, &format!("{EVENTS}/e"), &event).await.code, 201);
    assert_eq!(put(&server, &format!("{NEW_EVENTS}/f"), &new_event("f")).await.code, 201);
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}});
    let refused = put(&server, &format!("{MAPS}/c"), &map).await;
    assert_eq!((refused.code, refused.message()), (404, "configmaps \"c\" not found".into()));
}

/// BK-254.
#[tokio::test]
async fn a_namespace_is_named_by_a_label() {
    let server = Server::builder().build();
    let label = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or \
                 '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or \
                 '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
    for (name, detail) in [("a.b", "must not contain dots"), ("Bad_Name", label)] {
        let namespace =
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        let refused = post(&server, "/api/v1/namespaces", &namespace).await;
        assert_eq!(
            (refused.code, refused.message()),
            (
                422,
                format!(
                    "Namespace \"{name}\" is invalid: metadata.name: Invalid value: \"{name}\": {detail}"
                )
            ),
        );
    }
}

/// BK-251.
#[tokio::test]
async fn secrets_have_what_their_types_need() {
    let server = Server::builder().build();
    let (both, tls) = (
        "[data[username]: Required value, data[password]: Required value]",
        "[data[tls.crt]: Required value, data[tls.key]: Required value]",
    );
    let redacted = |key: &str, why: &str| {
        format!("data[{key}]: Invalid value: \"<secret contents redacted>\": {why}")
    };
    let cases = [
        ("basic-auth", json!({}), both.to_owned()),
        ("basic-auth", json!({"username": "u"}), String::new()),
        ("tls", json!({}), tls.to_owned()),
        ("tls", json!({"tls.crt": "", "tls.key": ""}), String::new()),
        ("ssh-auth", json!({}), "data[ssh-privatekey]: Required value".to_owned()),
        ("ssh-auth", json!({"ssh-privatekey": "k"}), String::new()),
        (
            "dockercfg",
            json!({".dockercfg": "{"}),
            redacted(".dockercfg", "unexpected end of JSON input"),
        ),
        (
            "dockercfg",
            json!({".dockercfg": "[]"}),
            redacted(
                ".dockercfg",
                "json: cannot unmarshal array into Go value of type map[string]interface {}",
            ),
        ),
        ("dockerconfigjson", json!({}), "data[.dockerconfigjson]: Required value".to_owned()),
        ("dockerconfigjson", json!({".dockerconfigjson": "{\"auths\":{}}"}), String::new()),
        (
            "service-account-token",
            json!({}),
            "metadata.annotations[kubernetes.io/service-account.name]: Required value".to_owned(),
        ),
    ];
    for (number, (type_, data, expected)) in cases.into_iter().enumerate() {
        let name = format!("s{number}");
        let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name},
            "type": format!("kubernetes.io/{type_}"), "stringData": data});
        let answer = post(&server, SECRETS, &secret).await;
        if expected.is_empty() {
            assert_eq!(answer.code, 201, "{type_}");
        } else {
            let message = format!("Secret \"{name}\" is invalid: {expected}");
            assert_eq!((answer.code, answer.message()), (422, message));
        }
    }
}

/// BK-250.
#[tokio::test]
async fn data_has_good_keys_and_is_not_too_large() {
    let server = Server::builder().build();
    let map = |data: Value, binary: Value| {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": data,
            "binaryData": binary})
    };
    let invalid = |key: &str, why: &str| format!("data[{key}]: Invalid value: \"{key}\": {why}");
    for (key, why) in
        [(".", "must not be '.'"), ("..", "must not be '..'"), ("..a", "must not start with '..'")]
    {
        let refused = post(&server, MAPS, &map(json!({key: ""}), json!({}))).await;
        let expected = format!("ConfigMap \"c\" is invalid: {}", invalid(key, why));
        assert_eq!((refused.code, refused.message()), (422, expected));
    }
    let twice = post(&server, MAPS, &map(json!({"a": "b"}), json!({"a": "AA=="}))).await;
    let why = invalid("a", "duplicate of key present in binaryData");
    assert_eq!(twice.message(), format!("ConfigMap \"c\" is invalid: {why}"));

    let large = "x".repeat((1 << 20) + 1);
    let refused = post(&server, MAPS, &map(json!({"a": large}), json!({}))).await;
    let why = "Too long: may not be more than 1048576 bytes";
    assert_eq!(refused.message(), format!("ConfigMap \"c\" is invalid: []: {why}"));
    assert_eq!(text(&refused.json(), "/details/causes/0/field"), "[]");
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "c"},
        "stringData": {"a": large}});
    let refused = post(&server, SECRETS, &secret).await;
    assert_eq!(refused.message(), format!("Secret \"c\" is invalid: data: {why}"));
    assert_eq!(
        post(&server, MAPS, &map(json!({"a": "x".repeat(1 << 20)}), json!({}))).await.code,
        201
    );
}

/// An event of the newer group that is about an object of the cluster.
fn new_event(name: &str) -> Value {
    json!({"apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": name},
        "eventTime": "2024-01-02T03:04:05.123456Z", "reportingController": "c",
        "reportingInstance": "i", "action": "A", "reason": "R", "type": "Normal"})
}

/// BK-29, BK-484.
#[tokio::test]
async fn leases_and_events_are_validated() {
    let server = Server::builder().build();
    let mut lease = lease();
    lease["spec"] = json!({"leaseDurationSeconds": 0, "leaseTransitions": -1});
    assert_eq!(
        post(&server, LEASES, &lease).await.message(),
        "Lease.coordination.k8s.io \"a\" is invalid: [spec.leaseDurationSeconds: Invalid value: 0: \
         must be greater than 0, spec.leaseTransitions: Invalid value: -1: must be greater than or \
         equal to 0]",
    );
    lease["spec"] = json!({"preferredHolder": "me", "strategy": "X", "holderIdentity": "me"});
    let created = post(&server, LEASES, &lease).await;
    assert_eq!(created.json()["spec"], json!({"holderIdentity": "me"}));

    let team = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}});
    assert_eq!(post(&server, "/api/v1/namespaces", &team).await.code, 201);
    let event = |about: &str| {
        json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"},
            "involvedObject": {"namespace": about}})
    };
    let refused = |about: &str| {
        format!(
            "Event \"e\" is invalid: involvedObject.namespace: Invalid value: \"{about}\": does not \
             match event.namespace"
        )
    };
    let others = "/api/v1/namespaces/team/events";
    assert_eq!(post(&server, others, &event("")).await.message(), refused(""));
    assert_eq!(post(&server, EVENTS, &event("team")).await.message(), refused("team"));
    let new_others = "/apis/events.k8s.io/v1/namespaces/team/events";
    assert_eq!(post(&server, new_others, &new_event("e")).await.message(), refused(""));
    assert_eq!(post(&server, EVENTS, &event("")).await.code, 201);
    assert_eq!(post(&server, others, &event("team")).await.code, 201);
}

/// BK-700, BK-701.
#[tokio::test]
async fn own_kinds_are_selected_by_their_fields() {
    let server = Server::builder().build();
    for (name, type_) in [("a", "Opaque"), ("b", "example.com/t")] {
        let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name},
            "type": type_});
        assert_eq!(post(&server, SECRETS, &secret).await.code, 201);
    }
    for (name, source, reporter) in [("a", "kubelet", "x"), ("b", "", "kubelet"), ("c", "y", "")] {
        let event = json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": name},
            "source": {"component": source}, "reportingComponent": reporter});
        assert_eq!(post(&server, EVENTS, &event).await.code, 201);
    }
    let names = async |path: String| {
        let list = get(&server, &path).await;
        assert_eq!(list.code, 200, "{path}: {}", list.text);
        let items = list.json()["items"].as_array().unwrap().clone();
        items.iter().map(|item| text(item, "/metadata/name")).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names(format!("{SECRETS}?fieldSelector=type%3DOpaque")).await, "a");
    assert_eq!(names(format!("{SECRETS}?fieldSelector=type!%3DOpaque")).await, "b");
    assert_eq!(names(format!("{EVENTS}?fieldSelector=source%3Dkubelet")).await, "a b");
    let pods = "/api/v1/namespaces/default/pods";
    for (name, node) in [("p", "n"), ("q", "")] {
        let pod = json!({"metadata": {"name": name},
            "spec": {"nodeName": node, "containers": [{"name": "c", "image": "i"}]}});
        assert_eq!(post(&server, pods, &pod).await.code, 201);
    }
    assert_eq!(names(format!("{pods}?fieldSelector=spec.host%3Dn")).await, "p");
    assert_eq!(names(format!("{pods}?fieldSelector=spec.host!%3Dn")).await, "q");
    let namespaces = "/api/v1/namespaces?fieldSelector=status.phase%3D";
    assert_eq!(
        names(format!("{namespaces}Active")).await,
        "default kube-node-lease kube-public kube-system",
    );
    assert_eq!(names(format!("{namespaces}Terminating")).await, "");

    for (path, message) in [
        (SECRETS, "field label not supported: spec.x"),
        ("/api/v1/namespaces", "field label not supported: spec.x"),
        (EVENTS, "field label not supported: spec.x"),
        (NEW_EVENTS, "field label not supported: spec.x"),
        (
            MAPS,
            "\"spec.x\" is not a known field selector: only \"metadata.name\", \
             \"metadata.namespace\"",
        ),
    ] {
        let refused = get(&server, &format!("{path}?fieldSelector=spec.x%3D1")).await;
        assert_eq!((refused.code, refused.message()), (400, message.to_owned()));
    }
    let refused = get(&server, &format!("{NEW_EVENTS}?fieldSelector=source%3Dx")).await;
    assert_eq!(refused.message(), "field label not supported: source");
}

/// RE-142.
#[tokio::test]
async fn the_default_user_is_authenticated() {
    let review = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    let answer = post(&Server::builder().build(), review, &json!({})).await;
    assert_eq!(
        answer.json()["status"]["userInfo"],
        json!({"username": "system:admin", "groups": ["system:masters", "system:authenticated"]}),
    );
}

/// ET-61, BK-104: a server that does not allow privileged containers, and one that does.
#[tokio::test]
async fn privileged_containers_may_be_refused() {
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {
        "initContainers": [{"name": "i", "image": "i", "securityContext": {"privileged": false}}],
        "containers": [{"name": "c", "image": "i", "securityContext": {"privileged": true}}]}});
    let mut template = json!({"metadata": {"labels": {"a": "b"}}});
    template["spec"] = pod["spec"].clone();
    let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template}});
    let refused = Server::builder().refuse_privileged().build();
    let allowed = Server::builder().build();
    let field =
        "spec.containers[0].securityContext.privileged: Forbidden: disallowed by cluster policy";
    for (path, object, message) in [
        ("/api/v1/namespaces/default/pods", pod, format!("Pod \"a\" is invalid: {field}")),
        (
            "/apis/apps/v1/namespaces/default/deployments",
            deployment,
            format!("Deployment.apps \"a\" is invalid: spec.template.{field}"),
        ),
    ] {
        let answer = post(&refused, path, &object).await;
        assert_eq!((answer.code, answer.message()), (422, message));
        assert_eq!(post(&allowed, path, &object).await.code, 201, "{path}");
    }
}

/// RE-140, SA-57, ES-60: what is too large with its owners is stored without them, or refused.
#[tokio::test]
async fn owners_of_large_objects_are_dropped() {
    let server = Server::builder().build();
    let map = |keys: usize, value: &str| {
        let data = (0..keys).map(|key| (format!("k{key:05}"), json!(value)));
        let data: serde_json::Map<_, _> = data.collect();
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data})
    };
    let created = post(&server, MAPS, &map(62_000, "")).await;
    assert_eq!(created.code, 201, "{}", created.message());
    assert_eq!(created.json()["metadata"].get("managedFields"), None);
    let event = |size: usize| {
        json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": "a"}, "reason": "r",
            "involvedObject": {"namespace": "default"}, "source": {"component": "x".repeat(size)}})
    };
    for (size, message) in [
        (1_600_000, "etcdserver: request is too large"),
        (2_200_000, "trying to send message larger than max ("),
    ] {
        let refused = post(&server, EVENTS, &event(size)).await;
        assert_eq!(refused.code, 500, "{size}");
        assert!(refused.message().starts_with(message), "{}", refused.message());
        assert_eq!(refused.json().get("reason"), None);
    }
}

/// ES-90: what counts is the message that is stored, which is smaller than the text.
#[tokio::test]
async fn large_objects_count_as_messages() {
    let server = crate::support::server();
    let role = |rules: usize| {
        let rule = json!({"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]});
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": format!("r{rules}")}, "rules": vec![rule; rules]})
    };
    let path = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    assert!(role(32_000).to_string().len() > 3 << 19);
    let created = post(&server, path, &role(32_000)).await;
    assert_eq!(created.code, 201, "{}", created.message());
    let found = call(&server, Method::GET, &format!("{path}/r32000"), &[], "").await.json();
    assert_eq!(found["rules"].as_array().unwrap().len(), 32_000);
    // The text of a custom resource is what is stored.
    let foo = json!({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "a"},
        "spec": {"color": "x".repeat(1_600_000)}});
    let foos = "/apis/example.com/v1/namespaces/default/foos";
    let refused = post(&server, foos, &foo).await;
    assert_eq!(refused.message(), "etcdserver: request is too large");
}
