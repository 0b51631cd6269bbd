//! Users: those of the server, those that are impersonated, and what they may do (RE-142).

use billhook::webhook::{AuthorizationDecision, AuthorizationTarget};
use billhook_admission::{AdmissionRequest, AdmissionResponse};
use billhook_apimachinery::UserInfo;
use billhook_apiserver::Server;
use http::Method;
use serde_json::{Value, json};

use crate::support::{Answer, call, definition, text};

const FOOS: &str = "/apis/example.com/v1/namespaces/default/foos";
const ACCESS: &str = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
const OWN_ACCESS: &str = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const WHO: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

/// A server where alice may do everything, and everybody may read foos.
fn server() -> Server {
    let builder = Server::builder().definition(&definition()).unwrap();
    let builder = builder.user(UserInfo::named("bob").group("staff"));
    let builder = builder.authorizer(|user, request| {
        let is_foos = match &request.target {
            AuthorizationTarget::Resource(target) => target.resource == "foos",
            _ => false,
        };
        let is_allowed = user.username == "alice" || (is_foos && request.verb == "get");
        AuthorizationDecision::new(is_allowed)
    });
    builder.build()
}

async fn post(server: &Server, path: &str, headers: &[(&str, &str)], object: &Value) -> Answer {
    call(server, Method::POST, path, headers, &object.to_string()).await
}

fn review(spec: &Value) -> Value {
    json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec})
}

#[tokio::test]
async fn a_request_tells_who_makes_it() {
    let server = server();
    let own = post(&server, WHO, &[], &json!({})).await;
    assert_eq!(own.code, 201);
    assert_eq!(own.json()["status"], json!({"userInfo": {"username": "bob", "groups": ["staff"]}}));
    let headers = [
        ("Impersonate-User", "carol"),
        ("Impersonate-Group", "a"),
        ("Impersonate-Group", "b"),
        ("Impersonate-Uid", "7"),
        ("Impersonate-Extra-example.com%2Fscopes", "x"),
        ("Impersonate-Extra-example.com%2Fscopes", "y"),
    ];
    let other = post(&server, WHO, &headers, &json!({})).await;
    assert_eq!(
        other.json()["status"]["userInfo"],
        json!({"username": "carol", "uid": "7", "groups": ["a", "b", "system:authenticated"],
            "extra": {"example.com/scopes": ["x", "y"]}})
    );
    let account = [("Impersonate-User", "system:serviceaccount:team:robot")];
    assert_eq!(
        post(&server, WHO, &account, &json!({})).await.json()["status"]["userInfo"]["groups"],
        json!(["system:serviceaccounts", "system:serviceaccounts:team", "system:authenticated"])
    );
    let nobody = [("Impersonate-Group", "a")];
    assert_eq!(post(&server, WHO, &nobody, &json!({})).await.code, 400);
    assert_eq!(call(&server, Method::GET, FOOS, &nobody, "").await.code, 400);
    assert_eq!(call(&server, Method::GET, WHO, &[], "").await.code, 405);
}

/// AR-10: the user is a part of the review.
#[tokio::test]
async fn webhooks_see_the_user() {
    let namer = |request: &AdmissionRequest| {
        let name = &request.user_info.username;
        AdmissionResponse::allow(request)
            .patch(&json!([{"op": "add", "path": "/spec", "value": {"color": name}}]))
    };
    let builder = Server::builder().definition(&definition()).unwrap();
    let server = builder.admission_service("shop", "namer", namer).build();
    let webhook = json!({"name": "namer.example.com", "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "clientConfig": {"service": {"namespace": "shop", "name": "namer"}},
        "rules": [{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"],
            "resources": ["foos"]}]});
    let configuration = json!({"apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration", "metadata": {"name": "namer"},
        "webhooks": [webhook]});
    let path = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
    assert_eq!(post(&server, path, &[], &configuration).await.code, 201);
    let foo = json!({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "a"}});
    let created = post(&server, FOOS, &[("Impersonate-User", "carol")], &foo).await;
    assert_eq!(text(&created.json(), "/spec/color"), "carol");
}

#[tokio::test]
async fn access_reviews_are_answered() {
    let server = server();
    let attributes = |verb: &str| json!({"verb": verb, "group": "example.com", "resource": "foos"});
    let own = |verb: &str| review(&json!({"resourceAttributes": attributes(verb)}));
    let allowed = post(&server, OWN_ACCESS, &[], &own("get")).await;
    assert_eq!(allowed.code, 201);
    assert_eq!(
        allowed.text.trim_end(),
        r#"{"kind":"SelfSubjectAccessReview","apiVersion":"authorization.k8s.io/v1","metadata":{},"spec":{"resourceAttributes":{"verb":"get","group":"example.com","resource":"foos"}},"status":{"allowed":true}}"#
    );
    let is_allowed = |answer: Answer| answer.json()["status"]["allowed"].clone();
    assert_eq!(is_allowed(post(&server, OWN_ACCESS, &[], &own("delete")).await), false);
    let alice = [("Impersonate-User", "alice")];
    assert_eq!(is_allowed(post(&server, OWN_ACCESS, &alice, &own("delete")).await), true);
    let path = json!({"path": "/healthz", "verb": "get"});
    let of = |user: &str| review(&json!({"user": user, "nonResourceAttributes": path}));
    assert_eq!(is_allowed(post(&server, ACCESS, &[], &of("alice")).await), true);
    assert_eq!(is_allowed(post(&server, ACCESS, &[], &of("carol")).await), false);
    let default = Server::builder().build();
    assert_eq!(is_allowed(post(&default, ACCESS, &[], &of("carol")).await), true);
}

#[tokio::test]
async fn access_reviews_are_validated() {
    let server = server();
    let refused = post(&server, ACCESS, &[], &review(&json!({}))).await;
    assert_eq!(refused.code, 422);
    let about = "spec.resourceAttributes: Invalid value: null: exactly one of";
    assert!(refused.message().contains(about), "{}", refused.text);
    assert!(refused.message().contains("spec.user: Invalid value: \"\""), "{}", refused.text);
    let wrong = review(&json!({"user": 7}));
    assert_eq!(post(&server, ACCESS, &[], &wrong).await.code, 400);
    let headers = [("content-type", "application/vnd.kubernetes.protobuf")];
    assert_eq!(call(&server, Method::POST, ACCESS, &headers, "k8s").await.code, 400);
}

/// WM-90.
#[tokio::test]
async fn expressions_ask_the_same_authorizer() {
    let server = server();
    let admission = "/apis/admissionregistration.k8s.io/v1";
    let policy = json!({"apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "p"},
        "spec": {
            "matchConstraints": {"resourceRules": [{"operations": ["CREATE"],
                "apiGroups": ["example.com"], "apiVersions": ["v1"], "resources": ["foos"]}]},
            "validations": [
                {"expression": "authorizer.requestResource.check('paint').allowed()"}]}});
    let binding = json!({"apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": "p"},
        "spec": {"policyName": "p", "validationActions": ["Deny"]}});
    for (resource, object) in
        [("validatingadmissionpolicies", policy), ("validatingadmissionpolicybindings", binding)]
    {
        assert_eq!(post(&server, &format!("{admission}/{resource}"), &[], &object).await.code, 201);
    }
    let foo = json!({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "a"}});
    assert_eq!(post(&server, FOOS, &[], &foo).await.code, 422);
    let alice = [("Impersonate-User", "alice")];
    assert_eq!(post(&server, FOOS, &alice, &foo).await.code, 201);
}
