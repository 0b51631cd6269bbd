//! The `AdmissionReview` that a server and a webhook exchange (AR-01 to AR-05).

#[cfg(feature = "kube")]
mod kube;

use std::collections::BTreeMap;

use billhook_apimachinery::Status;
use billhook_apimachinery::message_error;
use billhook_apimachinery::record;
use billhook_apimachinery::record::TypedRecord;
use billhook_apimachinery::value::DeepValue;
use billhook_decode::read_json_to_depth;
use serde_json::Value;

use super::attributes::AdmissionRequest;
#[cfg(feature = "kube")]
pub use kube::KubeConversionError;

/// The group of the review.
const REVIEW_GROUP: &str = "admission.k8s.io";

/// How much deeper than an object a review with it may be.
const REVIEW_DEPTH: usize = billhook_decode::MAX_DEPTH + 2;

/// A version of the review (AR-01).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReviewVersion {
    /// `admission.k8s.io/v1`: answers are checked strictly.
    V1,
    /// `admission.k8s.io/v1beta1`: answers are hardly checked.
    V1beta1,
}

impl ReviewVersion {
    /// The version to use for a webhook: the first it names that is known (AR-40).
    pub fn choose<S: AsRef<str>>(accepted: &[S]) -> Option<Self> {
        accepted.iter().find_map(|name| Self::by_name(name.as_ref()))
    }

    fn by_name(name: &str) -> Option<Self> {
        match name {
            "v1" => Some(ReviewVersion::V1),
            "v1beta1" => Some(ReviewVersion::V1beta1),
            _ => None,
        }
    }

    /// Its name, without the group.
    pub fn name(self) -> &'static str {
        match self {
            ReviewVersion::V1 => "v1",
            ReviewVersion::V1beta1 => "v1beta1",
        }
    }

    /// Group and version.
    pub fn api_version(self) -> String {
        format!("{REVIEW_GROUP}/{}", self.name())
    }

    /// The version of an `apiVersion`, if known.
    fn of_api_version(api_version: &str) -> Option<Self> {
        let (group, version) = api_version.split_once('/')?;
        (group == REVIEW_GROUP).then(|| Self::by_name(version)).flatten()
    }
}

record! {
    /// A review: with a request on its way to a webhook, with a response on its way back (AR-04).
    ///
    /// A webhook reads the one and answers with the other, in the same version (AR-95):
    ///
    /// ```
    /// use billhook::webhook::{AdmissionResponse, AdmissionReview, ReviewError, ReviewVersion};
    ///
    /// /// Refuses deletions of what is labelled as kept.
    /// fn answer(body: &[u8]) -> Result<Vec<u8>, ReviewError> {
    ///     let review = AdmissionReview::from_slice(body)?;
    ///     let version = review.version().unwrap_or(ReviewVersion::V1);
    ///     let request = review.request.unwrap_or_default();
    ///     let is_kept = request
    ///         .old_object
    ///         .as_ref()
    ///         .is_some_and(|old| old["metadata"]["labels"]["example.com/keep"] == "yes");
    ///     let response = match is_kept {
    ///         true => AdmissionResponse::deny(&request, "it is to be kept"),
    ///         false => AdmissionResponse::allow(&request).warning("it is gone for good"),
    ///     };
    ///     Ok(AdmissionReview::of_response(version, response).to_json())
    /// }
    ///
    /// let body = br#"{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
    ///     "uid": "705ab4f5", "operation": "DELETE", "name": "x", "oldObject":
    ///         {"metadata": {"name": "x", "labels": {"example.com/keep": "yes"}}}}}"#;
    /// let answer = AdmissionReview::from_slice(&answer(body)?)?.response.unwrap();
    /// assert_eq!((answer.uid.as_str(), answer.allowed), ("705ab4f5", false));
    /// # Ok::<(), ReviewError>(())
    /// ```
    #[derive(Clone, Debug, Default, PartialEq)]
    #[non_exhaustive]
    pub struct AdmissionReview = "AdmissionReview" {
        /// Group and version; [`ReviewVersion::api_version`].
        pub api_version: String = "apiVersion" as "APIVersion" @required,
        /// `AdmissionReview`.
        pub kind: String = "kind" @required,
        /// The question to the webhook.
        pub request: Option<AdmissionRequest> = "request",
        /// Its answer.
        pub response: Option<AdmissionResponse> = "response",
    }

