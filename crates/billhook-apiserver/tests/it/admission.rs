//! Webhooks that are configured through the API (DI-08, WM-03, WM-14, AR-71, WCF-11).

use billhook_admission::{AdmissionRequest, AdmissionResponse};
use billhook_apiserver::Server;
use http::Method;
use serde_json::{Value, json};

use crate::support::{Answer, bound_policy, call, definition, text};

const FOOS: &str = "/apis/example.com/v1/namespaces/default/foos";

/// A server with a service that refuses what is red, and one that makes it blue.
fn server() -> Server {
    let checker = |request: &AdmissionRequest| match color(request) {
        Some("red") => AdmissionResponse::deny(request, "no red"),
        _ => AdmissionResponse::allow(request).warning("seen"),
    };
    let painter = |request: &AdmissionRequest| match color(request) {
        None => AdmissionResponse::allow(request),
        Some(_) => AdmissionResponse::allow(request)
            .patch(&json!([{"op": "replace", "path": "/spec/color", "value": "blue"}])),
    };
    let builder = Server::builder().definition(&definition()).unwrap();
    let builder = builder.admission_service("shop", "checker", checker);
    builder.admission_service("shop", "painter", painter).build()
}

fn color(request: &AdmissionRequest) -> Option<&str> {
    request.object.as_ref()?.pointer("/spec/color")?.as_str()
}

/// A configuration of one webhook, of a service, for all objects of all resources.
fn configuration(kind: &str, service: &str, more: &Value) -> Value {
    let mut webhook = json!({"name": format!("{service}.example.com"), "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "clientConfig": {"service": {"namespace": "shop", "name": service}},
        "rules": [{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"],
            "resources": ["*/*"]}]});
    webhook.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"apiVersion": "admissionregistration.k8s.io/v1",
        "kind": format!("{kind}WebhookConfiguration"), "metadata": {"name": service},
        "webhooks": [webhook]})
}

fn path(kind: &str) -> String {
    let kind = kind.to_lowercase();
    format!("/apis/admissionregistration.k8s.io/v1/{kind}webhookconfigurations")
}

async fn post(server: &Server, path: &str, object: &Value) -> Answer {
    call(server, Method::POST, path, &[], &object.to_string()).await
}

async fn configure(server: &Server, kind: &str, service: &str, more: &Value) -> Answer {
    post(server, &path(kind), &configuration(kind, service, more)).await
}

async fn create(server: &Server, foos: &str, name: &str, color: &str) -> Answer {
    let object = json!({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": name},
        "spec": {"color": color}});
    post(server, foos, &object).await
}

#[tokio::test]
async fn validating_webhooks_refuse_until_they_are_deleted() {
    let server = server();
    assert_eq!(create(&server, FOOS, "a", "red").await.code, 201);
    assert_eq!(configure(&server, "Validating", "checker", &json!({})).await.code, 201);
    let refused = create(&server, FOOS, "b", "red").await;
    assert_eq!(refused.code, 400);
    let message = "admission webhook \"checker.example.com\" denied the request: no red";
    assert_eq!(refused.message(), message);
    let patch = json!({"spec": {"a": 1}}).to_string();
    let headers = [("content-type", "application/merge-patch+json")];
    let refused = call(&server, Method::PATCH, &format!("{FOOS}/a"), &headers, &patch).await;
    assert_eq!(refused.code, 400);
    let created = create(&server, FOOS, "b", "green").await;
    assert_eq!((created.code, created.warnings), (201, vec!["299 - \"seen\"".to_owned()]));

    let gone = format!("{}/checker", path("Validating"));
    assert_eq!(call(&server, Method::DELETE, &gone, &[], "").await.code, 200);
    let created = create(&server, FOOS, "c", "red").await;
    assert_eq!((created.code, created.warnings), (201, Vec::new()));
}

#[tokio::test]
async fn mutating_webhooks_change_what_is_stored() {
    let server = server();
    assert_eq!(configure(&server, "Mutating", "painter", &json!({})).await.code, 201);
    // Mutating webhooks come first.
    assert_eq!(configure(&server, "Validating", "checker", &json!({})).await.code, 201);
    let created = create(&server, FOOS, "a", "red").await;
    assert_eq!((created.code, text(&created.json(), "/spec/color")), (201, "blue".to_owned()));
    let stored = call(&server, Method::GET, &format!("{FOOS}/a"), &[], "").await;
    assert_eq!(text(&stored.json(), "/spec/color"), "blue");
}

