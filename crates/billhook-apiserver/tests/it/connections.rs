//! Logs of pods and connections to them (BK-114).

use billhook_apiserver::{AuthorizationMode, Server};
use http::Method;
use serde_json::{Value, json};

use crate::support::{Answer, call};

const PODS: &str = "/api/v1/namespaces/default/pods";
const KINDS: [&str; 4] = ["attach", "exec", "portforward", "proxy"];

async fn post(server: &Server, path: &str, object: &Value) {
    let created = call(server, Method::POST, path, &[], &object.to_string()).await;
    assert_eq!(created.code, 201, "{}", created.text);
}

async fn get(server: &Server, path: &str) -> Answer {
    call(server, Method::GET, &format!("{PODS}/{path}"), &[], "").await
}

fn pod(name: &str, spec: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec})
}

fn container(name: &str) -> Value {
    json!({"name": name, "image": "i"})
}

#[tokio::test]
async fn pods_without_a_node_have_empty_logs_and_no_connections() {
    let server = Server::builder().build();
    post(&server, PODS, &pod("p", &json!({"containers": [container("a")]}))).await;
    let log = get(&server, "p/log").await;
    assert_eq!((log.code, log.text.as_str()), (204, ""));
    for kind in KINDS {
        let refused = get(&server, &format!("p/{kind}")).await;
        assert_eq!(refused.code, 400, "{kind}");
        assert_eq!(refused.message(), "pod p does not have a host assigned");
    }
    let missing = get(&server, "none/log").await;
    assert_eq!((missing.code, missing.message()), (404, "pods \"none\" not found".into()));
    let put = call(&server, Method::PUT, &format!("{PODS}/p/exec"), &[], "{}").await;
    assert_eq!(put.code, 405);
}

#[tokio::test]
async fn one_of_several_containers_is_named() {
    let server = Server::builder().build();
    let two = json!([container("a"), container("b")]);
    post(&server, PODS, &pod("two", &json!({"containers": two}))).await;
    let initial = json!({"containers": two, "initContainers": [container("x")]});
    post(&server, PODS, &pod("initial", &initial)).await;
    for (path, why) in [
        ("two/log", "a container name must be specified for pod two, choose one of: [a b]"),
        (
            "two/exec?command=ls",
            "a container name must be specified for pod two, choose one of: [a b]",
        ),
        (
            "initial/attach",
            "a container name must be specified for pod initial, choose one of: [a b] or one of the \
             init containers: [x]",
        ),
        ("two/log?container=c", "container c is not valid for pod two"),
    ] {
        let refused = get(&server, path).await;
        assert_eq!((refused.code, refused.message()), (400, why.to_owned()), "{path}");
    }
    assert_eq!(get(&server, "two/log?container=b").await.code, 204);
    assert_eq!(get(&server, "initial/log?container=x").await.code, 204);
}

#[tokio::test]
async fn pods_on_nodes_log_nothing_and_cannot_be_connected_to() {
    let server = Server::builder().build();
    let spec = json!({"containers": [container("a")], "nodeName": "n"});
    post(&server, PODS, &pod("p", &spec)).await;
    for kind in ["log", "exec"] {
        let refused = get(&server, &format!("p/{kind}")).await;
        assert_eq!((refused.code, refused.message()), (404, "nodes \"n\" not found".into()));
    }
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}});
    post(&server, "/api/v1/nodes", &node).await;
    let log = get(&server, "p/log").await;
    assert_eq!((log.code, log.text.as_str()), (200, ""));
    assert_eq!(log.headers["content-type"], "text/plain; charset=utf-8");
    for kind in KINDS {
        assert_eq!(get(&server, &format!("p/{kind}")).await.code, 501, "{kind}");
    }
}