    /// The answer of a webhook (AR-03).
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct AdmissionResponse = "AdmissionResponse" {
        /// The UID of the request.
        pub uid: String = "uid" as "UID" of "types.UID" @required,
        /// Whether the request may go on.
        pub allowed: bool = "allowed" @required,
        /// Why not.
        pub status: Option<Status> = "status" as "Result",
        /// The text of a patch; base64 in JSON (AR-96). Webhooks may also send a list of numbers,
        /// as those written with `kube` do.
        pub patch: Vec<u8> = "patch",
        /// The type of the patch, `JSONPatch`.
        pub patch_type: Option<String> = "patchType" of "v1.PatchType",
        /// For the audit log (AR-90).
        pub audit_annotations: BTreeMap<String, String> = "auditAnnotations",
        /// For the client (AR-80).
        pub warnings: Vec<String> = "warnings",
    }
}

impl AdmissionReview {
    /// A review with a request.
    pub fn of_request(version: ReviewVersion, request: AdmissionRequest) -> Self {
        AdmissionReview { request: Some(request), ..Self::empty(version) }
    }

    /// A review with a response.
    pub fn of_response(version: ReviewVersion, response: AdmissionResponse) -> Self {
        AdmissionReview { response: Some(response), ..Self::empty(version) }
    }

    fn empty(version: ReviewVersion) -> Self {
        AdmissionReview {
            api_version: version.api_version(),
            kind: "AdmissionReview".to_owned(),
            ..AdmissionReview::default()
        }
    }

    /// The version it says it is of, if known.
    pub fn version(&self) -> Option<ReviewVersion> {
        ReviewVersion::of_api_version(&self.api_version)
    }

    /// Reads a review of any depth, as a webhook does; unknown fields are ignored (AR-05).
    pub fn from_slice(text: &[u8]) -> Result<Self, ReviewError> {
        let document = read_json_to_depth(text, REVIEW_DEPTH);
        let mut value = document.map_err(|error| ReviewError::new(error.to_string()))?.into_value();
        let mut take = |name: &str| {
            let raw = value.get_mut("request")?.get_mut(name)?.take();
            (!raw.is_null()).then(|| DeepValue::from(raw))
        };
        let (object, old_object, options) = (take("object"), take("oldObject"), take("options"));
        let mut review = Self::from_value(&value)?;
        if let Some(request) = &mut review.request {
            (request.object, request.old_object, request.options) = (object, old_object, options);
        }
        Ok(review)
    }

    /// Reads a review from a value that holds no raw objects.
    pub fn from_value(value: &Value) -> Result<Self, ReviewError> {
        let read = Self::read(value).map_err(|error| ReviewError::new(error.to_string()));
        read.map(|(review, _)| review)
    }

    /// The review as JSON text.
    pub fn to_json(&self) -> Vec<u8> {
        // Only a map with keys that are no strings could fail.
        serde_json::to_vec(self).unwrap_or_default()
    }
}

message_error! {
    /// A review that cannot be read.
    pub struct ReviewError;
}

impl AdmissionResponse {
    /// A response that lets a request go on.
    pub fn allow(request: &AdmissionRequest) -> Self {
        AdmissionResponse { uid: request.uid.clone(), allowed: true, ..Self::default() }
    }

    /// A response that refuses a request.
    pub fn deny(request: &AdmissionRequest, message: &str) -> Self {
        let mut status = Status::default();
        status.message = message.to_owned();
        Self::deny_with(request, status)
    }

    /// A response that refuses a request with a code, a reason or details of its own; a server
    /// puts the name of the webhook before its message (AR-71).
    pub fn deny_with(request: &AdmissionRequest, status: Status) -> Self {
        AdmissionResponse { uid: request.uid.clone(), status: Some(status), ..Self::default() }
    }

    /// The response with one more warning for the client.
    #[must_use]
    pub fn warning(mut self, text: impl Into<String>) -> Self {
        self.warnings.push(text.into());
        self
    }

    /// The response with an annotation for the audit log. The server puts the name of the webhook
    /// before the key (AR-90).
    #[must_use]
    pub fn audit_annotation(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.audit_annotations.insert(key.into(), value.into());
        self
    }

    /// The response with a JSON patch, given as the list of its operations.
    #[must_use]
    pub fn patch(mut self, operations: &Value) -> Self {
        self.patch = crate::to_json(operations).into_bytes();
        self.patch_type = Some("JSONPatch".to_owned());
        self
    }
}
