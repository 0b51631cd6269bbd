//! CertificateSigningRequests (BK-487).

use std::collections::BTreeSet;

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::names::{dns1123_label, dns1123_subdomain};
use billhook_apimachinery::{FieldError, UserInfo, age};
use serde_json::{Map, Value, json};

use super::conditions;
use crate::behavior::{Behavior, Findings, WriteContext};
use crate::cells;
use crate::rules::one_of;
use crate::values::{integer, items, path, pem_labels, section, text, value_at};

const USAGES: [&str; 23] = [
    "any",
    "cert sign",
    "client auth",
    "code signing",
    "content commitment",
    "crl sign",
    "data encipherment",
    "decipher only",
    "digital signature",
    "email protection",
    "encipher only",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "key agreement",
    "key encipherment",
    "microsoft sgc",
    "netscape sgc",
    "ocsp signing",
    "s/mime",
    "server auth",
    "signing",
    "timestamping",
];

const LEGACY: &str = "kubernetes.io/legacy-unknown";

const NOT_A_PATH: &str =
    "must be a fully qualified domain and path of the form 'example.com/signer-name'";

/// The shortest life of a certificate in seconds.
const SHORTEST: i64 = 600;

/// The longest name of a signer: a subdomain, a slash and names of a resource in a namespace.
const MAX_SIGNER: usize = 571;

/// The rules of requests for certificates.
#[derive(Debug)]
pub(crate) struct CertificateSigningRequest;

impl Behavior for CertificateSigningRequest {
    /// The request belongs to its creator, and the answer to the signer.
    fn resets(&self, subresource: &str) -> Option<&'static [&'static str]> {
        subresource.is_empty().then_some(&["spec", "status"])
    }

    fn takes_status(&self, subresource: &str) -> bool {
        subresource == "approval"
    }

    fn prepare(&self, request: &mut Value, old: Option<&Value>, context: &WriteContext<'_>) {
        let Some(old) = old else {
            if let Value::Object(members) = request {
                members.remove("status");
            }
            if let Some(spec) = section(request, "spec") {
                set_user(spec, context.user);
            }
            return;
        };
        // The spec of a request does not change.
        if let (Value::Object(members), Some(spec)) = (&mut *request, old.get("spec")) {
            members.insert("spec".to_owned(), spec.clone());
        }
        match context.subresource {
            "approval" => conditions::take(request, old),
            "status" => conditions::keep_approval(request, old),
            _ => return,
        }
        conditions::set_times(request, old, context.now);
    }

    fn validate(
        &self,
        request: &Value,
        old: Option<&Value>,
        context: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        let errors = &mut found.errors;
        if old.is_none() {
            validate_spec(request, errors);
        }
        conditions::validate(request, errors);
        validate_certificate(request, errors);
        if let Some(old) = old {
            let is_approval = context.subresource == "approval";
            conditions::validate_change(request, old, is_approval, errors);
            validate_issue(request, old, context.subresource == "status", errors);
        }
    }

    fn cells(&self, object: &Value, now: Time) -> Vec<Value> {
        let seconds = integer(object, "/spec/expirationSeconds");
        let duration = seconds.map(|seconds| age(Time::from_unix(1), Time::from_unix(1 + seconds)));
        vec![
            cells::name(object),
            cells::created(object, now),
            cells::at(object, "/spec/signerName"),
            cells::at(object, "/spec/username"),
            duration.unwrap_or_else(|| "<none>".to_owned()).into(),
            state(object).into(),
        ]
    }
}

/// Writes who makes a request into its spec.
fn set_user(spec: &mut Map<String, Value>, user: &UserInfo) {
    for (name, value) in [
        ("username", json!(user.username)),
        ("uid", json!(user.uid)),
        ("groups", json!(user.groups)),
        ("extra", json!(user.extra)),
    ] {
        let is_empty = match &value {
            Value::String(text) => text.is_empty(),
            Value::Array(items) => items.is_empty(),
            Value::Object(members) => members.is_empty(),
            _ => false,
        };
        if is_empty {
            spec.remove(name);
        } else {
            spec.insert(name.to_owned(), value);
        }
    }
}

