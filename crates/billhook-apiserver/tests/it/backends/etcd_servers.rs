//! Servers over etcd: several are one API, and what they write is what other servers write.

use billhook_apiserver::Server;
use billhook_apiserver::etcd::{Etcd, EtcdOptions};
use billhook_apiserver::storage::{HistoryLimits, Storage};
use billhook_testing::etcd::Etcd as Process;
use http::Method;
use serde_json::{Value, json};

use super::etcd::connect;
use crate::support::{Answer, call, definition, text};

const FOOS: &str = "/apis/example.com/v1/namespaces/default/foos";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

async fn server(etcd: &Process) -> Server {
    Server::builder().bootstrap().backend(connect(etcd).await).build().await.unwrap()
}

async fn get(server: &Server, path: &str) -> Answer {
    call(server, Method::GET, path, &[], "").await
}

async fn post(server: &Server, path: &str, object: &Value) -> Answer {
    call(server, Method::POST, path, &[], &object.to_string()).await
}

fn map(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"k": "v"}})
}

fn foo(name: &str) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": name}, "spec": {"a": 1}})
}

/// ES-21, ES-33, ES-65.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_servers_are_one_api() {
    let Some(etcd) = Process::start() else { return };
    let (here, there) = (server(&etcd).await, server(&etcd).await);
    for number in 0..20 {
        let name = format!("a{number}");
        let created = post(&here, MAPS, &map(&name)).await;
        assert_eq!(created.code, 201, "{}", created.text);
        let path = format!("{MAPS}/{name}");
        assert_eq!(get(&there, &path).await.text, get(&here, &path).await.text);
        assert_eq!(get(&there, MAPS).await.json()["items"].as_array().unwrap().len(), number + 1);
        assert_eq!(post(&there, MAPS, &map(&name)).await.code, 409);
        let patch = r#"{"data": {"k": "w"}}"#;
        let type_ = [("content-type", "application/merge-patch+json")];
        let patched = call(&there, Method::PATCH, &path, &type_, patch).await;
        assert_eq!(patched.code, 200);
        // The first server has not been asked since.
        let body = get(&there, &path).await.text;
        assert_eq!(call(&here, Method::PUT, &path, &[], &body).await.code, 200);
        let old = created.text;
        assert_eq!(call(&here, Method::PUT, &path, &[], &old).await.code, 409);
    }
    // What a namespace needs is there at once.
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}});
    assert_eq!(post(&here, "/api/v1/namespaces", &namespace).await.code, 201);
    let maps = MAPS.replace("default", "shop");
    assert_eq!(post(&there, &maps, &map("a")).await.code, 201);
}

/// ES-65: a definition is served by all servers.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn definitions_are_shared() {
    let Some(etcd) = Process::start() else { return };
    let (here, there) = (server(&etcd).await, server(&etcd).await);
    assert_eq!(post(&here, DEFINITIONS, &definition()).await.code, 201);
    get(&there, DEFINITIONS).await;
    assert_eq!(post(&there, FOOS, &foo("a")).await.code, 201);
    assert_eq!(get(&here, &format!("{FOOS}/a")).await.code, 200);
    drop((here, there));
    let again = server(&etcd).await;
    let found = get(&again, &format!("{FOOS}/a")).await.json();
    assert_eq!(found["spec"], json!({"a": 1}));
}

/// ES-01, ES-10, ES-11: the bytes, as another program reads them.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn stored_bytes_are_those_of_a_server() {
    let Some(etcd) = Process::start() else { return };
    let server = server(&etcd).await;
    post(&server, DEFINITIONS, &definition()).await;
    let created = post(&server, FOOS, &foo("a")).await.json();
    let stored = etcd.ctl(&["get", "--print-value-only", "/registry/example.com/foos/default/a"]);
    let (uid, time) =
        (text(&created, "/metadata/uid"), text(&created, "/metadata/creationTimestamp"));
    let fields = r#"{"f:spec":{".":{},"f:a":{}}}"#;
    let manager = text(&created, "/metadata/managedFields/0/manager");
    let expected = format!(
        r#"{{"apiVersion":"example.com/v1","kind":"Foo","metadata":{{"creationTimestamp":"{time}","generation":1,"managedFields":[{{"apiVersion":"example.com/v1","fieldsType":"FieldsV1","fieldsV1":{fields},"manager":"{manager}","operation":"Update","time":"{time}"}}],"name":"a","namespace":"default","uid":"{uid}"}},"spec":{{"a":1}}}}"#
    );
    // etcdctl adds the second line break.
    assert_eq!(String::from_utf8(stored).unwrap(), expected + "\n\n");

    let priority = json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
        "metadata": {"name": "p", "managedFields": []}, "value": 7});
    let created = post(&server, "/apis/scheduling.k8s.io/v1/priorityclasses", &priority).await;
    let uid = text(&created.json(), "/metadata/uid");
    let stored = etcd.ctl(&["get", "--print-value-only", "/registry/priorityclasses/p"]);
    let begin = [&b"k8s\0\n\x25\n\x14scheduling.k8s.io/v1\x12\rPriorityClass\x12"[..]].concat();
    assert!(stored.starts_with(&begin), "{stored:?}");
    // The content encoding and type are written, though they are empty.
    assert!(stored.ends_with(b"\x1a\0\"\0\n"));
    // Texts without a value are, too: the prefix of a name, the namespace, a link.
    let name = [b"\n\x01p\x12\0\x1a\0\"\0*$", uid.as_bytes(), b"2\08\x01B\x08\x08"].concat();
    assert!(stored.windows(name.len()).any(|part| part == name), "{stored:?}");
    // Field 2 of the message is the value.
    assert!(stored.windows(4).any(|part| part == b"\x10\x07\x18\0"), "{stored:?}");
}

