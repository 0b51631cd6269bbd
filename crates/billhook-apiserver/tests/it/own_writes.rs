//! Policies and webhooks see what the server's own controllers write: the garbage collector and the end of
//! namespaces (CP-01, CP-06, CP-11 to CP-13).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::Duration;

use billhook_admission::{AdmissionRequest, AdmissionResponse};
use billhook_apiserver::{AuthorizationMode, Server};
use http::Method;
use serde_json::{Value, json};
use tokio::runtime::Builder;

use crate::support::{Answer, bound_policy, call, text};

const REGISTRATION: &str = "/apis/admissionregistration.k8s.io/v1";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const NAMESPACES: &str = "/api/v1/namespaces";
const COLLECTOR: &str = "system:serviceaccount:kube-system:generic-garbage-collector";
const OF_NAMESPACES: &str = "system:serviceaccount:kube-system:namespace-controller";

async fn post(server: &Server, path: &str, object: &Value) -> Answer {
    let created = call(server, Method::POST, path, &[], &object.to_string()).await;
    assert_eq!(created.code, 201, "{}", created.text);
    created
}

async fn delete(server: &Server, path: &str, policy: &str) {
    let options = json!({"propagationPolicy": policy}).to_string();
    let deleted = call(server, Method::DELETE, path, &[], &options).await;
    assert_eq!(deleted.code, 200, "{}", deleted.text);
}

async fn get(server: &Server, path: &str) -> Answer {
    call(server, Method::GET, path, &[], "").await
}

/// Creates a config map, and returns the reference of those that it owns.
async fn create(server: &Server, name: &str, owners: &[&Value]) -> Value {
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "ownerReferences": owners}});
    let uid = text(&post(server, MAPS, &object).await.json(), "/metadata/uid");
    json!({"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid})
}

/// Refuses what a user does to config maps.
async fn refuse(server: &Server, user: &str, operation: &str) {
    let rules = json!([{"apiGroups": [""], "apiVersions": ["v1"], "operations": [operation],
        "resources": ["configmaps"]}]);
    let spec = json!({"matchConstraints": {"resourceRules": rules},
        "validations": [{"expression": format!("request.userInfo.username != '{user}'")}]});
    let [policy, binding] = bound_policy(&spec, "Deny");
    post(server, &format!("{REGISTRATION}/validatingadmissionpolicies"), &policy).await;
    post(server, &format!("{REGISTRATION}/validatingadmissionpolicybindings"), &binding).await;
}

async fn allow(server: &Server) {
    delete(server, &format!("{REGISTRATION}/validatingadmissionpolicybindings/b"), "Background")
        .await;
}

/// A dependent whose deletion is refused stays, and goes as soon as nothing refuses it any more.
#[tokio::test]
async fn the_collector_is_refused_by_policies() {
    let server = Server::builder().collect_garbage().build();
    let owner = create(&server, "owner", &[]).await;
    let child = create(&server, "child", &[&owner]).await;
    create(&server, "grandchild", &[&child]).await;
    refuse(&server, COLLECTOR, "DELETE").await;
    delete(&server, &format!("{MAPS}/owner"), "Background").await;
    let path = format!("{MAPS}/child");
    assert_eq!(get(&server, &path).await.code, 200);
    allow(&server).await;
    assert_eq!(get(&server, &path).await.code, 404);
    assert_eq!(get(&server, &format!("{MAPS}/grandchild")).await.code, 404);
}

/// An owner that lets go of its dependents stays as long as one cannot be changed.
#[tokio::test]
async fn owners_wait_for_refused_changes() {
    let server = Server::builder().collect_garbage().build();
    let owner = create(&server, "owner", &[]).await;
    create(&server, "child", &[&owner]).await;
    refuse(&server, COLLECTOR, "UPDATE").await;
    delete(&server, &format!("{MAPS}/owner"), "Orphan").await;
    let waiting = get(&server, &format!("{MAPS}/owner")).await.json();
    assert_eq!(waiting["metadata"]["finalizers"], json!(["orphan"]));
    allow(&server).await;
    assert_eq!(get(&server, &format!("{MAPS}/owner")).await.code, 404);
    let child = get(&server, &format!("{MAPS}/child")).await.json();
    assert_eq!(child["metadata"].get("ownerReferences"), None);
}

/// BK-652: the collector gives no permissions when it takes an owner away from a role.
#[tokio::test]
async fn the_collector_needs_no_permissions_of_roles() {
    let builder = Server::builder().authorization_mode(AuthorizationMode::Rbac);
    let server = builder.collect_garbage().build();
    let roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    let labels = json!({"matchLabels": {"a": "b"}});
    let mut role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": {"name": "owner"}, "aggregationRule": {"clusterRoleSelectors": [labels]}});
    let uid = text(&post(&server, roles, &role).await.json(), "/metadata/uid");
    let owner = json!({"apiVersion": role["apiVersion"], "kind": "ClusterRole", "name": "owner",
        "uid": uid});
    role["metadata"] = json!({"name": "child", "ownerReferences": [owner]});
    post(&server, roles, &role).await;
    delete(&server, &format!("{roles}/owner"), "Orphan").await;
    assert_eq!(get(&server, &format!("{roles}/owner")).await.code, 404);
    let child = get(&server, &format!("{roles}/child")).await.json();
    assert_eq!(child["metadata"].get("ownerReferences"), None);
}

/// A namespace stays as long as something in it cannot be deleted.
#[tokio::test]
async fn namespaces_wait_for_refused_deletions() {
    let server = Server::builder().build();
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}});
    post(&server, NAMESPACES, &namespace).await;
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
    let maps = format!("{NAMESPACES}/shop/configmaps");
    post(&server, &maps, &map).await;
    refuse(&server, OF_NAMESPACES, "DELETE").await;
    let shop = format!("{NAMESPACES}/shop");
    delete(&server, &shop, "Background").await;
    assert_eq!(text(&get(&server, &shop).await.json(), "/status/phase"), "Terminating");
    assert_eq!(get(&server, &format!("{maps}/a")).await.code, 200);
    allow(&server).await;
    assert_eq!(get(&server, &shop).await.code, 404);
}

