//! Requests for certificates (BK-487).

use billhook_admission::PluginRequest;
use billhook_apimachinery::record::text;
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