/// ES-13: what has become stable in 1.36 is stored as servers of the release before read it.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn stored_versions_are_those_of_a_server() {
    let Some(etcd) = Process::start() else { return };
    let bindings = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings";
    let binding = |version: &str, name: &str| {
        json!({"kind": "MutatingAdmissionPolicyBinding", "metadata": {"name": name},
            "apiVersion": format!("admissionregistration.k8s.io/{version}"),
            "spec": {"policyName": "p"}})
    };
    let key = |name: &str| format!("/registry/mutatingadmissionpolicybindings/{name}");
    let found = async |server: &Server| {
        let list = get(server, bindings).await.json();
        let items = list["items"].as_array().unwrap().iter();
        items.map(|item| text(item, "/metadata/name").to_owned()).collect::<Vec<_>>()
    };
    let here = server(&etcd).await;
    let created = post(&here, bindings, &binding("v1", "a")).await.json();
    assert_eq!(created["apiVersion"], "admissionregistration.k8s.io/v1");
    let stored = etcd.ctl(&["get", "--print-value-only", &key("a")]);
    let stored: Value = serde_json::from_slice(&stored).unwrap();
    assert_eq!(stored["apiVersion"], "admissionregistration.k8s.io/v1beta1");
    assert_eq!(stored["spec"], json!({"policyName": "p"}));
    etcd.ctl(&["put", &key("b"), "--", &binding("v1beta1", "b").to_string()]);
    etcd.ctl(&["put", &key("c"), "--", &binding("v1", "c").to_string()]);
    for server in [here, server(&etcd).await] {
        assert_eq!(found(&server).await, ["a", "b", "c"]);
        let again = get(&server, &format!("{bindings}/b")).await.json();
        assert_eq!(again["apiVersion"], "admissionregistration.k8s.io/v1");
        let same = get(&server, &format!("{bindings}/a")).await;
        let path = format!("{bindings}/a");
        let put = call(&server, Method::PUT, &path, &[], &same.text).await;
        assert_eq!(put.text, same.text, "nothing is written");
    }
}

/// ES-13: what is served in several versions is stored in one, also where another server stored it in
/// another one.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_version_is_stored() {
    let Some(etcd) = Process::start() else { return };
    let here = server(&etcd).await;
    let autoscalers = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers";
    let autoscaler = |name: &str| {
        json!({"kind": "HorizontalPodAutoscaler", "apiVersion": "autoscaling/v1",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"maxReplicas": 5, "targetCPUUtilizationPercentage": 70,
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}}})
    };
    let events = "/apis/events.k8s.io/v1/namespaces/default/events";
    let event = json!({"apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "a"},
        "eventTime": "2026-11-22T11:00:00.000000Z", "regarding": {"kind": "Foo", "name": "x", "namespace": "default"},
        "note": "n", "reportingController": "c", "reportingInstance": "i", "action": "A", "reason": "R",
        "type": "Normal"});
    for (path, object) in [(autoscalers, &autoscaler("a")), (events, &event)] {
        let created = post(&here, path, object).await;
        assert_eq!(created.code, 201, "{}", created.text);
        assert_eq!(get(&here, &format!("{path}/a")).await.text, created.text);
    }
    let stored = |key: &str| etcd.ctl(&["get", "--print-value-only", &format!("/registry/{key}")]);
    let begin = b"k8s\0\n)\n\x0eautoscaling/v2\x12\x17HorizontalPodAutoscaler\x12";
    let value = stored("horizontalpodautoscalers/default/a");
    assert!(value.starts_with(begin), "{value:?}");
    let value = stored("events/default/a");
    assert!(value.starts_with(b"k8s\0\n\x0b\n\x02v1\x12\x05Event\x12"), "{value:?}");

    let other = "/registry/horizontalpodautoscalers/default/b";
    etcd.ctl(&["put", other, "--", &autoscaler("b").to_string()]);
    for server in [here, server(&etcd).await] {
        let path = autoscalers.replace("v1", "v2");
        let found = get(&server, &format!("{path}/b")).await.json();
        let target = &found["spec"]["metrics"][0]["resource"]["target"];
        assert_eq!(target["averageUtilization"], 70, "{found}");
    }
}

