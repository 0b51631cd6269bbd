//! Requests for certificates (BK-487).

use billhook_admission::PluginRequest;
use billhook_apimachinery::record::text;
use billhook_apimachinery::{Status, base64};
use serde_json::Value;

use super::forbidden;
use crate::shared::Shared;

/// The signer of certificates by which clients are known to the server.
const CLIENTS: &str = "kubernetes.io/kube-apiserver-client";

/// Tags of DER.
const OBJECT_IDENTIFIER: u8 = 0x06;
const SEQUENCE: u8 = 0x30;

/// The attribute of a name that groups are in: `2.5.4.10`.
const ORGANIZATION: &[u8] = &[0x55, 0x04, 0x0a];

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
    let (_, request, _) = element(request)?;
    let (_, information, _) = element(request)?;
    let (_, _, after_version) = element(information)?;
    let (_, mut names, _) = element(after_version)?;
    while let Some((_, mut attributes, rest)) = element(names) {
        names = rest;
        while let Some((tag, attribute, rest)) = element(attributes) {
            attributes = rest;
            let (type_, name, value) = element(attribute)?;
            let is_organization =
                tag == SEQUENCE && type_ == OBJECT_IDENTIFIER && name == ORGANIZATION;
            if is_organization && element(value)?.1 == wanted {
                return Some(true);
            }
        }
    }
    Some(false)
}

/// The tag and the content of the first element of DER, and what comes after it.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        0x81..=0x84 => {
            let (length, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            (length.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
        }
        0x80 | 0x85.. => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((tag, content, rest))
}
