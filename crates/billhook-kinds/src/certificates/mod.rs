//! The group `certificates.k8s.io`.

mod conditions;
mod signing_request;

use self::signing_request::CertificateSigningRequest;
use crate::behavior::{Behavior, Plain};

/// Returns the rules of a kind of the group.
pub(crate) fn behavior_of(kind: &str) -> &'static dyn Behavior {
    match kind {
        "CertificateSigningRequest" => &CertificateSigningRequest,
        _ => &Plain,
    }
}