/// A webhook says that dry runs are without side effects, or cannot be configured.
#[tokio::test]
async fn dry_runs_are_reviewed() {
    let server = server();
    let dry = format!("{FOOS}?dryRun=All");
    let effects = json!({"sideEffects": "Some"});
    let refused = configure(&server, "Validating", "checker", &effects).await;
    assert_eq!(refused.code, 422);
    assert!(refused.message().contains("webhooks[0].sideEffects: Unsupported value: \"Some\""));
    let not_kept = format!("{}?dryRun=All", path("Validating"));
    let unused = configuration("Validating", "checker", &json!({}));
    assert_eq!(post(&server, &not_kept, &unused).await.code, 201);
    assert_eq!(create(&server, &dry, "a", "red").await.code, 201);
    let effects = json!({"sideEffects": "NoneOnDryRun"});
    assert_eq!(configure(&server, "Validating", "checker", &effects).await.code, 201);
    assert_eq!(create(&server, &dry, "a", "green").await.code, 201);
    assert_eq!(create(&server, &dry, "a", "red").await.code, 400);
    let stored = call(&server, Method::GET, &format!("{FOOS}/a"), &[], "").await;
    assert_eq!(stored.code, 404);
}

/// WM-03: what the webhook would refuse can be taken back.
#[tokio::test]
async fn configurations_go_to_no_webhook() {
    let server = server();
    let at_nowhere = json!({"clientConfig": {"url": "https://nowhere.example.com"}});
    for kind in ["Validating", "Mutating"] {
        assert_eq!(configure(&server, kind, "nowhere", &at_nowhere).await.code, 201);
    }
    let refused = create(&server, FOOS, "a", "green").await;
    assert_eq!(refused.code, 500);
    assert_eq!(
        refused.message(),
        "Internal error occurred: failed calling webhook \"nowhere.example.com\": could not get \
         REST client: no webhook can be reached"
    );
    for kind in ["Validating", "Mutating"] {
        let gone = format!("{}/nowhere", path(kind));
        assert_eq!(call(&server, Method::DELETE, &gone, &[], "").await.code, 200);
    }
    assert_eq!(create(&server, FOOS, "a", "green").await.code, 201);
}

/// WM-14.
#[tokio::test]
async fn webhooks_select_namespaces_by_their_labels() {
    let server = server();
    let selector = json!({"namespaceSelector": {"matchLabels": {"env": "prod"}}});
    assert_eq!(configure(&server, "Validating", "checker", &selector).await.code, 201);
    for (name, env) in [("one", "test"), ("two", "prod")] {
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": name, "labels": {"env": env}}});
        assert_eq!(post(&server, "/api/v1/namespaces", &namespace).await.code, 201);
    }
    let foos = |namespace: &str| format!("/apis/example.com/v1/namespaces/{namespace}/foos");
    assert_eq!(create(&server, &foos("one"), "a", "red").await.code, 201);
    assert_eq!(create(&server, &foos("two"), "a", "red").await.code, 400);
    let labels = json!({"metadata": {"labels": {"env": "prod"}}}).to_string();
    let headers = [("content-type", "application/merge-patch+json")];
    let path = "/api/v1/namespaces/one";
    assert_eq!(call(&server, Method::PATCH, path, &headers, &labels).await.code, 200);
    assert_eq!(create(&server, &foos("one"), "b", "red").await.code, 400);
}

#[tokio::test]
async fn forks_have_webhooks_of_their_own() {
    let server = server();
    assert_eq!(configure(&server, "Validating", "checker", &json!({})).await.code, 201);
    let fork = server.fork();
    let gone = format!("{}/checker", path("Validating"));
    assert_eq!(call(&fork, Method::DELETE, &gone, &[], "").await.code, 200);
    assert_eq!(create(&fork, FOOS, "a", "red").await.code, 201);
    assert_eq!(create(&server, FOOS, "a", "red").await.code, 400);
}

/// WCF-11.
#[tokio::test]
async fn configurations_are_stored_with_their_defaults() {
    let server = server();
    let created = configure(&server, "Mutating", "painter", &json!({})).await.json();
    assert_eq!(
        created["webhooks"],
        json!([{"name": "painter.example.com", "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            "clientConfig": {"service": {"namespace": "shop", "name": "painter", "port": 443}},
            "rules": [{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"],
                "resources": ["*/*"], "scope": "*"}],
            "failurePolicy": "Fail", "matchPolicy": "Equivalent", "namespaceSelector": {},
            "objectSelector": {}, "timeoutSeconds": 10, "reinvocationPolicy": "Never"}])
    );
}

