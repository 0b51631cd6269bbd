//! Tokens of service accounts: made, accepted, and ended (BK-253, ET-34).

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use billhook::Time;
use billhook_apimachinery::UserInfo;
use billhook_apimachinery::base64::decode_url;
use billhook_apiserver::{Presence, Server, ServiceAccountTokens, TokenKeyError};
use http::Method;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tower_service::Service as _;

use crate::support::{Answer, call, text};

const ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";
const ISSUER: &str = "https://127.0.0.1:6443/";

fn key(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/keys").join(name);
    std::fs::read(path).unwrap()
}

fn tokens() -> ServiceAccountTokens {
    ServiceAccountTokens::default().issuers([ISSUER.to_owned()])
}

async fn post(server: &Server, path: &str, object: Value) -> Answer {
    call(server, Method::POST, path, &[], &object.to_string()).await
}

/// Creates an account, and a token of it.
async fn token(server: &Server, name: &str, spec: Value) -> String {
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}});
    assert!([201, 409].contains(&post(server, ACCOUNTS, account).await.code));
    let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
        "spec": spec});
    let made = post(server, &format!("{ACCOUNTS}/{name}/token"), request).await;
    assert_eq!(made.code, 201, "{}", made.text);
    text(&made.json(), "/status/token")
}

fn claims(token: &str) -> Value {
    let part = token.split('.').nth(1).unwrap();
    serde_json::from_slice(&decode_url(part).unwrap()).unwrap()
}

/// BK-253: a request need not say what it is; the answer does.
#[tokio::test]
async fn requests_without_a_type_are_read() {
    let server = Server::builder().build();
    token(&server, "robot", json!({})).await;
    let path = format!("{ACCOUNTS}/robot/token");
    let made = post(&server, &path, json!({"spec": {}})).await;
    assert_eq!(made.code, 201, "{}", made.text);
    let begin = r#"{"kind":"TokenRequest","apiVersion":"authentication.k8s.io/v1","metadata":{"#;
    assert!(made.text.starts_with(begin), "{}", made.text);
}

/// BK-253: a token says whose it is, and is that of its user.
#[tokio::test]
async fn a_token_is_that_of_its_account() {
    let server = Server::builder().service_account_tokens(tokens()).build();
    let token = token(&server, "robot", json!({"expirationSeconds": 600})).await;
    let claims = claims(&token);
    assert_eq!(claims["iss"], ISSUER);
    assert_eq!(claims["aud"], json!([ISSUER]));
    assert_eq!(claims["sub"], "system:serviceaccount:default:robot");
    assert_eq!(claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap(), 600);
    let account = call(&server, Method::GET, &format!("{ACCOUNTS}/robot"), &[], "").await.json();
    let uid = text(&account, "/metadata/uid");
    assert_eq!(
        claims["kubernetes.io"],
        json!({"namespace": "default", "serviceaccount": {"name": "robot", "uid": uid}})
    );
    let user = server.authenticate(&token).unwrap();
    assert_eq!(
        (user.username.as_str(), user.uid.as_str()),
        ("system:serviceaccount:default:robot", &*uid)
    );
    assert_eq!(
        user.groups,
        ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"]
    );
    let id = format!("JTI={}", text(&claims, "/jti"));
    assert_eq!(user.extra["authentication.kubernetes.io/credential-id"], [id]);
    let reviewed = post(
        &server,
        "/apis/authentication.k8s.io/v1/tokenreviews",
        json!({
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}}),
    );
    let status = reviewed.await.json()["status"].clone();
    assert_eq!((&status["authenticated"], &status["audiences"]), (&json!(true), &json!([ISSUER])));
    assert_eq!(text(&status, "/user/uid"), uid);
}

