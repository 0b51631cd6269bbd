//! Users: those of the server, those that are impersonated, and what they may do (RE-142).

use billhook::webhook::{AuthorizationDecision, AuthorizationRequest, AuthorizationTarget};
use billhook_admission::{AdmissionRequest, AdmissionResponse};
use billhook_apimachinery::UserInfo;
use billhook_apiserver::Server;
use http::Method;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tower_service::Service as _;

use crate::support::{Answer, call, definition, text};

const FOOS: &str = "/apis/example.com/v1/namespaces/default/foos";
const ACCESS: &str = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
const OWN_ACCESS: &str = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const WHO: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

/// A server where alice may do everything, and everyone may read foos.
fn server() -> Server {
    let builder = Server::builder().definition(&definition()).unwrap();
    let builder = builder.user(UserInfo::named("bob").group("staff"));
    let builder = builder.review_authorizer(|user, request| {
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

/// ET-31: who passes a request on says who makes it; impersonation goes on from there.
#[tokio::test]
async fn a_request_may_carry_its_user() {
    let request = http::Request::post(WHO).extension(UserInfo::named("dora").group("team"));
    let mut server = server();
    let response = server.call(request.body("{}".to_owned()).unwrap()).await.unwrap();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let review: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(review["status"], json!({"userInfo": {"username": "dora", "groups": ["team"]}}));
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

/// Names are UTF-8, as those of a server; what cannot be read is refused.
#[tokio::test]
async fn names_of_users_need_not_be_ascii() {
    let server = server();
    let info = async |headers: &[(&str, &[u8])]| {
        let mut request = http::Request::post(WHO);
        for (name, value) in headers {
            let value = http::HeaderValue::from_bytes(value).unwrap();
            request = request.header(*name, value);
        }
        let answer = server.clone().call(request.body("{}".to_owned()).unwrap()).await.unwrap();
        let code = answer.status().as_u16();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        let body: Value = serde_json::from_slice(&body).unwrap();
        (code, body["status"]["userInfo"].clone())
    };
    let user = ("Impersonate-User", "jürgen".as_bytes());
    let rest = [
        ("Impersonate-Group", "dév".as_bytes()),
        ("Impersonate-Uid", "é".as_bytes()),
        ("Impersonate-Extra-a", "ü".as_bytes()),
    ];
    let (code, read) = info(&[user, rest[0], rest[1], rest[2]]).await;
    assert_eq!(code, 201);
    assert_eq!(
        read,
        json!({"username": "jürgen", "uid": "é", "groups": ["dév", "system:authenticated"],
            "extra": {"a": ["ü"]}})
    );
    assert_eq!(info(&[("Impersonate-User", b"\xff")]).await.0, 400);
    for (name, _) in rest {
        assert_eq!(info(&[user, (name, b"\xff")]).await.0, 400, "{name}");
        assert_eq!(info(&[(name, b"\xff")]).await.0, 400, "{name}");
    }
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
    let own = |verb: &str| {
        let mut review = review(&json!({"resourceAttributes": attributes(verb)}));
        review["kind"] = "SelfSubjectAccessReview".into();
        review
    };
    let allowed = post(&server, OWN_ACCESS, &[], &own("get")).await;
    assert_eq!(allowed.code, 201);
    let (begin, end) = (
        r#"{"kind":"SelfSubjectAccessReview","apiVersion":"authorization.k8s.io/v1","metadata":{"#,
        r#""spec":{"resourceAttributes":{"verb":"get","group":"example.com","resource":"foos"}},"status":{"allowed":true}}"#,
    );
    assert!(allowed.text.starts_with(begin) && allowed.text.trim_end().ends_with(end));
    assert_eq!(
        allowed.json()["metadata"]["managedFields"][0]["fieldsV1"],
        json!({"f:spec": {"f:resourceAttributes":
            {".": {}, "f:group": {}, "f:resource": {}, "f:verb": {}}}})
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

/// PO-18: who writes policies has to be able to read their parameters.
#[tokio::test]
async fn policies_need_permission_for_their_parameters() {
    let decide = |user: &UserInfo, request: &AuthorizationRequest| {
        let AuthorizationTarget::Resource(target) = &request.target else {
            return AuthorizationDecision::new(false);
        };
        let asked = [&request.verb, &target.resource, &target.namespace, &target.name];
        let allowed = match user.username.as_str() {
            "reader" => asked == ["get", "configmaps", "*", "*"],
            "lister" => asked == ["list", "configmaps", "team", ""],
            _ => false,
        };
        AuthorizationDecision::new(allowed)
    };
    let server = Server::builder().review_authorizer(decide).build();
    let root = "/apis/admissionregistration.k8s.io/v1";
    let rule = json!({"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"],
        "resources": ["*"]});
    let policy = |name: &str, kind: &str| {
        json!({"apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingAdmissionPolicy", "metadata": {"name": name},
            "spec": {"paramKind": {"apiVersion": "v1", "kind": kind},
                "matchConstraints": {"resourceRules": [rule]},
                "validations": [{"expression": "true"}]}})
    };
    let binding = |policy: &str, reference: Value| {
        json!({"apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": "b"},
            "spec": {"policyName": policy, "paramRef": reference, "validationActions": ["Deny"]}})
    };
    let write = async |user: &str, document: &Value| {
        let is_policy = document["kind"] == "ValidatingAdmissionPolicy";
        let plural = if is_policy { "ies" } else { "ybindings" };
        let path = format!("{root}/validatingadmissionpolic{plural}?dryRun=All");
        let headers = [("Impersonate-User", user), ("Impersonate-Uid", "1")];
        let answer = post(&server, &path, &headers, document).await;
        let error = answer.message().split_once(" is invalid: ").map(|(_, error)| error.to_owned());
        (answer.code, error.unwrap_or_default())
    };
    let refusal = |text: &str| (422, text.replace("USER", "&{bob 1 [system:authenticated] map[]}"));
    let created = (201, String::new());
    assert_eq!(
        write("bob", &policy("p", "Thing")).await,
        refusal(
            "spec.paramKind: Forbidden: user USER must have \"get\" permission on all objects of \
             the referenced paramKind (kind=Thing, apiVersion=v1)"
        )
    );
    assert_eq!(write("reader", &policy("p", "ConfigMap")).await, created);
    let named = json!({"name": "x", "namespace": "team", "parameterNotFoundAction": "Deny"});
    assert_eq!(
        write("bob", &binding("p", named.clone())).await,
        refusal(
            "spec.paramRef: Forbidden: unable to get policy p to determine minimum required \
             permissions and user USER does not have \"get\" permission for all groups, versions \
             and resources"
        )
    );
    // The server's own user is one of those who may do everything.
    let path = format!("{root}/validatingadmissionpolicies");
    assert_eq!(post(&server, &path, &[], &policy("p", "ConfigMap")).await.code, 201);
    assert_eq!(
        write("bob", &binding("p", named)).await,
        refusal(
            "spec.paramRef: Forbidden: user USER does not have \"get\" permission on the object \
             referenced by paramRef"
        )
    );
    let all = json!({"selector": {}, "namespace": "team", "parameterNotFoundAction": "Deny"});
    assert_eq!(write("lister", &binding("p", all)).await, created);
    // What stays as it was needs no permission.
    let headers = [("Impersonate-User", "bob"), ("content-type", "application/merge-patch+json")];
    let patch = json!({"metadata": {"labels": {"a": "b"}}}).to_string();
    let path = format!("{path}/p");
    assert_eq!(call(&server, Method::PATCH, &path, &headers, &patch).await.code, 200);
}

/// Of `/O=devs/O=system:masters/CN=x`.
const OF_MASTERS: &str = "-----BEGIN CERTIFICATE REQUEST-----
MIGzMGcCAQAwNDENMAsGA1UECgwEZGV2czEXMBUGA1UECgwOc3lzdGVtOm1hc3Rl
cnMxCjAIBgNVBAMMAXgwKjAFBgMrZXADIQCwVb7CiuE9oLlLGokpB8cIm5hTy0JT
OtB01L9NZXEFd6AAMAUGAytlcANBAHjc7h4EmYRpHId8iyZweJfgW3asPnmz8gmf
jxN4lSuoghHfZQ29eqc6bh7Q0AI5oDqRKAu8BgzpFkC0mm6lggU=
-----END CERTIFICATE REQUEST-----
";

/// Of `/O=devs/CN=system:masters`.
pub(crate) const OF_DEVS: &str = "-----BEGIN CERTIFICATE REQUEST-----
MIGnMFsCAQAwKDENMAsGA1UECgwEZGV2czEXMBUGA1UEAwwOc3lzdGVtOm1hc3Rl
cnMwKjAFBgMrZXADIQDMduJooVaEd0/bdndWeT2qSd3NozQABYd+uBfsoI47U6AA
MAUGAytlcANBAPQHBZ2iIplyNMOLPCZtrRvw64dHnIfYBXawBztPY3KaD/2N5FFt
LfVSl0gYZn3zmAo8C+omntjFDECepWDYDAY=
-----END CERTIFICATE REQUEST-----
";

/// BK-487: the server gives no certificate to clients that may do everything.
#[tokio::test]
async fn the_group_of_masters_has_no_certificates() {
    let server = Server::builder().build();
    let cut = OF_MASTERS.replacen("MIGz", "MIG/", 1);
    let refusal = "certificatesigningrequests.certificates.k8s.io \"a\" is forbidden: use of \
                   kubernetes.io/kube-apiserver-client signer with system:masters group is not \
                   allowed";
    for (pem, signer, message) in [
        (OF_MASTERS, "kubernetes.io/kube-apiserver-client", refusal),
        (OF_MASTERS, "example.com/clients", ""),
        (OF_DEVS, "kubernetes.io/kube-apiserver-client", ""),
        (cut.as_str(), "kubernetes.io/kube-apiserver-client", ""),
    ] {
        let encoded = billhook_apimachinery::base64::encode(pem.as_bytes());
        let request = json!({"apiVersion": "certificates.k8s.io/v1",
            "kind": "CertificateSigningRequest", "metadata": {"name": "a"},
            "spec": {"request": encoded, "signerName": signer, "usages": ["client auth"]}});
        let path = "/apis/certificates.k8s.io/v1/certificatesigningrequests?dryRun=All";
        let answer = call(&server, Method::POST, path, &[], &request.to_string()).await;
        let code = if message.is_empty() { 201 } else { 403 };
        assert_eq!((answer.code, answer.message()), (code, message.to_owned()));
    }
}

/// RE-142.
#[tokio::test]
async fn a_server_acts_as_a_user() {
    let server = server();
    let name = async |server: &Server, headers: &[(&str, &str)]| {
        let answer = post(server, WHO, headers, &json!({})).await;
        text(&answer.json(), "/status/userInfo/username")
    };
    let carol = server.acting_as(UserInfo::named("carol"));
    assert_eq!(name(&server, &[]).await, "bob");
    assert_eq!(name(&carol, &[]).await, "carol");
    assert_eq!(name(&carol.fork(), &[]).await, "carol");
    assert_eq!(name(&carol.acting_as(UserInfo::named("dave")), &[]).await, "dave");
    assert_eq!(name(&carol, &[("Impersonate-User", "erin")]).await, "erin");
    let request = http::Request::post(WHO).extension(UserInfo::named("frank"));
    let request = request.body("{}".to_owned()).unwrap();
    let Ok(response) = carol.clone().call(request).await;
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(text(&body, "/status/userInfo/username"), "frank");
}

/// BK-651, RE-142.
#[tokio::test]
async fn an_authorizer_decides_on_requests() {
    let decide = |user: &UserInfo, request: &AuthorizationRequest| {
        AuthorizationDecision::new(user.username == "alice" || request.verb == "get")
    };
    let builder = Server::builder().request_authorizer(decide);
    let server = builder.definition(&definition()).unwrap().build();
    server.load_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}").await.unwrap();
    let code =
        async |server: &Server, path: &str| call(server, Method::GET, path, &[], "").await.code;
    let [alice, bob] = ["alice", "bob"].map(|name| server.acting_as(UserInfo::named(name)));
    for (server, path, expected) in [
        (&server, FOOS, 200),
        (&alice, FOOS, 200),
        (&bob, FOOS, 403),
        (&bob, "/api/v1/namespaces/default/configmaps/a", 200),
        (&bob, "/version", 200),
        (&bob.fork(), FOOS, 403),
    ] {
        assert_eq!(code(server, path).await, expected, "{server:?} {path}");
    }
    let refused = call(&bob, Method::GET, FOOS, &[], "").await;
    assert_eq!(
        refused.message(),
        "foos.example.com is forbidden: User \"bob\" cannot list resource \"foos\" in API group \
         \"example.com\" in the namespace \"default\""
    );
    let impersonated = [("Impersonate-User", "alice")];
    assert_eq!(call(&bob, Method::GET, FOOS, &impersonated, "").await.code, 403);
    for (name, expected) in [("alice", true), ("bob", false)] {
        let asked = json!({"user": name,
            "resourceAttributes": {"verb": "list", "group": "example.com", "resource": "foos"}});
        let answer = post(&server, ACCESS, &[], &review(&asked)).await;
        assert_eq!(answer.json()["status"]["allowed"], expected);
    }
}

/// Nothing of the objects gets into logs by accident.
#[tokio::test]
async fn a_server_shows_no_objects_when_it_is_debugged() {
    let server = server();
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {key: hidden}";
    server.load_text(secret).await.unwrap();
    let shown = format!("{:?}", server.acting_as(UserInfo::named("carol")));
    assert!(shown.contains("carol") && !shown.contains("aGlkZGVu"), "{shown}");
}