#[tokio::test]
async fn webhooks_see_the_kinds_of_the_server_too() {
    let labeler = |request: &AdmissionRequest| {
        AdmissionResponse::allow(request)
            .patch(&json!([{"op": "add", "path": "/data", "value": {"by": request.kind.kind}}]))
    };
    let server = Server::builder().admission_service("shop", "labeler", labeler).build();
    assert_eq!(configure(&server, "Mutating", "labeler", &json!({})).await.code, 201);
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
    let created = post(&server, "/api/v1/namespaces/default/configmaps", &object).await;
    assert_eq!((created.code, text(&created.json(), "/data/by")), (201, "ConfigMap".to_owned()));
}

/// An object of the server's own kinds is read again as its type after webhooks.
#[tokio::test]
async fn own_kinds_are_read_again_after_webhooks() {
    let filler = |request: &AdmissionRequest| {
        let value = match request.name.as_str() {
            "wrong" => json!(7),
            _ => json!({"key": "value"}),
        };
        AdmissionResponse::allow(request).patch(&json!([
            {"op": "add", "path": "/stringData", "value": value},
            {"op": "add", "path": "/nonsense", "value": 1},
        ]))
    };
    let server = Server::builder().admission_service("shop", "filler", filler).build();
    let only_secrets = json!({"rules": [{"operations": ["CREATE"], "apiGroups": [""],
        "apiVersions": ["v1"], "resources": ["secrets"]}]});
    assert_eq!(configure(&server, "Mutating", "filler", &only_secrets).await.code, 201);
    let secrets = "/api/v1/namespaces/default/secrets";
    let secret =
        |name: &str| json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}});
    let created = post(&server, secrets, &secret("a")).await;
    assert_eq!(created.code, 201, "{}", created.text);
    let created = created.json();
    assert_eq!(created["data"], json!({"key": "dmFsdWU="}));
    assert_eq!((created.get("stringData"), created.get("nonsense")), (None, None));
    let refused = post(&server, secrets, &secret("wrong")).await;
    assert_ne!(refused.code, 201, "{}", refused.text);
}

/// DI-31, DI-35: an object of a kind of the server's own is decoded as one of its type, which a patch may
/// leave out, and not change.
#[tokio::test]
async fn own_kinds_stay_what_they_are() {
    let changer = |request: &AdmissionRequest| {
        let patch = match request.name.as_str() {
            "nameless" => json!([{"op": "remove", "path": "/kind"}]),
            "unversioned" => json!([{"op": "remove", "path": "/apiVersion"}]),
            "other" => json!([{"op": "replace", "path": "/kind", "value": "Foo"}]),
            _ => json!([{"op": "replace", "path": "/apiVersion", "value": "v2"}]),
        };
        AdmissionResponse::allow(request).patch(&patch)
    };
    let builder = Server::builder().definition(&definition()).unwrap();
    let server = builder.admission_service("shop", "changer", changer).build();
    assert_eq!(configure(&server, "Mutating", "changer", &json!({})).await.code, 201);
    let maps = "/api/v1/namespaces/default/configmaps";
    let map =
        |name: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}});
    for name in ["nameless", "unversioned"] {
        let created = post(&server, maps, &map(name)).await;
        assert_eq!(created.code, 201, "{}", created.text);
        assert_eq!(
            (&created.json()["apiVersion"], &created.json()["kind"]),
            (&"v1".into(), &"ConfigMap".into())
        );
    }
    for (name, kind, version) in [("other", "Foo", "v1"), ("newer", "ConfigMap", "v2")] {
        let refused = post(&server, maps, &map(name)).await;
        let message = format!(
            "Internal error occurred: no kind \"{kind}\" is registered for version \"{version}\" in \
             scheme \"k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30\""
        );
        assert_eq!((refused.code, refused.message()), (500, message));
    }
    let custom = create(&server, FOOS, "nameless", "red").await;
    assert_eq!(custom.code, 500);
    let message = custom.message();
    assert!(
        message.starts_with("Internal error occurred: Object 'Kind' is missing in"),
        "{message}"
    );
}

