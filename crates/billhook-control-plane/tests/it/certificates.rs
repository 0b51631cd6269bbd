//! Requests for certificates, approved and signed by a test (CP-91).

use billhook_apimachinery::base64::{decode, encode};
use billhook_control_plane::Object;
use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, SanType};
use serde_json::{Value, json};

use crate::support::{column, create, request, run_with, text};

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

const REQUESTS: &str = "/apis/certificates.k8s.io/v1/certificatesigningrequests";

/// A request of a common name, organizations and names beside it, in PEM, encoded once more.
fn body(name: &str, organizations: &[&str], others: Vec<SanType>) -> String {
    let mut parameters = CertificateParams::default();
    parameters.distinguished_name = DistinguishedName::new();
    parameters.distinguished_name.push(DnType::CommonName, name);
    for organization in organizations {
        parameters.distinguished_name.push(DnType::OrganizationName, *organization);
    }
    parameters.subject_alt_names = others;
    let request = parameters.serialize_request(&KeyPair::generate().unwrap()).unwrap();
    encode(request.pem().unwrap().as_bytes())
}

/// The same request, whose other names are no sequence.
fn with_unreadable_names(body: &str) -> String {
    let pem = String::from_utf8(decode(body).unwrap()).unwrap();
    let lines = pem.lines().filter(|line| !line.starts_with("-----"));
    let mut der = decode(&lines.collect::<String>()).unwrap();
    // The identifier of the extension, and an octet string of one byte of length.
    let names = der.windows(6).position(|bytes| bytes == [6, 3, 0x55, 0x1d, 0x11, 4]).unwrap() + 7;
    assert_eq!(std::mem::replace(&mut der[names], 0x31), 0x30);
    let [begin, end] =
        ["BEGIN", "END"].map(|word| format!("-----{word} CERTIFICATE REQUEST-----\n"));
    encode(format!("{begin}{}\n{end}", encode(&der)).as_bytes())
}

/// CP-91: each signer refuses what it does not sign.
#[test]
fn signers_check_what_they_sign() {
    let dns = || SanType::DnsName("node-0.example.com".try_into().unwrap());
    let address = || SanType::IpAddress("10.0.0.1".parse().unwrap());
    let email = || SanType::Rfc822Name("a@example.com".try_into().unwrap());
    let node = |others| body("system:node:a", &["system:nodes"], others);
    let client = ["digital signature", "key encipherment", "client auth"];
    let serving = ["digital signature", "server auth"];
    let (of_client, of_kubelet, of_serving) = (
        "usages have to be client auth, and may be digital signature, key encipherment beside",
        "usages have to be digital signature, client auth, and may be digital signature, key \
         encipherment beside",
        "usages have to be digital signature, server auth, and may be digital signature, key \
         encipherment beside",
    );
    let cases: Vec<(&str, String, &[&str], &str)> = vec![
        ("kube-apiserver-client", body("jane", &["a"], vec![dns()]), &client, ""),
        ("kube-apiserver-client", body("jane", &[], vec![]), &["client auth"], ""),
        ("kube-apiserver-client", body("jane", &[], vec![]), &["digital signature"], of_client),
        (
            "kube-apiserver-client",
            body("jane", &[], vec![]),
            &["client auth", "server auth"],
            of_client,
        ),
        ("kube-apiserver-client-kubelet", node(vec![]), &client, ""),
        ("kube-apiserver-client-kubelet", node(vec![]), &client[..1], of_kubelet),
        (
            "kube-apiserver-client-kubelet",
            node(vec![dns()]),
            &client,
            "names and addresses of a server are not allowed",
        ),
        (
            "kube-apiserver-client-kubelet",
            body("system:node:a", &["system:masters"], vec![]),
            &client,
            "the organization has to be system:nodes",
        ),
        (
            "kube-apiserver-client-kubelet",
            body("a", &["system:nodes"], vec![]),
            &client,
            "the common name has to begin with system:node:",
        ),
        ("kubelet-serving", node(vec![dns(), address()]), &serving, ""),
        ("kubelet-serving", node(vec![address()]), &client, of_serving),
        ("kubelet-serving", node(vec![]), &serving, "a DNS name or an IP address is required"),
        (
            "kubelet-serving",
            node(vec![dns(), email()]),
            &serving,
            "only DNS names and IP addresses are allowed",
        ),
        (
            "kube-apiserver-client-kubelet",
            with_unreadable_names(&node(vec![dns()])),
            &client,
            "the extensions cannot be read: unexpected ASN.1 DER tag: expected SEQUENCE, got SET",
        ),
        (
            "kubelet-serving",
            body("system:node:a", &[], vec![dns()]),
            &serving,
            "the organization has to be system:nodes",
        ),
    ];
    run_with(
        |builder| builder.approve_certificates(|_| true).sign_certificates(sign),
        async |plane| {
            for (number, (signer, body, usages, refusal)) in cases.into_iter().enumerate() {
                let object = json!({"apiVersion": "certificates.k8s.io/v1",
                    "kind": "CertificateSigningRequest", "metadata": {"name": format!("c{number}")},
                    "spec": {"request": body, "usages": usages,
                        "signerName": format!("kubernetes.io/{signer}")}});
                create(plane, &object.to_string()).await;
                let found = request(plane, "GET", &format!("{REQUESTS}/c{number}"), "").await;
                let status = &found["status"];
                assert_eq!(status["certificate"].is_string(), refusal.is_empty(), "{object}");
                let last = status["conditions"].as_array().unwrap().last().unwrap();
                let expected = match refusal {
                    "" => ("Approved", "AutoApproved"),
                    _ => ("Failed", "SignerValidationFailure"),
                };
                assert_eq!((text(last, "/type"), text(last, "/reason")), expected, "{object}");
                if !refusal.is_empty() {
                    assert_eq!(text(last, "/message"), refusal);
                }
            }
        },
    );
}

/// CP-91: at each full hour those go that were decided an hour ago, or not in a day, and those whose
/// certificates have ended.
#[test]
fn old_requests_go() {
    // It has ended ten minutes before.
    let short = || {
        let mut parameters = CertificateParams::new(vec!["a".to_owned()]).unwrap();
        parameters.not_after = rcgen::date_time_ymd(2026, 1, 3);
        parameters.self_signed(&KeyPair::generate().unwrap()).unwrap().pem()
    };
    run_with(
        |builder| {
            let builder = builder.approve_certificates(|request| request.name() != "pending");
            builder.sign_certificates(move |request| match request.name() {
                "short" => Ok(short()),
                _ => sign(request),
            })
        },
        async |plane| {
            let signer = "kubernetes.io/kube-apiserver-client";
            let names = async |passed: u64| {
                plane.advance(std::time::Duration::from_secs(passed * 60)).await.unwrap();
                column(plane, REQUESTS, "/metadata/name").await.join(" ")
            };
            create(plane, &of_signer("pending", signer)).await;
            assert_eq!(names(20).await, "pending");
            create(plane, &["bad", "good"].map(|name| of_signer(name, signer)).join("\n")).await;
            // An hour later, but between two looks.
            assert_eq!(names(99).await, "bad good pending");
            assert_eq!(names(1).await, "pending");
            assert_eq!(names(22 * 60 - 1).await, "pending");
            assert_eq!(names(1).await, "");
            assert_eq!(names(24 * 60 + 10).await, "");
            create(plane, &of_signer("short", signer)).await;
            assert_eq!(names(49).await, "short");
            assert_eq!(names(1).await, "");
        },
    );
}