/// Configures the webhook of the service `seer` for the deletion of config maps.
async fn ask_about_deletions(server: &Server) {
    let rules = json!([{"operations": ["DELETE"], "apiGroups": [""], "apiVersions": ["v1"],
        "resources": ["configmaps"]}]);
    let hook = json!({"name": "seer.example.com", "sideEffects": "None",
        "admissionReviewVersions": ["v1"], "rules": rules,
        "clientConfig": {"service": {"namespace": "shop", "name": "seer"}}});
    let configuration = json!({"apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "seer"}, "webhooks": [hook]});
    post(server, &format!("{REGISTRATION}/validatingwebhookconfigurations"), &configuration).await;
}

/// A server whose collector is refused so many deletions of dependents by a webhook.
fn refusing(count: usize) -> Server {
    let refusals = AtomicUsize::new(0);
    let webhook = move |request: &AdmissionRequest| {
        let is_refused =
            request.name.starts_with("child") && refusals.fetch_add(1, Ordering::Relaxed) < count;
        match is_refused {
            true => AdmissionResponse::deny(request, "not yet"),
            false => AdmissionResponse::allow(request),
        }
    };
    Server::builder().collect_garbage().admission_service("shop", "seer", webhook).build()
}

/// CP-02: what a webhook refuses is asked for again, without another request.
#[tokio::test(start_paused = true)]
async fn what_is_refused_is_tried_again() {
    let server = refusing(3);
    let owner = create(&server, "owner", &[]).await;
    create(&server, "child", &[&owner]).await;
    ask_about_deletions(&server).await;
    delete(&server, &format!("{MAPS}/owner"), "Background").await;
    let path = format!("{MAPS}/child");
    assert_eq!(get(&server, &path).await.code, 200);
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(get(&server, &path).await.code, 404);
}

/// The same, also if the runtime has ended in which it was refused first.
#[test]
fn what_is_refused_is_tried_again_in_another_runtime() {
    let server = refusing(2);
    let runtime = || Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    let refuse = async |owner: &str, child: &str| {
        let reference = create(&server, owner, &[]).await;
        create(&server, child, &[&reference]).await;
        delete(&server, &format!("{MAPS}/{owner}"), "Background").await;
        assert_eq!(get(&server, &format!("{MAPS}/{child}")).await.code, 200);
    };
    runtime().block_on(async {
        ask_about_deletions(&server).await;
        refuse("owner", "child").await;
    });
    runtime().block_on(async {
        refuse("other-owner", "child-of-other").await;
        tokio::time::sleep(Duration::from_secs(60)).await;
        for child in ["child", "child-of-other"] {
            assert_eq!(get(&server, &format!("{MAPS}/{child}")).await.code, 404, "{child}");
        }
    });
}

/// A server whose collector is seen by a webhook, which answers each deletion only after the
/// deletion of another object with a dependent.
#[tokio::test]
async fn webhooks_write_while_the_collector_waits() {
    static SERVER: OnceLock<Server> = OnceLock::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let users = Arc::clone(&seen);
    let webhook = move |request: &AdmissionRequest| {
        let name = &request.name;
        users.lock().unwrap().push(format!("{} {name}", request.user_info.username));
        if name == "child" {
            let (sender, done) = mpsc::channel();
            thread::spawn(move || {
                let runtime = Builder::new_current_thread().enable_all().build().unwrap();
                let path = format!("{MAPS}/other");
                let deletion = call(SERVER.get().unwrap(), Method::DELETE, &path, &[], "");
                sender.send(runtime.block_on(deletion).code)
            });
            // Only a server that waits for this answer does not answer itself.
            assert_eq!(done.recv_timeout(Duration::from_secs(60)), Ok(200));
        }
        AdmissionResponse::allow(request)
    };
    let builder = Server::builder().collect_garbage();
    let server = SERVER.get_or_init(|| builder.admission_service("shop", "seer", webhook).build());
    let [owner, other] = [create(server, "owner", &[]).await, create(server, "other", &[]).await];
    create(server, "child", &[&owner]).await;
    create(server, "other-child", &[&other]).await;
    ask_about_deletions(server).await;
    delete(server, &format!("{MAPS}/owner"), "Background").await;
    for name in ["owner", "child", "other", "other-child"] {
        assert_eq!(get(server, &format!("{MAPS}/{name}")).await.code, 404, "{name}");
    }
    let seen = seen.lock().unwrap();
    let wanted = [
        "system:admin owner".to_owned(),
        format!("{COLLECTOR} child"),
        "system:admin other".to_owned(),
        format!("{COLLECTOR} other-child"),
    ];
    assert_eq!(*seen, wanted);
}
