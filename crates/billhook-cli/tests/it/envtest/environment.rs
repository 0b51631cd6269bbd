//! A suite from its start to its end.

use std::time::Duration;

use http_body_util::BodyExt as _;
use serde_json::{Value, json};

use super::client::{HTTP1, HTTP2};
use super::harness::{Environment, Process, assets, default_flags, free_port, get_plain, run};
use crate::support::Scratch;

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const NAMESPACES: &str = "/api/v1/namespaces";

/// A definition as a typed client of Go writes it (ET-35).
fn definition() -> Value {
    json!({
        "kind": "CustomResourceDefinition", "apiVersion": "apiextensions.k8s.io/v1",
        "metadata": {"name": "foos.example.com", "creationTimestamp": null},
        "spec": {"group": "example.com", "scope": "Namespaced",
            "names": {"plural": "foos", "kind": "Foo"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object"}}}]},
        "status": {"conditions": null, "acceptedNames": {"plural": "", "kind": ""},
            "storedVersions": null},
    })
}

fn namespace(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
}

fn object(kind: &str, api_version: &str, name: &str) -> Value {
    json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}})
}

/// ET-10 to ET-16, ET-20, ET-21, ET-63, ET-64.
#[tokio::test]
async fn all_is_there_when_the_server_is_healthy() {
    let environment = Environment::start("steps").await;
    let admin = &environment.admin;
    assert_eq!(admin.get("/api/v1/namespaces/default").await.code, 200, "ET-10, step 6");
    for name in ["kube-system", "kube-public", "kube-node-lease"] {
        assert_eq!(admin.get(&format!("{NAMESPACES}/{name}")).await.code, 200, "{name}");
    }
    let service = admin.get("/api/v1/namespaces/default/services/kubernetes").await.json();
    assert_eq!(service["spec"]["clusterIP"], "10.0.0.1");
    for path in ["/api", "/apis", "/livez", "/readyz", "/version", "/openapi/v3"] {
        assert_eq!(admin.get(path).await.code, 200, "{path}");
    }
    for path in ["/healthz", "/livez", "/readyz", "/version"] {
        assert_eq!(environment.anonymous.get(path).await.code, 200, "{path}: anybody may ask");
    }
    let version = admin.get("/version").await.json();
    assert!(version["gitVersion"].as_str().unwrap().starts_with("v1.36."));
    let accounts = admin.get("/api/v1/namespaces/default/serviceaccounts").await.json();
    assert_eq!(accounts["items"], json!([]), "no controller runs");
    environment.stop();
}

/// ET-35, ET-37, ET-38.
#[tokio::test]
async fn definitions_are_served_as_soon_as_they_are_listed() {
    let environment = Environment::start("definitions").await;
    let admin = &environment.admin;
    let path = format!("{DEFINITIONS}/foos.example.com");
    assert_eq!(admin.get(&path).await.code, 404);
    assert_eq!(admin.post(DEFINITIONS, &definition()).await.code, 201);
    let listed = admin.poll("/apis/example.com/v1").await.json();
    assert!(listed["resources"].as_array().unwrap().iter().any(|it| it["name"] == "foos"));
    let foos = "/apis/example.com/v1/namespaces/default/foos";
    assert_eq!(admin.post(foos, &object("Foo", "example.com/v1", "a")).await.code, 201);

    let found = admin.get(&path).await.json();
    let mut again = definition();
    again["metadata"]["resourceVersion"] = found["metadata"]["resourceVersion"].clone();
    again["spec"]["names"]["shortNames"] = json!(["fo"]);
    assert_eq!(admin.send("PUT", &path, &again.to_string()).await.code, 200);
    assert_eq!(admin.send("DELETE", &path, "").await.code, 200);
    environment.stop();
}

/// ET-81: what no controller does is not done.
#[tokio::test]
async fn the_server_is_alone() {
    let environment = Environment::start("alone").await;
    let admin = &environment.admin;
    assert_eq!(admin.post(NAMESPACES, &namespace("shop")).await.code, 201);
    let maps = "/api/v1/namespaces/shop/configmaps";
    let owner = admin.post(maps, &object("ConfigMap", "v1", "owner")).await.json();
    let mut owned = object("ConfigMap", "v1", "owned");
    owned["metadata"]["ownerReferences"] = json!([{"apiVersion": "v1", "kind": "ConfigMap",
        "name": "owner", "uid": owner["metadata"]["uid"]}]);
    assert_eq!(admin.post(maps, &owned).await.code, 201);
    assert_eq!(admin.send("DELETE", &format!("{maps}/owner"), "").await.code, 200);
    assert_eq!(admin.get(&format!("{maps}/owned")).await.code, 200, "a collector does not run");

    let path = format!("{NAMESPACES}/shop");
    assert_eq!(admin.send("DELETE", &path, "").await.code, 200);
    let shop = admin.get(&path).await.json();
    assert_eq!(shop["status"]["phase"], "Terminating");
    assert_eq!(shop["spec"]["finalizers"], json!(["kubernetes"]));
    let refused = admin.post(maps, &object("ConfigMap", "v1", "new")).await;
    assert_eq!(refused.code, 403);
    assert!(refused.text.contains("because it is being terminated"), "{}", refused.text);
    environment.stop();
}

