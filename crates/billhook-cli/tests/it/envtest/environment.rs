//! A whole run of a suite.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::time::Duration;

use http_body_util::BodyExt as _;
use serde_json::{Value, json};

use super::certificates::{Authority, Certificates, Pair};
use super::client::{Client, HTTP1, HTTP2};
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

/// ET-61: both flags are needed; requests of one user are not written down.
#[tokio::test]
async fn audit_logs_are_written() {
    let directory = Scratch::new("envtest-audit-files", &[]);
    let policy = "
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: None, users: [\"system:anonymous\"]}
- {level: Metadata, resources: [{resources: [configmaps]}]}
";
    directory.write("policy.yaml", policy);
    let log = directory.path().join("audit.log");
    let flags = [
        format!("--audit-policy-file={}", directory.path().join("policy.yaml").display()),
        format!("--audit-log-path={}", log.display()),
    ];
    let flags = flags.each_ref().map(String::as_str);
    let environment = Environment::with_flags("audit", &flags).await;
    let path = "/api/v1/namespaces/default/configmaps";
    let created = environment.admin.post(path, &object("ConfigMap", "v1", "a")).await;
    assert_eq!(created.code, 201);
    environment.stop();
    let lines = std::fs::read_to_string(&log).unwrap();
    let [line] = lines.lines().collect::<Vec<_>>()[..] else { panic!("{lines}") };
    let event: Value = serde_json::from_str(line).unwrap();
    assert_eq!(
        [&event["verb"], &event["user"]["username"], &event["objectRef"]["name"]],
        ["create", "admin", "a"]
    );
    assert_eq!(event["sourceIPs"], json!(["127.0.0.1"]));
    assert_eq!(event["auditID"], created.headers["audit-id"].to_str().unwrap());
    assert_eq!(event["responseStatus"]["code"], 201);
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

/// ET-61: privileged containers are for servers whose flags allow them.
#[tokio::test]
async fn privileged_containers_need_a_flag() {
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {
        "containers": [{"name": "c", "image": "i", "securityContext": {"privileged": true}}]}});
    for (flag, code) in [("--allow-privileged=true", 201), ("--allow-privileged=false", 422)] {
        let environment = Environment::with_flags("privileged", &[flag]).await;
        let answer = environment.admin.post("/api/v1/namespaces/default/pods", &pod).await;
        assert_eq!(answer.code, code, "{flag}: {}", answer.text);
        environment.stop();
    }
}

