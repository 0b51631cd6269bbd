//! Requests for certificates (BK-487).

use billhook::webhook::{AuthorizationRequest, ResourceTarget};
use billhook_admission::PluginRequest;
use billhook_apimachinery::print::{compact_json, quote};
use billhook_apimachinery::record::text;
use billhook_apimachinery::value::at;
use billhook_apimachinery::{Status, base64};
use serde_json::Value;
use x509_cert::der::Decode as _;
use x509_cert::der::oid::ObjectIdentifier;
use x509_cert::request::CertReq;

use super::forbidden;
use crate::shared::Shared;

/// The signer of certificates by which clients are known to the server.
const CLIENTS: &str = "kubernetes.io/kube-apiserver-client";

/// The attribute of a name that groups are in.
const ORGANIZATION: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.10");

/// Refuses approvals and denials by users who may not decide for the signer.
pub(super) fn check_approval(
    server: &Shared,
    request: &mut PluginRequest<'_>,
) -> Result<(), Status> {
    check_signer(server, request, "approve")
}

/// Refuses certificates, and what else only signers say, from users who may not sign.
pub(super) fn check_signing(
    server: &Shared,
    request: &mut PluginRequest<'_>,
) -> Result<(), Status> {
    let attributes = request.attributes();
    let (new, old) = (attributes.object.as_deref(), attributes.old_object.as_deref());
    let is_kept = |place: &&str| {
        let of = |object: &'_ Value| at(object, place).map(compact_json);
        new.and_then(of) == old.and_then(of)
    };
    match ["/status/certificate", "/status/conditions"].iter().all(is_kept) {
        true => Ok(()),
        false => check_signer(server, request, "sign"),
    }
}

/// Asks whether the user has a verb for the signer of a request, or for all signers of its domain.
fn check_signer(server: &Shared, request: &PluginRequest<'_>, verb: &str) -> Result<(), Status> {
    let attributes = request.attributes();
    let spec = attributes.object.as_deref().and_then(|object| object.get("spec"));
    let signer = text(spec.unwrap_or(&Value::Null), "signerName");
    let domain = signer.split('/').next().unwrap_or_default();
    let may = |name: String| {
        let mut signers = ResourceTarget::new("certificates.k8s.io", "signers");
        signers.name = name;
        let question = AuthorizationRequest::new(verb, signers);
        server.permissions.decide(&attributes.user, &question).allowed
    };
    if may(signer.to_owned()) || may(format!("{domain}/*")) {
        return Ok(());
    }
    let (user, signer) = (quote(&attributes.user.username), quote(signer));
    Err(forbidden(attributes, &format!("user {user} cannot {verb} requests for signer {signer}")))
}

/// Refuses certificates of clients that may do everything.
pub(super) fn check_subject(_: &Shared, request: &mut PluginRequest<'_>) -> Result<(), Status> {
    let spec = request.object().and_then(|object| object.get("spec")).unwrap_or(&Value::Null);
    if text(spec, "signerName") != CLIENTS {
        return Ok(());
    }
    let is_refused = der(text(spec, "request"))
        .and_then(|request| has_organization(&request, b"system:masters"))
        .unwrap_or_default();
    if is_refused {
        let why = format!("use of {CLIENTS} signer with system:masters group is not allowed");
        return Err(forbidden(request.attributes(), &why));
    }
    Ok(())
}

/// The request in the first block of a PEM document.
fn der(encoded: &str) -> Option<Vec<u8>> {
    let pem = String::from_utf8(base64::decode(encoded).ok()?).ok()?;
    let (_, block) = pem.split_once("-----BEGIN CERTIFICATE REQUEST-----")?;
    let (block, _) = block.split_once("-----END CERTIFICATE REQUEST-----")?;
    base64::decode(&block.split_whitespace().collect::<String>()).ok()
}

/// Whether the subject of a request is of an organization; none if it cannot be read.
fn has_organization(request: &[u8], wanted: &[u8]) -> Option<bool> {
    let request = CertReq::from_der(request).ok()?;
    let mut names = request.info.subject.iter();
    Some(names.any(|name| name.oid == ORGANIZATION && name.value.value() == wanted))
}