/// ES-11, ES-12, ES-14, ES-15: what another server has stored is served; what cannot be read is a failure of
/// its own.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_another_server_has_stored_is_served() {
    let Some(etcd) = Process::start() else { return };
    let put = |key: &str, value: &str| drop(etcd.ctl(&["put", key, "--", value]));
    drop(connect(&etcd).await);
    let definition = json!({"kind": "CustomResourceDefinition", "apiVersion": "apiextensions.k8s.io/v1beta1",
        "metadata": {"name": "foos.example.com", "uid": "d1", "generation": 1,
            "creationTimestamp": "2026-01-02T03:04:05Z"},
        "spec": {"group": "example.com", "version": "v1", "scope": "Namespaced",
            "names": {"plural": "foos", "singular": "foo", "kind": "Foo", "listKind": "FooList"},
            "versions": [{"name": "v1", "served": true, "storage": true}],
            "validation": {"openAPIV3Schema": {"type": "object", "properties": {
                "spec": {"type": "object", "properties": {"a": {"type": "integer"}}}}}},
            "preserveUnknownFields": false, "conversion": {"strategy": "None"}},
        "status": {"conditions": [
            {"type": "NamesAccepted", "status": "True", "reason": "NoConflicts", "message": "no conflicts found",
                "lastTransitionTime": "2026-01-02T03:04:05Z"},
            {"type": "Established", "status": "True", "reason": "InitialNamesAccepted",
                "message": "the initial names have been accepted",
                "lastTransitionTime": "2026-01-02T03:04:05Z"}],
            "acceptedNames": {"plural": "foos", "singular": "foo", "kind": "Foo", "listKind": "FooList"},
            "storedVersions": ["v1"]}});
    put(
        "/registry/apiextensions.k8s.io/customresourcedefinitions/foos.example.com",
        &definition.to_string(),
    );
    let mut object = foo("a");
    object["metadata"]["namespace"] = "default".into();
    object["metadata"]["uid"] = "f1".into();
    put("/registry/example.com/foos/default/a", &format!("{object}\n"));
    let mut secret = json!({"kind": "Secret", "apiVersion": "v1", "type": "Opaque",
        "metadata": {"name": "s", "namespace": "default", "uid": "s1"}, "data": {"k": "dg=="}});
    put("/registry/secrets/default/s", &secret.to_string());
    secret["metadata"]["name"] = "t".into();
    put("/registry/secrets/other/t", "k8s:enc:aescbc:v1:key1:xyz");
    put("/registry/ranges/serviceips", "k8s");
    put("/registry/masterleases/10.0.0.1", "k8s");
    let server = server(&etcd).await;
    let found = get(&server, &format!("{FOOS}/a")).await.json();
    assert_eq!((&found["spec"], &found["metadata"]["uid"]), (&json!({"a": 1}), &json!("f1")));
    let secrets = "/api/v1/namespaces/default/secrets";
    let found = get(&server, secrets).await.json();
    assert_eq!(found["items"][0]["data"], json!({"k": "dg=="}));
    assert_eq!(found["items"][0]["metadata"]["uid"], "s1");
    for path in [
        "/api/v1/namespaces/other/secrets/t",
        "/api/v1/namespaces/other/secrets",
        "/api/v1/secrets",
    ] {
        let answer = get(&server, path).await;
        assert_eq!(answer.code, 500, "{path}: {}", answer.text);
        assert!(!answer.text.contains("xyz"), "{}", answer.text);
        let why = "Internal error occurred: the stored object is encrypted, and there is no key";
        assert_eq!(text(&answer.json(), "/message"), why, "{path}");
        assert_eq!(text(&answer.json(), "/reason"), "InternalError", "{path}");
    }
    // It is there: nothing is created in its place.
    secret["metadata"]["namespace"] = "other".into();
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}});
    post(&server, "/api/v1/namespaces", &namespace).await;
    assert_eq!(post(&server, "/api/v1/namespaces/other/secrets", &secret).await.code, 409);
}

