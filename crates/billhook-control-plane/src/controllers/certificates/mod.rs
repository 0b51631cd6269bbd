//! Requests for certificates: approved, signed, and removed when they are of no use any more (CP-91).

mod approval;
mod checks;
mod cleaner;
mod signing;

pub use self::approval::CertificateApproval;
pub(super) use self::cleaner::CertificateRequests;
pub use self::signing::CertificateSigning;

use crate::object::Object;

/// The name of the account of these controllers.
const ACCOUNT: &str = "certificate-controller";

/// Returns whether a request was approved or denied.
fn is_decided(request: &Object) -> bool {
    ["Approved", "Denied"].iter().any(|kind| request.condition(kind).is_some())
}
