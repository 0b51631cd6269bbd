//! Bodies of kinds that are answered and not stored.

use billhook::{FieldValidation, read_body};
use billhook_admission::Warnings;
use billhook_apimachinery::record::{Record, complete, decode, text};
use billhook_apimachinery::value::DeepValue;
use billhook_apimachinery::{
    BUILT_IN_SCHEME, KubernetesVersion, Status, not_registered_error, strict_decoding_error,
};

use super::options::Body;

/// The type of an object in a body.
#[derive(Clone, Copy)]
pub(crate) struct DocumentType<'d> {
    pub(crate) kind: &'d str,
    /// The API versions in which it may be written, the first of which is that of a body that has none.
    pub(crate) api_versions: &'d [&'d str],
    pub(crate) record: &'static Record,
    pub(crate) kubernetes: KubernetesVersion,
}

impl DocumentType<'_> {
    /// Reads the body of a request as an object of the type (BK-21, BK-22, BK-28).
    pub(crate) fn read(
        self,
        body: &Body,
        validation: FieldValidation,
        warnings: &mut Warnings,
    ) -> Result<DeepValue, Status> {
        let read = read_body(&body.text, body.format, self.kind);
        let mut object =
            read.map_err(|error| Status::bad_request(error.status_message().to_owned()))?;
        let own = self.api_versions.first().copied().unwrap_or_default();
        let or = |said: &str, own: &str| if said.is_empty() { own } else { said }.to_owned();
        let kind = or(text(&object, "kind"), self.kind);
        let api_version = or(text(&object, "apiVersion"), own);
        let refused = |why: String| {
            let version = api_version.rsplit('/').next().unwrap_or_default();
            Status::bad_request(format!(
                "{kind} in version \"{version}\" cannot be handled as a {}: {why}",
                self.kind
            ))
        };
        if kind != self.kind || !self.api_versions.contains(&&*api_version) {
            return Err(refused(not_registered_error(&kind, &api_version, BUILT_IN_SCHEME)));
        }
        let unknown = decode(&mut object, self.record, self.kubernetes);
        let unknown = unknown.map_err(|error| refused(error.to_string()))?;
        match validation {
            FieldValidation::Strict if !unknown.is_empty() => {
                return Err(refused(strict_decoding_error(unknown.iter().map(String::as_str))));
            }
            FieldValidation::Warn => unknown.iter().for_each(|field| warnings.add(field)),
            _ => {}
        }
        complete(&mut object, self.record, self.kubernetes);
        Ok(object)
    }
}
