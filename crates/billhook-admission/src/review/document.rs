//! The kinds of documents that webhooks answer with.

use billhook::webhook::ReviewVersion;
use billhook_apimachinery::split_api_version;

/// The kind of document that an answer is.
#[derive(Clone, Copy)]
pub(super) struct Document {
    pub(super) group: &'static str,
    pub(super) kind: &'static str,
}

pub(super) const ADMISSION_REVIEW: Document =
    Document { group: "admission.k8s.io", kind: "AdmissionReview" };

pub(super) const CONVERSION_REVIEW: Document =
    Document { group: "apiextensions.k8s.io", kind: "ConversionReview" };

impl Document {
    /// Group and version.
    pub(super) fn api_version(self, version: ReviewVersion) -> String {
        format!("{}/{}", self.group, version.name())
    }

    /// Checks that a document says itself what it is.
    pub(super) fn check_exact(
        self,
        version: ReviewVersion,
        api_version: &str,
        kind: &str,
    ) -> Result<(), String> {
        let expected = self.api_version(version);
        if api_version == expected && kind == self.kind {
            return Ok(());
        }
        let (group, version) = split_api_version(api_version);
        Err(format!(
            "expected webhook response of {expected}, Kind={}, got {group}/{version}, Kind={kind}",
            self.kind
        ))
    }
}