/// Only what has started has a log, and only what has started again a previous one.
#[tokio::test]
async fn containers_that_have_not_started_have_no_log() {
    let server = Server::builder().build();
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}});
    post(&server, "/api/v1/nodes", &node).await;
    let spec = json!({"containers": [container("a")], "nodeName": "n"});
    post(&server, PODS, &pod("p", &spec)).await;
    let ended = json!({"terminated": {"exitCode": 1}});
    let since = json!({"running": {"startedAt": "2026-01-01T00:00:00Z"}});
    let waiting = |reason: &str| json!({"waiting": {"reason": reason}});
    let told = "container \"a\" in pod \"p\"";
    let none = format!("previous terminated {told} not found");
    let creating = format!("{told} is waiting to start: ContainerCreating");
    let pulling = format!("{told} is waiting to start: trying and failing to pull image");
    for (state, last, log, previous) in [
        (waiting("ContainerCreating"), json!({}), creating.as_str(), none.as_str()),
        (waiting("ImagePullBackOff"), json!({}), &pulling, &none),
        (since, json!({}), "", &none),
        (waiting("CrashLoopBackOff"), ended, "", ""),
    ] {
        let status = json!({"containerStatuses": [{
            "name": "a", "image": "i", "imageID": "", "ready": false, "restartCount": 0,
            "state": state, "lastState": last,
        }]});
        let patch = json!({"status": status}).to_string();
        let merge = [("content-type", "application/merge-patch+json")];
        let path = format!("{PODS}/p/status");
        assert_eq!(call(&server, Method::PATCH, &path, &merge, &patch).await.code, 200);
        for (path, expected) in [("p/log", log), ("p/log?previous=true", previous)] {
            let answer = get(&server, path).await;
            let found = if answer.code == 200 { answer.text.clone() } else { answer.message() };
            assert_eq!(found, expected, "{path}");
            assert_eq!(answer.code, if expected.is_empty() { 200 } else { 400 }, "{path}");
        }
    }
}

/// Changes the only status of a container of a pod, and the phase of the pod.
async fn set_state(server: &Server, phase: &str, restarts: u32, state: &Value) {
    let status = json!({"phase": phase, "containerStatuses": [{
        "name": "a", "image": "i", "imageID": "", "ready": false, "restartCount": restarts, "state": state,
    }]});
    let patch = json!({"status": status}).to_string();
    let merge = [("content-type", "application/merge-patch+json")];
    let path = format!("{PODS}/p/status");
    assert_eq!(call(server, Method::PATCH, &path, &merge, &patch).await.code, 200);
}

/// BK-114: a log that is followed lasts as long as its container.
#[tokio::test]
async fn logs_are_followed_to_the_end_of_the_container() {
    let running = json!({"running": {"startedAt": "2026-01-01T00:00:00Z"}});
    let ended = json!({"terminated": {"exitCode": 0}});
    for end in ["ended", "started again", "failed", "deleted", "the server ends"] {
        let server = Server::builder().build();
        server.read_logs_by(|_, container| format!("{container} begins\n"));
        let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}});
        post(&server, "/api/v1/nodes", &node).await;
        let spec = json!({"nodeName": "n", "terminationGracePeriodSeconds": 0, "containers": [container("a")]});
        post(&server, PODS, &pod("p", &spec)).await;
        // It is not meant by the name of the first one.
        post(&server, PODS, &pod("pp", &spec)).await;
        set_state(&server, "Running", 0, &running).await;
        let other = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "o"}});
        post(&server, "/api/v1/nodes", &other).await;
        server.compact().await.unwrap();
        let mut log = std::pin::pin!(get(&server, "p/log?follow=true"));
        let mut is_over = async || {
            let time = std::time::Duration::from_millis(50);
            tokio::time::timeout(time, &mut log).await.ok().map(|log| (log.code, log.text))
        };
        assert_eq!(is_over().await, None);
        set_state(&server, "Running", 0, &running).await;
        call(&server, Method::DELETE, &format!("{PODS}/pp"), &[], "").await;
        assert_eq!(is_over().await, None, "{end}");
        match end {
            "ended" => set_state(&server, "Running", 0, &ended).await,
            "started again" => set_state(&server, "Running", 1, &running).await,
            "failed" => set_state(&server, "Failed", 0, &running).await,
            "the server ends" => server.end_watches(),
            _ => drop(call(&server, Method::DELETE, &format!("{PODS}/p"), &[], "").await),
        }
        assert_eq!(is_over().await, Some((200, "a begins\n".to_owned())), "{end}");
    }
}

