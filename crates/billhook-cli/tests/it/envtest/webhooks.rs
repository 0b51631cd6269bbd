//! Webhooks as a harness installs them (ET-36, ET-40 to ET-43).

use std::sync::{Arc, Mutex};
use std::time::Instant;

use serde_json::{Value, json};

use super::certificates::Authority;
use super::harness::Environment;
use crate::server::{Handled, Received, Reply, Server};
use crate::support::Scratch;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const CONFIGURATIONS: &str =
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";

/// Answers reviews: refuses objects named `bad`, and converts by setting the version.
fn review(received: &Received) -> Option<Reply> {
    let review: Value = serde_json::from_slice(&received.body).ok()?;
    let request = &review["request"];
    let mut response = json!({"uid": request["uid"]});
    if review["kind"] == "ConversionReview" {
        let objects = request["objects"].as_array()?.iter().cloned().map(|mut object| {
            object["apiVersion"] = request["desiredAPIVersion"].clone();
            object
        });
        response["convertedObjects"] = objects.collect();
        response["result"] = json!({"status": "Success"});
    } else {
        response["allowed"] = (request["name"] != "bad").into();
    }
    let answer = json!({"apiVersion": review["apiVersion"], "kind": review["kind"],
        "response": response});
    Some(Reply::json(answer.to_string()))
}

/// A webhook server with a certificate as a harness makes it, and the paths that it was asked at.
async fn start() -> (Server, String, Arc<Mutex<Vec<String>>>) {
    let pair = Authority::new().serving(&["localhost"]);
    let paths = Arc::new(Mutex::new(Vec::new()));
    let asked = Arc::clone(&paths);
    let handler = move |received: Received| -> Handled {
        asked.lock().unwrap().push(received.path.clone());
        Box::pin(async move { review(&received) })
    };
    let (certificate, key) = (&pair.certificate, &pair.key);
    let server = Server::with_certificate("127.0.0.1:0", certificate, key, handler).await.unwrap();
    (server, billhook_apimachinery::base64::encode(pair.certificate.as_bytes()), paths)
}

fn map(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})
}

/// A configuration of one webhook, which sees new ConfigMaps.
fn hooks(client_config: &Value) -> Value {
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "checks"},
        "webhooks": [{
            "name": "maps.example.com", "admissionReviewVersions": ["v1"], "sideEffects": "None",
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"],
                "resources": ["configmaps"]}],
            "clientConfig": client_config,
        }],
    })
}

/// ET-40, ET-41, ET-42, ET-43.
#[tokio::test]
async fn webhooks_act_at_once() {
    let (webhook, bundle, paths) = start().await;
    let environment = Environment::start("webhooks").await;
    let admin = &environment.admin;
    let port = webhook.address().port();
    let mut configuration = hooks(
        &json!({"url": format!("https://localhost:{port}//validate-map"), "caBundle": bundle}),
    );
    assert_eq!(admin.post(CONFIGURATIONS, &configuration).await.code, 201);
    let found = admin.get(&format!("{CONFIGURATIONS}/checks")).await.json();
    assert_eq!(admin.post(MAPS, &map("good")).await.code, 201);
    let refused = admin.post(MAPS, &map("bad")).await;
    assert_eq!(refused.code, 400, "{}", refused.text);
    assert_eq!(*paths.lock().unwrap(), ["/validate-map", "/validate-map"], "the path is cleaned");

    // Nobody knows the way to a service.
    configuration["metadata"]["resourceVersion"] = found["metadata"]["resourceVersion"].clone();
    configuration["webhooks"][0]["clientConfig"] =
        json!({"service": {"namespace": "default", "name": "hooks"}, "caBundle": bundle});
    let path = format!("{CONFIGURATIONS}/checks");
    assert_eq!(admin.send("PUT", &path, &configuration.to_string()).await.code, 200);
    let failed = admin.post(MAPS, &map("unreachable")).await;
    assert_eq!(failed.code, 500);
    assert!(failed.text.contains("failed calling webhook"), "{}", failed.text);
    environment.stop();
}

/// ET-61, CL-10: the server shows webhooks the credentials that a file of its flags names.
#[tokio::test]
async fn webhooks_are_shown_credentials() {
    let tokens = Arc::new(Mutex::new(Vec::new()));
    let pair = Authority::new().serving(&["localhost"]);
    let seen = Arc::clone(&tokens);
    let handler = move |received: Received| -> Handled {
        let token = received.headers.get("authorization");
        seen.lock().unwrap().push(token.map(|token| token.to_str().unwrap().to_owned()));
        Box::pin(async move { review(&received) })
    };
    let (certificate, key) = (&pair.certificate, &pair.key);
    let webhook = Server::with_certificate("127.0.0.1:0", certificate, key, handler).await.unwrap();
    let user = "{kind: Config, users: [{name: '*', user: {token: secret}}]}";
    let files = Scratch::new("admission-files", &[("kubeconfig", user)]);
    let kubeconfig = files.path().join("kubeconfig");
    let configuration = files.path().join("configuration.yaml");
    let text = json!({"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AdmissionConfiguration",
        "plugins": [{"name": "PodSecurity"}, {"name": "ValidatingAdmissionWebhook",
            "configuration": {"apiVersion": "apiserver.config.k8s.io/v1",
                "kind": "WebhookAdmissionConfiguration", "kubeConfigFile": kubeconfig}}]});
    std::fs::write(&configuration, text.to_string()).unwrap();
    let flag = format!("--admission-control-config-file={}", configuration.display());
    let environment = Environment::with_flags("credentials", &[&flag]).await;
    let bundle = billhook_apimachinery::base64::encode(pair.certificate.as_bytes());
    let hooks = hooks(
        &json!({"url": format!("https://localhost:{}/", webhook.address().port()), "caBundle": bundle}),
    );
    assert_eq!(environment.admin.post(CONFIGURATIONS, &hooks).await.code, 201);
    assert_eq!(environment.admin.post(MAPS, &map("a")).await.code, 201);
    assert_eq!(*tokens.lock().unwrap(), [Some("Bearer secret".to_owned())]);
    environment.stop();
}

