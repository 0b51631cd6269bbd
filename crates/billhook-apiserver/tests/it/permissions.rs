//! The permissions of users by roles, and the refusals (BK-650 to BK-654).

use billhook_apiserver::{AuthorizationMode, Server};
use http::Method;
use serde_json::{Value, json};

use crate::support::{Answer, call, definition};
use crate::users::OF_DEVS;

const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";
const DEFAULT: &str = "/api/v1/namespaces/default";

fn server() -> Server {
    let builder = Server::builder().definition(&definition()).unwrap();
    builder.authorization_mode(AuthorizationMode::Rbac).build()
}

async fn post(server: &Server, path: &str, user: &str, object: &Value) -> Answer {
    let headers = [("Impersonate-User", user)];
    let headers = if user.is_empty() { &[][..] } else { &headers };
    call(server, Method::POST, path, headers, &object.to_string()).await
}

async fn get(server: &Server, path: &str, user: &str) -> Answer {
    call(server, Method::GET, path, &[("Impersonate-User", user)], "").await
}

/// Writes a role and its binding to a subject: of the cluster, or of a namespace.
async fn grant(server: &Server, namespace: &str, name: &str, rules: Value, subject: Value) {
    let (kind, place) = match namespace {
        "" => ("ClusterRole", RBAC.to_owned()),
        namespace => ("Role", format!("{RBAC}/namespaces/{namespace}")),
    };
    let api_version = "rbac.authorization.k8s.io/v1";
    let metadata = json!({"name": name});
    let role =
        json!({"apiVersion": api_version, "kind": kind, "metadata": metadata, "rules": rules});
    let binding = json!({"apiVersion": api_version, "kind": format!("{kind}Binding"),
        "metadata": metadata, "subjects": [subject],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name}});
    for (plural, object) in [("s", role), ("bindings", binding)] {
        let path = format!("{place}/{}{plural}", kind.to_lowercase());
        assert_eq!(post(server, &path, "", &object).await.code, 201);
    }
}

fn user(name: &str) -> Value {
    json!({"kind": "User", "name": name})
}

/// BK-650: rules name verbs, groups, resources with their subresources, and names.
#[tokio::test]
async fn rules_allow_requests() {
    let server = server();
    let rules = json!([
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]},
        {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["a"], "verbs": ["*"]},
        {"apiGroups": ["apps"], "resources": ["*/scale"], "verbs": ["get"]},
    ]);
    grant(&server, "default", "r", rules, user("ann")).await;
    for (method, path, code) in [
        ("GET", "/api/v1/namespaces/default/pods", 200),
        ("HEAD", "/api/v1/namespaces/default/pods", 200),
        ("GET", "/api/v1/namespaces/default/pods/a", 404),
        ("GET", "/api/v1/namespaces/default/pods/a/log", 403),
        ("GET", "/api/v1/namespaces/default/pods?watch=1", 403),
        ("GET", "/api/v1/namespaces/kube-system/pods", 403),
        ("GET", "/api/v1/pods", 403),
        ("DELETE", "/api/v1/namespaces/default/pods/a", 403),
        ("GET", "/api/v1/namespaces/default/configmaps/a", 404),
        ("GET", "/api/v1/namespaces/default/configmaps/b", 403),
        ("GET", "/api/v1/namespaces/default/configmaps", 403),
        ("GET", "/api/v1/namespaces/default/configmaps?fieldSelector=metadata.name%3Da", 200),
        ("DELETE", "/api/v1/namespaces/default/configmaps?fieldSelector=metadata.name%3Da", 403),
        ("GET", "/apis/apps/v1/namespaces/default/deployments/a/scale", 404),
        ("GET", "/apis/apps/v1/namespaces/default/deployments/a", 403),
        ("GET", "/healthz", 403),
    ] {
        let headers = [("Impersonate-User", "ann")];
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        assert_eq!(call(&server, method, path, &headers, "").await.code, code, "{path}");
    }
    // Those who may do everything need no role.
    assert_eq!(call(&server, Method::GET, &format!("{DEFAULT}/secrets"), &[], "").await.code, 200);
}