/// AR-36, AR-37, PO-20: what is sent to a subresource, and the options of connections, are reviewed.
#[tokio::test]
async fn what_is_not_stored_is_reviewed() {
    let reporter = |request: &AdmissionRequest| {
        let mut object = request.object.clone().map(|it| it.into_inner()).unwrap_or_default();
        if let Some(members) = object.as_object_mut() {
            members.retain(|name, _| !matches!(name.as_str(), "metadata" | "spec" | "target"));
        }
        let options = request.options.as_ref().map_or("none", |it| it["kind"].as_str().unwrap());
        let operation = request.operation;
        let what = [&request.sub_resource, &request.name, &request.namespace].map(String::as_str);
        let seen = format!("{operation} {} {options} {object}", what.join(" "));
        match request.sub_resource.as_str() {
            "" => AdmissionResponse::allow(request),
            "attach" => AdmissionResponse::deny(request, "no attach"),
            _ => AdmissionResponse::allow(request).warning(&seen),
        }
    };
    let server = Server::builder().admission_service("shop", "reporter", reporter).build();
    let pods = "/api/v1/namespaces/default/pods";
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "a"}});
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    assert_eq!(post(&server, accounts, &account).await.code, 201);
    for name in ["p", "q"] {
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"containers": [{"name": "c", "image": "i"}]}});
        assert_eq!(post(&server, pods, &pod).await.code, 201);
    }
    assert_eq!(configure(&server, "Validating", "reporter", &json!({})).await.code, 201);

    let of = |kind: &str, version: &str, name: &str| json!({"apiVersion": version, "kind": kind, "metadata": {"name": name}});
    let mut binding = of("Binding", "v1", "p");
    binding["target"] = json!({"name": "n"});
    let mut token = of("TokenRequest", "authentication.k8s.io/v1", "a");
    token["spec"] = json!({});
    let exec = format!("{pods}/p/exec?command=ls&command=-l&container=c&stdin=true&tty=false");
    let (created, none) = ("CreateOptions", Value::Null);
    for (path, body, code, seen) in [
        (
            format!("{pods}/p/binding"),
            &binding,
            201,
            json!({"apiVersion": "v1", "kind": "Binding"}),
        ),
        (
            exec,
            &none,
            404,
            json!({"apiVersion": "v1", "command": ["ls", "-l"], "container": "c",
            "kind": "PodExecOptions", "stdin": true}),
        ),
        (
            format!("{pods}/p/portforward?ports=80&ports=81"),
            &none,
            404,
            json!({"apiVersion": "v1", "kind": "PodPortForwardOptions", "ports": [80, 81]}),
        ),
        (
            format!("{pods}/p/proxy/x/y?a=b"),
            &none,
            404,
            json!({"apiVersion": "v1", "kind": "PodProxyOptions", "path": "x/y"}),
        ),
        (
            format!("{accounts}/a/token"),
            &token,
            201,
            json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
                "status": {"expirationTimestamp": null, "token": ""}}),
        ),
        (
            format!("{pods}/p/eviction"),
            &of("Eviction", "policy/v1", "p"),
            201,
            json!({"apiVersion": "policy/v1", "kind": "Eviction"}),
        ),
    ] {
        let text = if body.is_null() { String::new() } else { body.to_string() };
        let answer = call(&server, Method::POST, &path, &[], &text).await;
        assert_eq!(answer.code, code, "{path}: {}", answer.text);
        let subresource = path.split('?').next().unwrap().split('/').nth(7).unwrap();
        let name = if subresource == "token" { "a" } else { "p" };
        let (operation, options) =
            if body.is_null() { ("CONNECT", "none") } else { ("CREATE", created) };
        let seen = format!("{operation} {subresource} {name} default {options} {seen}");
        assert_eq!(answer.warnings, [format!("299 - \"{}\"", seen.replace('"', "\\\""))]);
    }

    let mut elsewhere = of("Binding", "v1", "q");
    elsewhere["metadata"]["namespace"] = "other".into();
    let refused = post(&server, &format!("{pods}/q/binding"), &elsewhere).await;
    let message =
        "the namespace of the provided object does not match the namespace sent on the request";
    assert_eq!((refused.code, refused.message().as_str()), (400, message));
    let refused = call(&server, Method::GET, &format!("{pods}/q/attach"), &[], "").await;
    let message = "admission webhook \"reporter.example.com\" denied the request: no attach";
    assert_eq!((refused.code, refused.message().as_str()), (400, message));
    let dry = call(&server, Method::POST, &format!("{pods}/q/exec?dryRun=All"), &[], "").await;
    assert_eq!((dry.code, dry.message().as_str()), (400, "dryRun is not supported"));

    let policy = json!({"matchConstraints": {"resourceRules": [{"operations": ["CONNECT"],
            "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods/exec"]}]},
            "validations": [{"expression": "object.container != 'c'"}]});
    let [policy, binding] = bound_policy(&policy, "Deny");
    let admission = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic";
    assert_eq!(post(&server, &format!("{admission}ies"), &policy).await.code, 201);
    assert_eq!(post(&server, &format!("{admission}ybindings"), &binding).await.code, 201);
    let path = format!("{pods}/q/exec?container=c");
    let refused = call(&server, Method::POST, &path, &[], "").await;
    let message = "pods \"q\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied \
                   request: failed expression: object.container != 'c'";
    assert_eq!((refused.code, refused.message().as_str()), (422, message));
}

