//! Requests for certificates, approved and signed by a test (CP-91).

use billhook_control_plane::Object;
use serde_json::Value;

use crate::support::{create, request, run_with};

/// A request, as `openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=jane` makes it.
const REQUEST: &str = include_str!("jane.csr.base64");

fn of_signer(name: &str, signer: &str) -> String {
    let body = REQUEST.trim();
    format!(
        "
apiVersion: certificates.k8s.io/v1
kind: CertificateSigningRequest
metadata: {{name: {name}}}
spec: {{request: {body}, signerName: {signer}, usages: [client auth]}}
---"
    )
}

fn sign(request: &Object) -> Result<String, String> {
    match request.name() {
        "bad" => Err("invalid usage for client certificate".to_owned()),
        _ => Ok("-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n".to_owned()),
    }
}

/// CP-91: what is approved is signed, if its signer is one of the cluster's and does not refuse.
#[test]
fn requests_are_approved_and_signed_by_choice() {
    let signer = "kubernetes.io/kube-apiserver-client";
    run_with(
        |builder| {
            let builder = builder.approve_certificates(|request| request.name() != "pending");
            builder.sign_certificates(sign)
        },
        async |plane| {
            let of_cluster = ["good", "bad", "pending"].map(|name| of_signer(name, signer));
            create(plane, &of_cluster.join("\n")).await;
            create(plane, &of_signer("foreign", "example.com/signer")).await;
            for (name, conditions, is_signed) in [
                ("good", vec!["Approved AutoApproved"], true),
                ("bad", vec!["Approved AutoApproved", "Failed SignerValidationFailure"], false),
                ("pending", vec![], false),
                ("foreign", vec!["Approved AutoApproved"], false),
            ] {
                let path =
                    format!("/apis/certificates.k8s.io/v1/certificatesigningrequests/{name}");
                let status = request(plane, "GET", &path, "").await["status"].clone();
                let all = status["conditions"].as_array().cloned().unwrap_or_default();
                let text = |it: &Value| {
                    let of = |name: &str| it[name].as_str().unwrap().to_owned();
                    format!("{} {}", of("type"), of("reason"))
                };
                let found: Vec<String> = all.iter().map(text).collect();
                assert_eq!(found, conditions, "{name}");
                assert_eq!(status["certificate"].is_string(), is_signed, "{name}");
            }
        },
    );
}

/// CP-91: a request is approved if its user may make it.
#[test]
fn requests_are_approved_after_a_review() {
    let subresource = |request: &Object| (request.name() == "node").then_some("selfnodeclient");
    run_with(
        |builder| builder.review_certificates(subresource),
        async |plane| {
            let signer = "kubernetes.io/kube-apiserver-client-kubelet";
            create(plane, &["node", "other"].map(|name| of_signer(name, signer)).join("\n")).await;
            let path = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
            let node = request(plane, "GET", &format!("{path}/node"), "").await;
            let approved = &node["status"]["conditions"][0];
            assert_eq!(approved["reason"], "AutoApproved");
            let message =
                "Auto approving self kubelet client certificate after SubjectAccessReview.";
            assert_eq!(approved["message"], message);
            let other = request(plane, "GET", &format!("{path}/other"), "").await;
            assert!(other["status"]["conditions"].is_null());
        },
    );
}