/// ES-55: events are written with a lease, and nothing else is.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn events_have_leases() {
    let Some(etcd) = Process::start() else { return };
    let options = EtcdOptions::new([etcd.url()]).event_ttl(std::time::Duration::from_secs(100));
    let etcd_backend = Etcd::open(options).await.unwrap();
    let server = Server::builder().bootstrap().backend(etcd_backend).build().await.unwrap();
    let event = json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"},
        "involvedObject": {"kind": "Pod", "namespace": "default", "name": "p"}, "reason": "R",
        "type": "Normal", "message": "m"});
    let created = post(&server, "/api/v1/namespaces/default/events", &event).await;
    assert_eq!(created.code, 201, "{}", created.text);
    post(&server, MAPS, &map("a")).await;
    let lease = |key: &str| {
        let printed = etcd.ctl(&["get", key, "--write-out=json"]);
        serde_json::from_slice::<Value>(&printed).unwrap()["kvs"][0]["lease"].as_i64()
    };
    assert_eq!(lease("/registry/configmaps/default/a"), None);
    let lease = lease("/registry/events/default/e").unwrap();
    let printed = etcd.ctl(&["lease", "timetolive", &format!("{lease:x}"), "--write-out=json"]);
    // A twentieth longer.
    assert_eq!(serde_json::from_slice::<Value>(&printed).unwrap()["granted-ttl"], 105);
    // The object goes with its lease.
    etcd.ctl(&["lease", "revoke", &format!("{lease:x}")]);
    assert_eq!(get(&server, "/api/v1/namespaces/default/events/e").await.code, 404);
}

/// ES-60, ES-70: without its etcd a server fails, and goes on afterwards.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_server_without_its_etcd_fails_and_goes_on() {
    let Some(mut etcd) = Process::start() else { return };
    let server = server(&etcd).await;
    assert_eq!(post(&server, MAPS, &map("a")).await.code, 201);
    assert!(get(&server, "/readyz?verbose").await.text.contains("[+]etcd ok\n"));
    etcd.kill();
    let failed = post(&server, MAPS, &map("b")).await;
    assert_eq!((failed.code, failed.message()), (500, "etcdserver: request timed out".to_owned()));
    let health = get(&server, "/livez").await;
    assert_eq!(health.code, 500);
    assert!(health.text.contains("[-]etcd failed: reason withheld\n"), "{}", health.text);
    assert!(health.text.ends_with("livez check failed\n"));
    // What was seen is still there for those who want no more.
    assert_eq!(get(&server, &format!("{MAPS}/a?resourceVersion=0")).await.code, 200);
    etcd.start_again();
    assert_eq!(get(&server, &format!("{MAPS}/a")).await.code, 200);
    assert_eq!(post(&server, MAPS, &map("c")).await.code, 201);
    assert_eq!(get(&server, "/livez").await.text, "ok");
}

/// A server makes its requests as a user of etcd.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn users_of_etcd_are_known() {
    let Some(etcd) = Process::start() else { return };
    drop(connect(&etcd).await);
    for arguments in [
        &["user", "add", "root:secret"][..],
        &["user", "grant-role", "root", "root"],
        &["auth", "enable"],
    ] {
        etcd.ctl(arguments);
    }
    assert!(Etcd::open(EtcdOptions::new([etcd.url()]).user("root", "wrong")).await.is_err());
    let nobody = Etcd::open(EtcdOptions::new([etcd.url()])).await.unwrap();
    assert!(Server::builder().backend(nobody).build().await.is_err());
    let backend = Etcd::open(EtcdOptions::new([etcd.url()]).user("root", "secret")).await.unwrap();
    let server = Server::builder().bootstrap().backend(backend).build().await.unwrap();
    assert_eq!(post(&server, MAPS, &map("a")).await.code, 201);
}

/// ES-35: what a server has written, in all its forms, is in memory as etcd has it.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn memory_is_as_etcd_has_it() {
    let Some(etcd) = Process::start() else { return };
    let server = server(&etcd).await;
    let early = Storage::open(connect(&etcd).await, HistoryLimits::default()).await.unwrap();
    assert_eq!(post(&server, DEFINITIONS, &definition()).await.code, 201);
    for number in 0..20 {
        let (map, foo) = (map(&format!("m-{number}")), foo(&format!("f-{number}")));
        assert_eq!(post(&server, MAPS, &map).await.code, 201);
        assert_eq!(post(&server, FOOS, &foo).await.code, 201);
    }
    for number in 0..9 {
        let path = format!("{MAPS}/m-{number}");
        assert_eq!(call(&server, Method::DELETE, &path, &[], "").await.code, 200);
    }
    let late = Storage::open(connect(&etcd).await, HistoryLimits::default()).await.unwrap();
    for storage in [early, late] {
        storage.catch_up().await.unwrap();
        assert!(storage.objects().iter().map(|(_, objects)| objects.len()).sum::<usize>() > 100);
        assert_eq!(storage.difference_from_backend().await, Ok(None));
        // What cannot be read as an object is the same in both.
        etcd.ctl(&["put", "/registry/configmaps/default/other", "no object"]);
        storage.catch_up().await.unwrap();
        assert_eq!(storage.difference_from_backend().await, Ok(None));
    }
}