/// Parts of a controller manager are switched on.
#[tokio::test]
async fn controllers_are_switched_on() {
    let flags = ["--billhook-controllers=gc,namespaces"];
    let environment = Environment::with_flags("controllers", &flags).await;
    let admin = &environment.admin;
    assert_eq!(admin.post(NAMESPACES, &namespace("shop")).await.code, 201);
    assert_eq!(admin.send("DELETE", &format!("{NAMESPACES}/shop"), "").await.code, 200);
    assert_eq!(admin.get(&format!("{NAMESPACES}/shop")).await.code, 404);
    let maps = "/api/v1/namespaces/default/configmaps";
    let mut owned = object("ConfigMap", "v1", "owned");
    owned["metadata"]["ownerReferences"] = json!([{"apiVersion": "v1", "kind": "ConfigMap",
        "name": "gone", "uid": "6f6b4a0e-1b5c-4c53-8a4f-0f4b1c1f5c8a"}]);
    assert_eq!(admin.post(maps, &owned).await.code, 201);
    assert_eq!(admin.get(&format!("{maps}/owned")).await.code, 404);
    environment.stop();
}

/// ET-21, ET-22: watches end cleanly, and the process with them.
#[tokio::test]
async fn a_server_stops_though_watches_are_open() {
    for protocol in [HTTP1, HTTP2] {
        let environment = Environment::start("stop").await;
        let client = environment.admin.with_protocol(protocol);
        let watch = client.open("GET", "/api/v1/namespaces?watch=1", "").await.unwrap();
        let mut body = watch.into_body();
        let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
        assert!(first.starts_with(br#"{"type":"ADDED""#));
        let rest = tokio::spawn(body.collect());
        environment.stop();
        let rest = rest.await.unwrap().expect("the last chunk is sent");
        assert!(rest.to_bytes().ends_with(b"}\n"));
    }
}

/// ET-23: a port that is taken ends the program at once; others are not disturbed.
#[tokio::test]
async fn servers_live_side_by_side() {
    let first = Environment::start("first").await;
    let second = Environment::start("second").await;
    assert_eq!(first.admin.post(NAMESPACES, &namespace("shop")).await.code, 201);
    assert_eq!(second.admin.get(&format!("{NAMESPACES}/shop")).await.code, 404);
    let taken = default_flags(first.directory.path(), first.address.port());
    let taken: Vec<&str> = taken.iter().map(String::as_str).collect();
    let output = run("kube-apiserver", &taken);
    assert_eq!(output.status.code(), Some(1));
    let why = String::from_utf8(output.stderr).unwrap();
    let address = first.address;
    let expected = format!("failed to create listener: failed to listen on {address}: ");
    assert!(why.contains(&expected), "{why}");
    first.stop();
    second.stop();
}

/// ET-12, ET-75.
#[tokio::test]
async fn etcd_is_well_wherever_it_listens() {
    let (port, other) = (free_port(), free_port());
    let directory = Scratch::new("envtest-etcd", &[]);
    let socket = directory.path().join("etcd.sock");
    let urls =
        format!("http://127.0.0.1:{port},http://127.0.0.1:{other},unix://{}", socket.display());
    let arguments =
        ["-listen-client-urls", &urls, "--quota-backend-bytes=1", "--log-level", "warn"];
    let mut etcd = Process::start("etcd", &arguments.map(str::to_owned));
    while get_plain(other, "/health").is_none() {
        assert!(etcd.runs());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    for (path, code, body) in [
        ("/health", 200, r#"{"health":"true","reason":""}"#),
        ("/version", 200, r#"{"etcdserver":"3.6.0","etcdcluster":"3.6.0"}"#),
        ("/readyz", 200, "ok"),
        ("/livez", 200, "ok"),
        ("/v3/kv/range", 404, "404 page not found\n"),
    ] {
        assert_eq!(get_plain(port, path), Some((code, body.to_owned())), "{path}");
    }
    while std::os::unix::net::UnixStream::connect(&socket).is_err() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(etcd.stop().success());
}

/// ET-02, ET-04, ET-14, ET-60: the name of the file decides, not what it is.
#[test]
fn programs_say_what_they_are() {
    let copy = Scratch::new("envtest-copy", &[]);
    let file = copy.path().join("kube-apiserver");
    std::fs::copy(assets().join("kubectl"), &file).unwrap();
    let output = std::process::Command::new(&file).arg("--version").output().unwrap();
    assert!(output.stdout.starts_with(b"Kubernetes v1.36."), "{output:?}");

    let help = run("kube-apiserver", &["--help"]);
    let help = String::from_utf8(help.stdout).unwrap();
    assert!(help.lines().any(|line| line.starts_with("      --secure-port int")), "{help}");
    assert!(!help.contains("--insecure-port"), "ET-14");
    let kubectl = run("kubectl", &["get", "ns"]);
    assert_eq!(kubectl.status.code(), Some(1));
    assert!(kubectl.stderr.starts_with(b"error: billhook takes the place of"), "{kubectl:?}");
}