/// ET-61: versions of groups are switched off.
#[tokio::test]
async fn versions_are_switched_off() {
    let flag =
        "--runtime-config=api/all=false,api/ga=true,policy/v1=false,autoscaling/v1=0,v1=false";
    let environment = Environment::with_flags("versions", &[flag]).await;
    let admin = &environment.admin;
    let groups = admin.get("/apis").await.text;
    for (text, is_there) in [
        ("\"policy\"", false),
        ("autoscaling/v1", false),
        ("autoscaling/v2", true),
        ("batch/v1", true),
    ] {
        assert_eq!(groups.contains(text), is_there, "{text} in {groups}");
    }
    let services = admin.get("/apis/apiregistration.k8s.io/v1/apiservices").await.text;
    assert!(!services.contains("v1.policy") && services.contains("v1.batch"), "{services}");
    let budgets = admin.get("/apis/policy/v1/poddisruptionbudgets").await;
    assert_eq!((budgets.code, &*budgets.text), (404, "404 page not found\n"));
    assert_eq!(admin.get("/apis/autoscaling/v1/horizontalpodautoscalers").await.code, 404);
    let scaler = json!({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "a"}, "spec": {"maxReplicas": 2, "scaleTargetRef":
            {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"}}});
    let scalers = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
    assert_eq!(admin.post(scalers, &scaler).await.code, 201);
    assert_eq!(admin.get("/api/v1/namespaces").await.code, 200, "the server needs the core");
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

/// ET-20: a program that writes may have no reader any more.
#[tokio::test]
async fn output_needs_no_reader() {
    let directory = Scratch::new("envtest-output", &[]);
    let certificates = Certificates::write(directory.path());
    let port = free_port();
    let mut server = Command::new(assets().join("kube-apiserver"))
        .args(default_flags(directory.path(), port))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop((server.stdout.take(), server.stderr.take()));
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let client = Client::anonymous(address, &certificates.serving.pem());
    assert_eq!(client.poll("/healthz").await.text, "ok");
    server.kill().unwrap();
    server.wait().unwrap();
}

/// ET-80: a typed object gets its defaults, a status is written, a Lease is taken, and informers get
/// what there is as a stream.
#[tokio::test]
async fn suites_find_what_managers_use() {
    let environment = Environment::start("managers").await;
    let admin = &environment.admin;
    let deployments = "/apis/apps/v1/namespaces/default/deployments";
    let labels = json!({"app": "web"});
    let mut deployment = object("Deployment", "apps/v1", "web");
    deployment["spec"] = json!({"selector": {"matchLabels": labels}, "template": {
        "metadata": {"labels": labels}, "spec": {"containers": [{"name": "a", "image": "a"}]}}});
    let mut created = admin.post(deployments, &deployment).await.json();
    assert_eq!(created["spec"]["replicas"], 1);
    assert_eq!(created["spec"]["strategy"]["type"], "RollingUpdate");
    created["status"] = json!({"replicas": 1, "readyReplicas": 1, "observedGeneration": 1});
    let status = format!("{deployments}/web/status");
    let written = admin.send("PUT", &status, &created.to_string()).await;
    assert_eq!(written.json()["status"]["readyReplicas"], 1, "{}", written.text);
    let invalid = admin.post(deployments, &object("Deployment", "apps/v1", "empty")).await;
    assert_eq!(invalid.code, 422);
    let leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
    let lease = object("Lease", "coordination.k8s.io/v1", "leader");
    assert_eq!(admin.post(leases, &lease).await.code, 201);

    let watch = format!(
        "{deployments}?watch=1&sendInitialEvents=true&allowWatchBookmarks=true\
         &resourceVersionMatch=NotOlderThan&timeoutSeconds=1"
    );
    let events = admin.get(&watch).await.text;
    let events: Vec<Value> =
        events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events[0]["type"], "ADDED");
    assert_eq!(events[1]["type"], "BOOKMARK");
    let end = &events[1]["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"];
    assert_eq!(end, "true");
    environment.stop();
}

/// ET-45: a server that is there already has users by certificate.
#[tokio::test]
async fn kubeconfigs_have_a_client_certificate() {
    let directory = Scratch::new("envtest-existing", &[]);
    let file = directory.path().join("kubeconfig");
    let mut server = Command::new(env!("CARGO_BIN_EXE_billhook"))
        .args(["serve", "--write-kubeconfig"])
        .arg(&file)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut ready).unwrap();
    let config = std::fs::read_to_string(&file).unwrap();
    let field = |name: &str| {
        let found = config.lines().find_map(|line| line.trim().strip_prefix(name));
        found.unwrap_or_else(|| panic!("{config}")).trim().to_owned()
    };
    let pem = |name: &str| {
        let text = billhook_apimachinery::base64::decode(&field(name)).unwrap();
        String::from_utf8(text).unwrap()
    };
    let address = ready.split(' ').nth(1).unwrap().strip_prefix("https://").unwrap();
    let anonymous =
        Client::anonymous(address.parse().unwrap(), &pem("certificate-authority-data:"));
    let pair = Pair { certificate: pem("client-certificate-data:"), key: pem("client-key-data:") };
    let namespace = "/api/v1/namespaces/default";
    assert_eq!(anonymous.get(namespace).await.code, 401);
    assert_eq!(anonymous.with_pair(&pair).get(namespace).await.code, 200);
    let stranger = Authority::new().user("system:admin", "system:masters");
    assert_eq!(anonymous.with_pair(&stranger).get(namespace).await.code, 401);
    assert_eq!(anonymous.with_token(&field("token:")).get(namespace).await.code, 200);
    server.kill().unwrap();
    server.wait().unwrap();
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
    let output = Command::new(&file).arg("--version").output().unwrap();
    assert!(output.stdout.starts_with(b"Kubernetes v1.36."), "{output:?}");

    let help = run("kube-apiserver", &["--help"]);
    let help = String::from_utf8(help.stdout).unwrap();
    assert!(help.lines().any(|line| line.starts_with("      --secure-port int")), "{help}");
    assert!(!help.contains("--insecure-port"), "ET-14");
    let kubectl = run("kubectl", &["get", "ns"]);
    assert_eq!(kubectl.status.code(), Some(1));
    assert!(kubectl.stderr.starts_with(b"error: billhook takes the place of"), "{kubectl:?}");
}
