//! Requests for certificates.

use billhook_apimachinery::base64;
use serde_json::{Value, json};

use crate::support::Subject;

fn subject() -> Subject {
    Subject::new("certificates.k8s.io/v1", "CertificateSigningRequest")
}

fn pem(type_: &str) -> String {
    base64::encode(format!("-----BEGIN {type_}-----\nAA==\n-----END {type_}-----\n").as_bytes())
}

fn with_conditions(types: &[&str]) -> Value {
    let conditions: Vec<Value> =
        types.iter().map(|type_| json!({"type": type_, "status": "True"})).collect();
    json!({"status": {"conditions": conditions}})
}

/// BK-487: who asks is not the client's to say.
#[test]
fn a_request_is_that_of_the_user() {
    let request = json!({
        "spec": {"username": "bob", "uid": "1", "signerName": "x.io/s"},
        "status": {"certificate": "AA=="},
    });
    let request = subject().prepared(request, None);
    assert_eq!(request.pointer("/spec/username"), Some(&json!("alice")));
    assert_eq!(request.pointer("/spec/groups"), Some(&json!(["devs"])));
    assert_eq!(request.pointer("/spec/uid"), None);
    assert_eq!(request.get("status"), Some(&json!({})));
}

/// BK-487.
#[test]
fn a_request_says_what_for() {
    let spec = |type_: &str, signer: &str| json!({"spec": {"request": pem(type_), "signerName": signer, "usages": ["any"]}});
    assert!(subject().errors(spec("CERTIFICATE REQUEST", "x.io/s"), None).is_empty());
    let found = subject().errors(spec("CERTIFICATE", "s"), None);
    assert_eq!(
        found,
        [
            &*format!(
                "spec.request: Invalid value: \"{}\": PEM block type must be CERTIFICATE REQUEST",
                pem("CERTIFICATE")
            ),
            "spec.signerName: Invalid value: \"s\": must be a fully qualified domain and path of the \
         form 'example.com/signer-name'",
        ]
    );
}

/// BK-487: approvals come by a subresource of their own, and stay.
#[test]
fn approvals_stay() {
    let (none, approved) = (with_conditions(&[]), with_conditions(&["Approved"]));
    let denied = with_conditions(&["Approved", "Denied"]);
    let added = "status.conditions: Forbidden: updates may not add a condition of type \
                 \"Approved\"";
    let removed = "status.conditions: Forbidden: updates may not remove a condition of type \
                   \"Approved\"";
    let both = "status.conditions: Invalid value: \"Denied\": Approved and Denied conditions are \
                mutually exclusive";
    let errors = |subresource, new: &Value, old: &Value| {
        subject().subresource(subresource).errors(new.clone(), Some(old.clone()))
    };
    assert_eq!(errors("status", &approved, &none), [added]);
    assert_eq!(errors("status", &none, &approved), [removed]);
    assert_eq!(errors("approval", &none, &approved), [removed]);
    assert_eq!(errors("approval", &denied, &none), [both]);
    assert!(errors("approval", &approved, &none).is_empty());
}

/// BK-487.
#[test]
fn certificates_are_issued_once() {
    let with = |type_: &str| json!({"status": {"certificate": pem(type_)}});
    let errors = |subresource, new: Value, old: Value| {
        subject().subresource(subresource).errors(new, Some(old))
    };
    assert!(errors("status", with("CERTIFICATE"), json!({})).is_empty());
    let set = "status.certificate: Forbidden: updates may not set certificate content";
    assert_eq!(errors("approval", with("CERTIFICATE"), json!({})), [set]);
    let changed = "status.certificate: Forbidden: updates may not modify existing certificate \
                   content";
    assert_eq!(errors("status", json!({}), with("CERTIFICATE")), [changed]);
}

/// BK-722.
#[test]
fn a_row_shows_the_state() {
    let mut request = with_conditions(&["Approved", "Failed"]);
    request["metadata"] = json!({"name": "a"});
    request["spec"] = json!({"expirationSeconds": 3600, "signerName": "x.io/s"});
    let cells = subject().cells(request);
    assert_eq!(json!(cells), json!(["a", "<unknown>", "x.io/s", "", "60m", "Approved,Failed"]));
}