/// BK-650: groups and service accounts are bound as users are; paths end in any rest.
#[tokio::test]
async fn groups_and_service_accounts_are_bound() {
    let server = server();
    let rules = json!([
        {"apiGroups": ["example.com"], "resources": ["foos"], "verbs": ["list"]},
        {"nonResourceURLs": ["/version", "/openapi/*"], "verbs": ["get"]},
    ]);
    let group = json!({"kind": "Group", "name": "system:serviceaccounts:default"});
    grant(&server, "", "of-group", rules.clone(), group).await;
    let account = json!({"kind": "ServiceAccount", "name": "a", "namespace": "kube-system"});
    grant(
        &server,
        "default",
        "of-account",
        json!([{"apiGroups": ["example.com"],
        "resources": ["*"], "verbs": ["list"]}]),
        account,
    )
    .await;
    let (all, here) = ("/apis/example.com/v1/foos", "/apis/example.com/v1/namespaces/default/foos");
    for (user, path, code) in [
        ("system:serviceaccount:default:x", all, 200),
        ("system:serviceaccount:default:x", "/version", 200),
        ("system:serviceaccount:default:x", "/openapi/v3", 200),
        ("system:serviceaccount:default:x", "/openapi", 403),
        ("system:serviceaccount:kube-system:a", here, 200),
        ("system:serviceaccount:kube-system:a", all, 403),
        ("system:serviceaccount:kube-system:b", here, 403),
    ] {
        assert_eq!(get(&server, path, user).await.code, code, "{user} {path}");
    }
}

/// BK-651: refusals come before anything else is said.
#[tokio::test]
async fn refusals_say_what_is_missing() {
    let server = server();
    for (path, message) in [
        (
            "/api/v1/namespaces/default/pods",
            "pods is forbidden: User \"bob\" cannot list resource \"pods\" in API group \"\" in the namespace \"default\"",
        ),
        (
            "/apis/none.io/v1/none/a",
            "none.none.io \"a\" is forbidden: User \"bob\" cannot get resource \"none\" in API group \"none.io\" at the cluster scope",
        ),
        (
            "/api/v1/namespaces/x",
            "namespaces \"x\" is forbidden: User \"bob\" cannot get resource \"namespaces\" in API group \"\" in the namespace \"x\"",
        ),
        ("/nothing/at/all", "forbidden: User \"bob\" cannot get path \"/nothing/at/all\""),
    ] {
        let refused = get(&server, path, "bob").await;
        assert_eq!((refused.code, refused.message()), (403, message.to_owned()));
    }
    let binding = json!({"apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding", "metadata": {"name": "b"}, "subjects": [user("bob")],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
            "name": "gone"}});
    assert_eq!(post(&server, &format!("{RBAC}/clusterrolebindings"), "", &binding).await.code, 201);
    let refused = get(&server, "/version", "bob").await;
    assert_eq!(
        refused.message(),
        "forbidden: User \"bob\" cannot get path \"/version\": RBAC: \
         clusterrole.rbac.authorization.k8s.io \"gone\" not found"
    );
}