/// ET-72: tokens that a server is given are those of their users, for its own audiences.
#[tokio::test]
async fn reviews_know_the_tokens_that_a_server_is_given() {
    let ann = UserInfo::named("ann").group("team");
    let server = Server::builder().service_account_tokens(tokens()).token("secret", ann).build();
    for (token, audiences, expected) in [
        ("secret", json!(null), json!([ISSUER])),
        ("secret", json!(["other", ISSUER]), json!([ISSUER])),
        ("secret", json!(["other"]), json!(null)),
        ("secre", json!(null), json!(null)),
        ("secrets", json!(null), json!(null)),
    ] {
        let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview",
            "spec": {"token": token, "audiences": audiences}});
        let path = "/apis/authentication.k8s.io/v1/tokenreviews";
        let status = post(&server, path, review).await.json()["status"].clone();
        assert_eq!(status["audiences"], expected, "{token} {audiences}");
        let is_known = !expected.is_null();
        assert_eq!(status["authenticated"] == true, is_known);
        assert_eq!(text(&status, "/user/username"), if is_known { "ann" } else { "" });
    }
    assert_eq!(server.authenticate("secret").unwrap().groups, ["team"]);
}

/// `kubectl create token` sends protobuf, and asks for it.
#[tokio::test]
async fn tokens_are_made_in_protobuf() {
    let server = Server::builder().build();
    token(&server, "a", json!({})).await;
    let body =
        json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
    let request = http::Request::post(format!("{ACCOUNTS}/a/token"))
        .header("accept", "application/vnd.kubernetes.protobuf,application/json")
        .body(body.to_string())
        .unwrap();
    let made = server.clone().call(request).await.unwrap();
    assert_eq!(made.status(), 201);
    let made = made.into_body().collect().await.unwrap().to_bytes();
    assert!(made.starts_with(b"k8s\0"));
    let kind = b"TokenRequest";
    assert!(made.windows(kind.len()).any(|part| part == kind));
}

/// A token ends with its time, its account and the object that it is bound to.
#[tokio::test]
async fn tokens_end() {
    let time = Arc::new(AtomicI64::new(1_800_000_000));
    let clock = Arc::clone(&time);
    let server = Server::builder().clock(move || Time::from_unix(clock.load(Ordering::Relaxed)));
    let server = server.build();
    let timed = token(&server, "a", json!({"expirationSeconds": 600})).await;
    time.fetch_add(599, Ordering::Relaxed);
    assert!(server.authenticate(&timed).is_some());
    time.fetch_add(1, Ordering::Relaxed);
    assert!(server.authenticate(&timed).is_none());

    let pods = "/api/v1/namespaces/default/pods";
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {
        "serviceAccountName": "a", "containers": [{"name": "c", "image": "i"}]}});
    assert_eq!(post(&server, pods, pod).await.code, 201);
    let reference = json!({"apiVersion": "v1", "kind": "Pod", "name": "p"});
    let bound = token(&server, "a", json!({"boundObjectRef": reference})).await;
    let user = server.authenticate(&bound).unwrap();
    assert_eq!(user.extra["authentication.kubernetes.io/pod-name"], ["p"]);
    let path = format!("{pods}/p?gracePeriodSeconds=0");
    assert_eq!(call(&server, Method::DELETE, &path, &[], "").await.code, 200);
    assert!(server.authenticate(&bound).is_none());

    let other = token(&server, "a", json!({})).await;
    assert!(server.authenticate(&other).is_some());
    assert_eq!(call(&server, Method::DELETE, &format!("{ACCOUNTS}/a"), &[], "").await.code, 200);
    assert!(server.authenticate(&other).is_none());
    // An account of the same name is another one.
    token(&server, "a", json!({})).await;
    assert!(server.authenticate(&other).is_none());
}

/// Tokens of others, for others, or with another signature are refused.
#[tokio::test]
async fn other_tokens_are_refused() {
    let server = Server::builder().service_account_tokens(tokens()).build();
    let own = token(&server, "a", json!({})).await;
    let fork = server.fork();
    assert!(fork.authenticate(&own).is_some());
    let for_others = token(&server, "a", json!({"audiences": ["vault"]})).await;
    assert!(server.authenticate(&for_others).is_none());
    let (message, signature) = own.rsplit_once('.').unwrap();
    let (header, claims) = message.split_once('.').unwrap();
    let none = "eyJhbGciOiJub25lIn0";
    for wrong in [
        String::new(),
        "a.b.c".to_owned(),
        format!("{header}.{claims}."),
        format!("{none}.{claims}."),
        format!("{none}.{claims}.{signature}"),
        format!("{header}.{claims}.{}", signature.to_lowercase()),
        format!("{header}.{claims}.{signature}="),
        "x".repeat(1 << 20),
    ] {
        assert!(server.authenticate(&wrong).is_none(), "{wrong:.40}");
    }
    let other = Server::builder().service_account_tokens(tokens()).build();
    assert!(other.authenticate(&own).is_none());
}