/// RE-141: what is sent to a subresource is created in a namespace, too.
#[tokio::test]
async fn evictions_need_a_namespace_that_stays() {
    let server = Server::builder().build();
    let eviction =
        json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}});
    let evict = |namespace: &str| format!("/api/v1/namespaces/{namespace}/pods/p/eviction");
    let refused = post(&server, &evict("nowhere"), &eviction).await;
    let message = "namespaces \"nowhere\" not found";
    assert_eq!((refused.code, refused.message().as_str()), (404, message));

    let ending = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ending"}});
    assert_eq!(post(&server, "/api/v1/namespaces", &ending).await.code, 201);
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "a", "finalizers": ["example.com/stay"]}});
    assert_eq!(post(&server, "/api/v1/namespaces/ending/configmaps", &map).await.code, 201);
    let path = "/api/v1/namespaces/ending";
    assert_eq!(call(&server, Method::DELETE, path, &[], "").await.code, 200);
    let refused = post(&server, &evict("ending"), &eviction).await;
    let message = "pods \"p\" is forbidden: unable to create new content in namespace ending because it \
                   is being terminated";
    assert_eq!((refused.code, refused.message().as_str()), (403, message));
    assert_eq!(refused.json()["details"]["causes"][0]["reason"], "NamespaceTerminating");
}

/// AR-19: webhooks see the options that the client has sent, also where they are those by default.
#[tokio::test]
async fn webhooks_see_the_options_of_the_client() {
    let reporter = |request: &AdmissionRequest| {
        let mut options = request.options.clone().unwrap().into_inner();
        options.as_object_mut().unwrap().retain(|name, _| name.starts_with("field"));
        AdmissionResponse::allow(request).warning(options.to_string())
    };
    let builder = Server::builder().definition(&definition()).unwrap();
    let server = builder.admission_service("shop", "reporter", reporter).build();
    assert_eq!(configure(&server, "Validating", "reporter", &json!({})).await.code, 201);
    for (query, seen) in [
        ("", json!({"fieldManager": "unknown"})),
        ("&fieldValidation=&fieldManager=m", json!({"fieldManager": "m"})),
        ("&fieldValidation=Warn", json!({"fieldManager": "unknown", "fieldValidation": "Warn"})),
        (
            "&fieldValidation=Strict",
            json!({"fieldManager": "unknown", "fieldValidation": "Strict"}),
        ),
    ] {
        let created = create(&server, &format!("{FOOS}?dryRun=All{query}"), "a", "red").await;
        let seen = format!("299 - \"{}\"", seen.to_string().replace('"', "\\\""));
        assert_eq!((created.code, created.warnings), (201, vec![seen]), "{query}");
    }
}