/// BK-652.
#[tokio::test]
async fn nobody_grants_more_than_they_have() {
    let server = server();
    let rules = json!([
        {"apiGroups": ["rbac.authorization.k8s.io"], "verbs": ["create", "patch"],
            "resources": ["roles", "rolebindings", "clusterroles"]},
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]},
    ]);
    grant(&server, "", "editor", rules, user("eve")).await;
    let bind = json!([{"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterroles"],
        "resourceNames": ["nodes"], "verbs": ["bind"]}]);
    grant(&server, "", "binder", bind, user("eve")).await;
    let nodes = json!([{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get"]}]);
    grant(&server, "", "nodes", nodes.clone(), user("dan")).await;
    grant(&server, "", "other", nodes, user("dan")).await;
    let place = format!("{RBAC}/namespaces/default");
    let role = |name: &str, verbs: &[&str]| {
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
            "metadata": {"name": name},
            "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": verbs}]})
    };
    let binding = |name: &str, kind: &str, role: &str| {
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
            "metadata": {"name": name}, "subjects": [user("x")],
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role}})
    };
    let (roles, bindings) = (format!("{place}/roles"), format!("{place}/rolebindings"));
    assert_eq!(post(&server, &roles, "eve", &role("held", &["get"])).await.code, 201);
    let refused = post(&server, &roles, "eve", &role("more", &["get", "delete"])).await;
    assert_eq!(
        (refused.code, refused.message()),
        (
            403,
            "roles.rbac.authorization.k8s.io \"more\" is forbidden: user \"eve\" \
            (groups=[\"system:authenticated\"]) is attempting to grant RBAC permissions not \
            currently held:\n{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"delete\"]}"
                .to_owned()
        )
    );
    assert_eq!(post(&server, &bindings, "eve", &binding("a", "Role", "held")).await.code, 201);
    assert_eq!(
        post(&server, &bindings, "eve", &binding("b", "ClusterRole", "nodes")).await.code,
        201
    );
    assert_eq!(
        post(&server, &bindings, "eve", &binding("c", "ClusterRole", "other")).await.code,
        403
    );
    assert_eq!(post(&server, &bindings, "eve", &binding("d", "Role", "gone")).await.code, 404);
    let aggregated = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": {"name": "all"}, "aggregationRule": {"clusterRoleSelectors":
            [{"matchLabels": {"a": "b"}}]}});
    let refused = post(&server, &format!("{RBAC}/clusterroles"), "eve", &aggregated).await;
    assert!(
        refused
            .message()
            .ends_with("must have cluster-admin privileges to use the aggregationRule")
    );
    // What stays as it is needs no permission.
    let headers = [("Impersonate-User", "eve"), ("content-type", "application/merge-patch+json")];
    let labels = json!({"metadata": {"labels": {"a": "b"}}}).to_string();
    let path = format!("{RBAC}/clusterroles/other");
    assert_eq!(call(&server, Method::PATCH, &path, &headers, &labels).await.code, 200);
}

/// Who impersonates another user must be allowed to, for each part of the other's identity.
#[tokio::test]
async fn impersonation_needs_permission() {
    let builder = Server::builder().authorization_mode(AuthorizationMode::Rbac);
    let server = builder.user(billhook_apimachinery::UserInfo::named("gate")).build();
    let refused = get(&server, "/version", "ann").await;
    assert_eq!(
        (refused.code, refused.message()),
        (
            403,
            "users \"ann\" is forbidden: User \"gate\" cannot impersonate resource \"users\" in \
            API group \"\" at the cluster scope"
                .to_owned()
        )
    );
}

/// BK-654: reviews say what requests meet, and whose role it is.
#[tokio::test]
async fn reviews_ask_roles() {
    let server = server();
    let rules = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]);
    grant(&server, "default", "r", rules, user("ann")).await;
    let review = |namespace: &str| {
        json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
            "spec": {"user": "ann", "resourceAttributes":
                {"verb": "get", "resource": "pods", "namespace": namespace}}})
    };
    let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    assert_eq!(
        post(&server, path, "", &review("default")).await.json()["status"],
        json!({"allowed": true, "reason":
            "RBAC: allowed by RoleBinding \"r/default\" of Role \"r\" to User \"ann\""})
    );
    assert_eq!(
        post(&server, path, "", &review("x")).await.json()["status"],
        json!({"allowed": false})
    );
}

