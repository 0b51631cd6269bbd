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