/// ET-61, RE-22, WA-07: requests and watches have the time that flags give them.
#[tokio::test]
async fn requests_have_their_time() {
    let deaf = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let flags = ["--request-timeout=1s", "--min-request-timeout=2"];
    let environment = Environment::with_flags("times", &flags).await;
    let admin = &environment.admin;
    let url = format!("https://127.0.0.1:{}/", deaf.local_addr().unwrap().port());
    let hooks = hooks(&json!({"url": url}));
    assert_eq!(admin.post(CONFIGURATIONS, &hooks).await.code, 201);
    let late = admin.post(MAPS, &map("a")).await;
    let over = r#"{"metadata":{},"status":"Failure","message":"Timeout: request did not complete within the allotted timeout","reason":"Timeout","details":{},"code":504}"#;
    assert_eq!((late.code, late.text.trim_end()), (504, over));
    assert_eq!(late.headers["content-type"], "text/plain; charset=utf-8");
    let began = Instant::now();
    assert_eq!(admin.get(&format!("{MAPS}?watch=1")).await.code, 200);
    assert!((2..20).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
    environment.stop();
}

/// A plugin that is switched off lets webhooks alone (ET-61).
#[tokio::test]
async fn webhooks_are_switched_off() {
    let flags = ["--disable-admission-plugins=ValidatingAdmissionWebhook"];
    let environment = Environment::with_flags("no-webhooks", &flags).await;
    let admin = &environment.admin;
    let configuration = hooks(&json!({"url": "https://localhost:1/"}));
    assert_eq!(admin.post(CONFIGURATIONS, &configuration).await.code, 201);
    assert_eq!(admin.post(MAPS, &map("a")).await.code, 201);
    environment.stop();
}

/// ET-61: a gate that is named counts before all others of its stage; one without which a plugin is not
/// there.
#[tokio::test]
async fn gates_are_switched() {
    let watch =
        "?watch=1&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
    for (gates, code) in [("AllBeta=false", 422), ("WatchList=true,AllBeta=false", 200)] {
        let gates = format!("--feature-gates={gates},MutatingAdmissionPolicy=false");
        let environment = Environment::with_flags("gates", &["--billhook-strict", &gates]).await;
        let admin = &environment.admin;
        assert_eq!(admin.get(&format!("{MAPS}{watch}")).await.code, code, "{gates}");
        let policies = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolic";
        let spec = json!({
            "failurePolicy": "Fail", "reinvocationPolicy": "Never",
            "matchConstraints": {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"],
                "operations": ["CREATE"], "resources": ["configmaps"]}]},
            "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration":
                {"expression": "Object{metadata: Object.metadata{labels: {'a': 'b'}}}"}}]});
        let object = |kind: &str, spec: &Value| {
            json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind,
                "metadata": {"name": "p"}, "spec": spec})
        };
        let policy = object("MutatingAdmissionPolicy", &spec);
        assert_eq!(admin.post(&format!("{policies}ies"), &policy).await.code, 201);
        let binding = object("MutatingAdmissionPolicyBinding", &json!({"policyName": "p"}));
        assert_eq!(admin.post(&format!("{policies}ybindings"), &binding).await.code, 201);
        let created = admin.post(MAPS, &map("a")).await;
        assert_eq!(created.code, 201);
        assert!(!created.text.contains(r#""labels""#), "{}", created.text);
        environment.stop();
    }
}

/// ET-36: objects in the version that is stored are not converted.
#[tokio::test]
async fn definitions_convert_by_webhooks() {
    let (webhook, bundle, paths) = start().await;
    let environment = Environment::start("conversion").await;
    let admin = &environment.admin;
    let url = format!("https://localhost:{}/convert", webhook.address().port());
    let version = |name: &str, storage: bool| {
        json!({"name": name, "served": true, "storage": storage,
            "schema": {"openAPIV3Schema": {"type": "object"}}})
    };
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "foos.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced",
            "names": {"plural": "foos", "kind": "Foo"},
            "versions": [version("v1", true), version("v2", false)],
            "conversion": {"strategy": "Webhook", "webhook": {
                "conversionReviewVersions": ["v1", "v1beta1"],
                "clientConfig": {"url": url, "caBundle": bundle}}}},
    });
    assert_eq!(admin.post(DEFINITIONS, &definition).await.code, 201);
    let foo = json!({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "a"}});
    let foos = |version: &str| format!("/apis/example.com/{version}/namespaces/default/foos");
    assert_eq!(admin.post(&foos("v1"), &foo).await.code, 201);
    assert!(paths.lock().unwrap().is_empty(), "no webhook server need run yet");
    let converted = admin.get(&(foos("v2") + "/a")).await.json();
    assert_eq!(converted["apiVersion"], "example.com/v2");
    assert_eq!(*paths.lock().unwrap(), ["/convert"]);
    environment.stop();
}