fn state(request: &Value) -> String {
    let all = items(request, "/status/conditions");
    let has = |type_: &str| all.iter().any(|condition| text(condition, "/type") == type_);
    let state = match (has("Denied"), has("Approved")) {
        (true, _) => "Denied",
        (false, true) => "Approved",
        _ => "Pending",
    };
    let failed = if has("Failed") { ",Failed" } else { "" };
    let is_issued = !text(request, "/status/certificate").is_empty();
    let issued = if is_issued { ",Issued" } else { "" };
    format!("{state}{failed}{issued}")
}

fn validate_spec(request: &Value, errors: &mut Vec<FieldError>) {
    let at = |name: &str| path(&["spec", name]);
    let pem = value_at(request, "/spec/request").cloned().unwrap_or_default();
    if pem_labels(text(&pem, "")).first().is_none_or(|type_| type_ != "CERTIFICATE REQUEST") {
        let detail = "PEM block type must be CERTIFICATE REQUEST";
        errors.push(FieldError::invalid(at("request"), pem, detail));
    }
    let usages = items(request, "/spec/usages");
    if usages.is_empty() {
        errors.push(FieldError::required(at("usages"), ""));
    }
    let mut seen = BTreeSet::new();
    for (index, usage) in usages.iter().enumerate() {
        let at = at("usages").index(index);
        one_of(errors, &at, text(usage, ""), &USAGES);
        if !seen.insert(text(usage, "")) {
            errors.push(FieldError::duplicate(at, usage.clone()));
        }
    }
    match text(request, "/spec/signerName") {
        LEGACY => {
            let detail = "the legacy signerName is not allowed via this API version";
            errors.push(FieldError::invalid(at("signerName"), LEGACY, detail));
        }
        signer => validate_signer(signer, errors),
    }
    let seconds = integer(request, "/spec/expirationSeconds");
    if let Some(seconds) = seconds.filter(|seconds| *seconds < SHORTEST) {
        let detail = "may not specify a duration less than 600 seconds (10 minutes)";
        errors.push(FieldError::invalid(at("expirationSeconds"), seconds, detail));
    }
}

fn validate_signer(signer: &str, errors: &mut Vec<FieldError>) {
    let at = path(&["spec", "signerName"]);
    if signer.is_empty() {
        errors.push(FieldError::required(at, ""));
        return;
    }
    let Some((domain, name)) = signer.split_once('/').filter(|(_, name)| !name.contains('/'))
    else {
        errors.push(FieldError::invalid(at, signer, NOT_A_PATH));
        return;
    };
    if signer.len() > MAX_SIGNER {
        let most = i64::try_from(MAX_SIGNER).unwrap_or(i64::MAX);
        errors.push(FieldError::too_long(at.clone(), most));
    }
    for label in domain.split('.') {
        for message in dns1123_label(label) {
            let detail = format!("validating label \"{label}\": {message}");
            errors.push(FieldError::invalid(at.clone(), signer, &detail));
        }
    }
    if !domain.contains('.') {
        let detail = "should be a domain with at least two segments separated by dots";
        errors.push(FieldError::invalid(at.clone(), signer, detail));
    }
    for message in dns1123_subdomain(name) {
        let detail = format!("validating label \"{name}\": {message}");
        errors.push(FieldError::invalid(at.clone(), signer, &detail));
    }
}

fn validate_certificate(request: &Value, errors: &mut Vec<FieldError>) {
    let certificate = text(request, "/status/certificate");
    if certificate.is_empty() {
        return;
    }
    let types = pem_labels(certificate);
    let other = types.iter().find(|type_| *type_ != "CERTIFICATE");
    let detail = match other {
        Some(type_) => format!("only CERTIFICATE PEM blocks are allowed, found \"{type_}\""),
        None if types.is_empty() => "must contain at least one CERTIFICATE PEM block".to_owned(),
        None => return,
    };
    let at = path(&["status", "certificate"]);
    errors.push(FieldError::invalid(at, "<certificate data>", &detail));
}

/// A certificate is issued once, by a write to the status.
fn validate_issue(request: &Value, old: &Value, may_issue: bool, errors: &mut Vec<FieldError>) {
    let certificate = |request| text(request, "/status/certificate");
    let (new, stored) = (certificate(request), certificate(old));
    let detail = match stored {
        stored if new == stored => return,
        "" if may_issue => return,
        "" => "updates may not set certificate content",
        _ => "updates may not modify existing certificate content",
    };
    errors.push(FieldError::forbidden(path(&["status", "certificate"]), detail));
}