/// WM-03, PO-21: reviews go to webhooks, and to no policy.
#[tokio::test]
async fn reviews_are_reviewed() {
    let asker = |request: &AdmissionRequest| match request.object.as_ref().unwrap() {
        object if object.pointer("/spec/user") == Some(&"eve".into()) => {
            AdmissionResponse::deny(request, "not about her")
        }
        object => AdmissionResponse::allow(request).warning(format!(
            "{} {} {} {} in {}",
            request.operation,
            request.resource.resource,
            object["kind"].as_str().unwrap(),
            request.options.as_ref().unwrap()["kind"].as_str().unwrap(),
            request.namespace,
        )),
    };
    let server = Server::builder().admission_service("shop", "asker", asker).build();
    let policy = json!({"matchConstraints": {"resourceRules": [{"operations": ["*"],
            "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"]}]},
            "validations": [{"expression": "false"}]});
    let [policy, binding] = bound_policy(&policy, "Deny");
    assert_eq!(configure(&server, "Validating", "asker", &json!({})).await.code, 201);
    let admission = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic";
    assert_eq!(post(&server, &format!("{admission}ies"), &policy).await.code, 201);
    assert_eq!(post(&server, &format!("{admission}ybindings"), &binding).await.code, 201);

    let authorization = "authorization.k8s.io/v1";
    let attributes = json!({"namespace": "default", "verb": "get", "resource": "pods"});
    let of_user = json!({"user": "bob", "resourceAttributes": attributes});
    for (group, kind, place, spec) in [
        (authorization, "SubjectAccessReview", "", of_user.clone()),
        (authorization, "LocalSubjectAccessReview", "default", of_user.clone()),
        (authorization, "SelfSubjectRulesReview", "", json!({"namespace": "default"})),
        ("authentication.k8s.io/v1", "TokenReview", "", json!({"token": "x"})),
    ] {
        let plural = format!("{}s", kind.to_lowercase());
        let namespace =
            if place.is_empty() { String::new() } else { format!("namespaces/{place}/") };
        let path = format!("/apis/{group}/{namespace}{plural}");
        let metadata = if place.is_empty() { json!({}) } else { json!({"namespace": place}) };
        let mut review =
            json!({"apiVersion": group, "kind": kind, "metadata": metadata, "spec": spec});
        let answer = post(&server, &path, &review).await;
        let seen = format!("299 - \"CREATE {plural} {kind} CreateOptions in {place}\"");
        assert_eq!((answer.code, answer.warnings), (201, vec![seen]), "{}", answer.text);
        if kind == "SubjectAccessReview" {
            review["spec"]["user"] = "eve".into();
            let refused = post(&server, &path, &review).await;
            let message =
                "admission webhook \"asker.example.com\" denied the request: not about her";
            assert_eq!((refused.code, refused.message().as_str()), (400, message));
        }
    }
}

/// WM-48: a webhook for one of the resources that objects are served in sees them in its version, and
/// what it changes there is changed.
#[tokio::test]
async fn webhooks_see_own_kinds_in_the_version_of_their_rules() {
    let marker = |request: &AdmissionRequest| {
        let place = match request.kind.group.as_str() {
            "events.k8s.io" => "/note",
            "" => "/message",
            _ => "/spec/targetCPUUtilizationPercentage",
        };
        let value = match request.kind.group.as_str() {
            "autoscaling" => json!(70),
            _ => json!(request.resource.to_string()),
        };
        AdmissionResponse::allow(request)
            .patch(&json!([{"op": "add", "path": place, "value": value}]))
    };
    let server = Server::builder().admission_service("shop", "marker", marker).build();
    let rule = |group: &str, resource: &str| {
        json!({"operations": ["CREATE"], "apiGroups": [group], "apiVersions": ["v1"],
            "resources": [resource]})
    };
    let rules = [rule("events.k8s.io", "events"), rule("autoscaling", "horizontalpodautoscalers")];
    let rules = json!({ "rules": rules });
    assert_eq!(configure(&server, "Mutating", "marker", &rules).await.code, 201);

    let event = json!({"apiVersion": "v1", "kind": "Event", "message": "sent",
        "metadata": {"name": "a"}, "involvedObject": {"namespace": "default"}});
    let created = post(&server, "/api/v1/namespaces/default/events", &event).await;
    assert_eq!(
        (created.code, text(&created.json(), "/message")),
        (201, "events.k8s.io/v1 events".to_owned()),
        "{}",
        created.text
    );
    assert_eq!(created.json()["apiVersion"], "v1");

    let scaler = json!({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "a"}, "spec": {"maxReplicas": 3,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"}}});
    let path = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
    let created = post(&server, path, &scaler).await;
    assert_eq!(created.code, 201, "{}", created.text);
    assert_eq!(created.json()["apiVersion"], "autoscaling/v2");
    assert_eq!(
        created.json()["spec"]["metrics"],
        json!([{"type": "Resource", "resource": {"name": "cpu",
            "target": {"type": "Utilization", "averageUtilization": 70}}}])
    );
}