/// ET-34: keys of P-256 and of RSA, private and public, and those of certificates.
#[tokio::test]
async fn keys_are_read_from_files() {
    for (private, public, algorithm) in [
        ("ec.pem", ["ec-public.pem", "ec-certificate.pem"], "ES256"),
        ("rsa.pem", ["rsa-public.pem", "rsa-pkcs8.pem"], "RS256"),
        ("rsa-pkcs8.pem", ["rsa-public.pem", "rsa.pem"], "RS256"),
    ] {
        let signing = tokens().signing_key(&key(private)).unwrap();
        let server = Server::builder().service_account_tokens(signing).build();
        let made = token(&server, "a", json!({})).await;
        assert!(server.authenticate(&made).is_some());
        let header = made.split('.').next().unwrap();
        let header: Value = serde_json::from_slice(&decode_url(header).unwrap()).unwrap();
        assert_eq!(header["alg"], algorithm);
        let keys = call(&server, Method::GET, "/openid/v1/jwks", &[], "").await.json();
        assert_eq!(keys["keys"][0]["kid"], header["kid"]);
        for public in public {
            let verifying = tokens().verifying_keys(&key(public)).unwrap();
            let verifier = Server::builder().service_account_tokens(verifying).build();
            // The account is not there: the signature alone is asked for.
            let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview",
                "spec": {"token": made}});
            let path = "/apis/authentication.k8s.io/v1/tokenreviews";
            let status = post(&verifier, path, review).await.json()["status"].clone();
            assert_eq!(status["error"], "invalid bearer token");
            let keys = call(&verifier, Method::GET, "/openid/v1/jwks", &[], "").await.json();
            assert_eq!(keys["keys"][1]["kid"], header["kid"], "{public}");
        }
    }
    let missing = ServiceAccountTokens::default().signing_key(&key("ec-public.pem")).unwrap_err();
    assert_eq!(missing, TokenKeyError::Missing);
    assert!(ServiceAccountTokens::default().verifying_keys(b"nothing").is_err());
}

/// ET-34: verifiers of tokens find the keys.
#[tokio::test]
async fn the_issuer_is_described() {
    let server = Server::builder().service_account_tokens(tokens()).build();
    let path = "/.well-known/openid-configuration";
    let found = call(&server, Method::GET, path, &[("host", "127.0.0.1:6443")], "").await;
    assert_eq!(
        found.json(),
        json!({"issuer": ISSUER, "jwks_uri": "https://127.0.0.1:6443/openid/v1/jwks",
            "response_types_supported": ["id_token"], "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["ES256"]})
    );
    let keys = async |server: Server| {
        let found = call(&server, Method::GET, path, &[("host", "127.0.0.1:6443")], "").await;
        found.json()["jwks_uri"].clone()
    };
    let advertised = Presence::at(([192, 0, 2, 1], 443).into());
    let server = || Server::builder().presence(advertised.clone());
    let found = keys(server().service_account_tokens(tokens()).build()).await;
    assert_eq!(found, "https://192.0.2.1:443/openid/v1/jwks", "measured: not the issuer's");
    let elsewhere = tokens().key_set_url("https://keys.example.com/");
    let found = keys(server().service_account_tokens(elsewhere).build()).await;
    assert_eq!(found, "https://keys.example.com/");
    let file = ServiceAccountTokens::default().issuers(["file".to_owned()]);
    let server = Server::builder().service_account_tokens(file).build();
    assert_eq!(call(&server, Method::GET, path, &[], "").await.code, 404);
}

/// The server may count less time than was asked for.
#[tokio::test]
async fn time_has_a_bound() {
    let bounded = tokens().max_expiration(Duration::from_secs(900));
    let server = Server::builder().service_account_tokens(bounded).build();
    let claims = claims(&token(&server, "a", json!({"expirationSeconds": 7200})).await);
    assert_eq!(claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap(), 900);
}