#[tokio::test]
async fn options_of_logs() {
    let server = Server::builder().build();
    post(&server, PODS, &pod("p", &json!({"containers": [container("a")]}))).await;
    let parse = "strconv.ParseInt: parsing";
    for (query, code, why) in [
        ("tailLines=0&limitBytes=1&sinceSeconds=1", 204, String::new()),
        ("tailLines=x", 400, format!("{parse} \"x\": invalid syntax")),
        (
            "tailLines=-1",
            422,
            "PodLogOptions \"p\" is invalid: tailLines: Invalid value: -1: must be greater than or \
             equal to 0"
                .to_owned(),
        ),
        (
            "limitBytes=0&sinceSeconds=0",
            422,
            "PodLogOptions \"p\" is invalid: [limitBytes: Invalid value: 0: must be greater than 0, \
             sinceSeconds: Invalid value: 0: must be greater than 0]"
                .to_owned(),
        ),
        (
            "sinceSeconds=1&sinceTime=2024-01-01T00:00:00Z",
            422,
            "PodLogOptions \"p\" is invalid: []: Forbidden: at most one of `sinceTime` or \
             `sinceSeconds` may be specified"
                .to_owned(),
        ),
        (
            "stream=All",
            422,
            "PodLogOptions \"p\" is invalid: stream: Forbidden: may not be specified".to_owned(),
        ),
    ] {
        let answer = get(&server, &format!("p/log?{query}")).await;
        assert_eq!(answer.code, code, "{query}");
        if code != 204 {
            assert_eq!(answer.message(), why, "{query}");
        }
    }
}

#[tokio::test]
async fn nodes_and_services_are_not_reached() {
    let server = Server::builder().build();
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"},
        "spec": {"ports": [{"port": 80}]}});
    post(&server, "/api/v1/namespaces/default/services", &service).await;
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}});
    post(&server, "/api/v1/nodes", &node).await;
    let services = "/api/v1/namespaces/default/services";
    for (path, code, why) in [
        ("/api/v1/nodes/n/proxy/stats", 501, "the containers of simulated nodes"),
        ("/api/v1/nodes/none/proxy", 404, "nodes \"none\" not found"),
        (&format!("{services}/s/proxy/"), 503, "no endpoints available for service \"s\""),
        (&format!("{services}/https:s:80/proxy"), 503, "no endpoints available for service \"s\""),
        (&format!("{services}/none:80/proxy"), 404, "services \"none\" not found"),
        (&format!("{services}/ftp:s:80/proxy"), 400, "invalid service request \"ftp:s:80\""),
    ] {
        let answer = call(&server, Method::GET, path, &[], "").await;
        assert_eq!(answer.code, code, "{path}: {}", answer.text);
        assert!(answer.message().starts_with(why), "{path}: {}", answer.message());
    }
}

#[tokio::test]
async fn web_sockets_need_the_permission_to_create() {
    let rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
    for (kubernetes, code) in [("1.34", 400), ("1.35", 403)] {
        let builder = Server::builder().kubernetes(kubernetes.parse().unwrap());
        let server = builder.authorization_mode(AuthorizationMode::Rbac).build();
        post(&server, PODS, &pod("p", &json!({"containers": [container("a")]}))).await;
        let rules = json!([{"apiGroups": [""], "resources": ["pods/exec"], "verbs": ["get"]}]);
        let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
            "metadata": {"name": "r"}, "rules": rules});
        post(&server, &format!("{rbac}/roles"), &role).await;
        let binding = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
            "metadata": {"name": "r"}, "subjects": [{"kind": "User", "name": "ann"}],
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"}});
        post(&server, &format!("{rbac}/rolebindings"), &binding).await;
        let ann = ("Impersonate-User", "ann");
        let path = format!("{PODS}/p/exec");
        let plain = call(&server, Method::GET, &path, &[ann], "").await;
        assert_eq!(plain.code, 400);
        let upgrade = [ann, ("Connection", "Upgrade"), ("Upgrade", "websocket")];
        let answer = call(&server, Method::GET, &path, &upgrade, "").await;
        assert_eq!(answer.code, code, "{kubernetes}: {}", answer.text);
    }
}