/// BK-487: who decides about a request for a certificate, or signs it, needs the verb for its signer.
#[tokio::test]
async fn signers_are_asked_for() {
    const REQUESTS: &str = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
    let server = server();
    let resources = ["approval", "status"].map(|part| format!("certificatesigningrequests/{part}"));
    let group = json!(["certificates.k8s.io"]);
    let rules = json!([{"apiGroups": group, "resources": resources, "verbs": ["update"]}]);
    let all = json!({"kind": "Group", "name": "system:authenticated"});
    grant(&server, "", "requests", rules, all).await;
    for (who, verb, signer) in [
        ("ann", "approve", "example.com/clients"),
        ("bea", "approve", "example.com/*"),
        ("cy", "approve", "example.org/*"),
        ("dan", "sign", "example.com/clients"),
    ] {
        let rules = json!([{"apiGroups": group, "resources": ["signers"],
            "resourceNames": [signer], "verbs": [verb]}]);
        grant(&server, "", who, rules, user(who)).await;
    }
    let encoded = billhook_apimachinery::base64::encode(OF_DEVS.as_bytes());
    let spec = json!({"request": encoded, "signerName": "example.com/clients",
        "usages": ["client auth"]});
    let request = json!({"apiVersion": "certificates.k8s.io/v1",
        "kind": "CertificateSigningRequest", "metadata": {"name": "a"}, "spec": spec});
    let mut request = post(&server, REQUESTS, "", &request).await.json();

    let refusal = |who: &str, verb: &str| {
        format!(
            "certificatesigningrequests.certificates.k8s.io \"a\" is forbidden: user \"{who}\" \
             cannot {verb} requests for signer \"example.com/clients\""
        )
    };
    let condition = |type_: &str| json!([{"type": type_, "status": "True", "reason": "x"}]);
    for (who, part, verb, type_, may) in [
        ("ann", "approval", "approve", "Approved", true),
        ("bea", "approval", "approve", "Denied", true),
        ("cy", "approval", "approve", "Approved", false),
        ("dan", "approval", "approve", "Approved", false),
        ("dan", "status", "sign", "Failed", true),
        ("ann", "status", "sign", "Failed", false),
    ] {
        request["status"]["conditions"] = condition(type_);
        let path = format!("{REQUESTS}/a/{part}?dryRun=All");
        let headers = [("Impersonate-User", who)];
        let answer = call(&server, Method::PUT, &path, &headers, &request.to_string()).await;
        let wanted = if may { (200, String::new()) } else { (403, refusal(who, verb)) };
        assert_eq!((answer.code, answer.message()), wanted, "{who} {part}: {}", answer.text);
    }

    // What signers do not say needs no verb.
    request["status"] = json!({});
    request["metadata"]["labels"] = json!({"a": "b"});
    let path = format!("{REQUESTS}/a/status");
    let headers = [("Impersonate-User", "cy")];
    let answer = call(&server, Method::PUT, &path, &headers, &request.to_string()).await;
    assert_eq!(answer.code, 200, "{}", answer.text);
}

/// A fork has the roles of its origin, and then its own.
#[tokio::test]
async fn forks_have_their_own_roles() {
    let server = server();
    let rules = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}]);
    grant(&server, "", "a", rules.clone(), user("ann")).await;
    let fork = server.fork();
    grant(&fork, "", "b", rules, user("bob")).await;
    let pods = format!("{DEFAULT}/pods");
    assert_eq!(get(&fork, &pods, "ann").await.code, 200);
    assert_eq!(get(&fork, &pods, "bob").await.code, 200);
    assert_eq!(get(&server, &pods, "bob").await.code, 403);
}

/// ET-61: nothing is allowed, but to those who may do everything.
#[tokio::test]
async fn everything_may_be_forbidden() {
    let server = Server::builder().authorization_mode(AuthorizationMode::AlwaysDeny).build();
    assert_eq!(get(&server, "/version", "ann").await.code, 403);
    assert_eq!(call(&server, Method::GET, "/version", &[], "").await.code, 200);
}
