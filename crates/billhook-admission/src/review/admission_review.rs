//! The `AdmissionReview` that a server and a webhook exchange (AR-01 to AR-05).

use std::collections::BTreeMap;
use std::sync::Arc;

use billhook_apimachinery::value::{DeepValue, Plain, json_type};
use billhook_decode::read_json_to_depth;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use billhook::webhook::Operation;
use billhook_apimachinery::Status;
use billhook_apimachinery::message_error;
use billhook_apimachinery::serde_null::{null_is_default, record, record_or_default};
use billhook_apimachinery::{GroupVersionKind, GroupVersionResource, UserInfo};

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

    pub(crate) fn of_api_version(api_version: &str) -> Option<Self> {
        let (group, version) = api_version.split_once('/')?;
        (group == REVIEW_GROUP).then(|| Self::by_name(version)).flatten()
    }
}

/// A raw object of a review, shared because several reviews have the same one.
pub type SharedObject = Arc<DeepValue>;

/// A review: with a request on its way to a webhook, with a response on its way back (AR-04).
///
/// A webhook reads the one and answers with the other, in the same version (AR-95):
///
/// ```
/// use billhook_admission::{AdmissionResponse, AdmissionReview, ReviewError, ReviewVersion};
///
/// /// Lets nobody delete what is labelled as kept.
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[non_exhaustive]
pub struct AdmissionReview {
    /// Group and version; [`ReviewVersion::api_version`].
    #[serde(deserialize_with = "null_is_default")]
    pub api_version: String,
    /// `AdmissionReview`.
    #[serde(deserialize_with = "null_is_default")]
    pub kind: String,
    /// The request, on the way to a webhook.
    #[serde(deserialize_with = "record", skip_serializing_if = "Option::is_none")]
    pub request: Option<AdmissionRequest>,
    /// The response, on the way back.
    #[serde(deserialize_with = "record", skip_serializing_if = "Option::is_none")]
    pub response: Option<AdmissionResponse>,
}

/// The request of a review (AR-02).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[non_exhaustive]
pub struct AdmissionRequest {
    /// Names this call (AR-10).
    #[serde(deserialize_with = "null_is_default")]
    pub uid: String,
    /// The kind that matched; the objects are of it (AR-11).
    #[serde(deserialize_with = "record_or_default")]
    pub kind: GroupVersionKind,
    /// The resource that matched.
    #[serde(deserialize_with = "record_or_default")]
    pub resource: GroupVersionResource,
    /// The subresource; empty for none.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "String::is_empty")]
    pub sub_resource: String,
    /// The kind of the client's request (AR-12).
    #[serde(deserialize_with = "record", skip_serializing_if = "Option::is_none")]
    pub request_kind: Option<GroupVersionKind>,
    /// The resource of the client's request.
    #[serde(deserialize_with = "record", skip_serializing_if = "Option::is_none")]
    pub request_resource: Option<GroupVersionResource>,
    /// The subresource of the client's request; empty for none.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "String::is_empty")]
    pub request_sub_resource: String,
    /// The name of the object; empty if it has none yet (AR-13).
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The namespace of the object; empty for none (AR-14).
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// The operation.
    pub operation: Operation,
    /// Who does it.
    #[serde(deserialize_with = "record_or_default")]
    pub user_info: UserInfo,
    /// The new object (AR-17).
    #[serde(serialize_with = "raw", deserialize_with = "read_raw")]
    pub object: Option<SharedObject>,
    /// The existing object (AR-18).
    #[serde(serialize_with = "raw", deserialize_with = "read_raw")]
    pub old_object: Option<SharedObject>,
    /// Whether nothing will be stored (AR-20).
    #[serde(deserialize_with = "null_is_default")]
    pub dry_run: bool,
    /// The options of the operation (AR-19).
    #[serde(serialize_with = "raw", deserialize_with = "read_raw")]
    pub options: Option<SharedObject>,
}

/// The response of a review (AR-03).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[non_exhaustive]
pub struct AdmissionResponse {
    /// The UID of the request.
    #[serde(deserialize_with = "null_is_default")]
    pub uid: String,
    /// Whether the request may go on.
    #[serde(deserialize_with = "null_is_default")]
    pub allowed: bool,
    /// Why not.
    #[serde(deserialize_with = "record", skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// The text of a patch; base64 in JSON (AR-96).
    #[serde(with = "base64_bytes", skip_serializing_if = "Vec::is_empty")]
    pub patch: Vec<u8>,
    /// The type of the patch, `JSONPatch`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch_type: Option<String>,
    /// For the audit log (AR-90).
    #[serde(deserialize_with = "nulls_are_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub audit_annotations: BTreeMap<String, String>,
    /// For the client (AR-80).
    #[serde(deserialize_with = "null_texts", skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
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
            (!raw.is_null()).then(|| Arc::new(DeepValue::from(raw)))
        };
        let (object, old_object, options) = (take("object"), take("oldObject"), take("options"));
        let mut review = Self::of_value(&value)?;
        if let Some(request) = &mut review.request {
            *request = AdmissionRequest { object, old_object, options, ..std::mem::take(request) };
        }
        Ok(review)
    }

    /// Reads a review from a value that holds no raw objects.
    pub(crate) fn of_value(value: &Value) -> Result<Self, ReviewError> {
        if !value.is_object() {
            let found = json_type(value);
            return Err(ReviewError::new(format!("expected an object, got {found}")));
        }
        Self::deserialize(value).map_err(|error| ReviewError::new(error.to_string()))
    }

    /// The review as JSON text.
    pub fn to_json(&self) -> Vec<u8> {
        // Only a map with keys that are not strings could fail.
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
        self.patch = billhook::to_json(operations).into_bytes();
        self.patch_type = Some("JSONPatch".to_owned());
        self
    }
}

fn raw<S: Serializer>(object: &Option<SharedObject>, serializer: S) -> Result<S::Ok, S::Error> {
    match object {
        Some(object) => Plain(object).serialize(serializer),
        None => serializer.serialize_none(),
    }
}

fn read_raw<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SharedObject>, D::Error> {
    let value = Option::<Value>::deserialize(deserializer)?;
    Ok(value.map(|value| Arc::new(DeepValue::from(value))))
}

/// A map of texts, in which null is the empty text.
fn nulls_are_default<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, String>, D::Error> {
    let map: BTreeMap<String, Option<String>> = null_is_default(deserializer)?;
    Ok(map.into_iter().map(|(key, value)| (key, value.unwrap_or_default())).collect())
}

/// A list of texts, in which null is the empty text.
fn null_texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let texts: Vec<Option<String>> = null_is_default(deserializer)?;
    Ok(texts.into_iter().map(Option::unwrap_or_default).collect())
}

mod base64_bytes {
    //! Bytes that are base64 text in JSON. Webhooks may also send them as a list of numbers, as
    //! those written with `kube` do: the server reads both.

    use std::fmt;

    use serde::de::{Error, SeqAccess, Visitor};
    use serde::{Deserializer, Serializer};

    use billhook_apimachinery::base64;

    pub(crate) fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&base64::encode(bytes))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        from.deserialize_any(Bytes)
    }

    struct Bytes;

    impl<'de> Visitor<'de> for Bytes {
        type Value = Vec<u8>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("base64 text")
        }

        fn visit_unit<E: Error>(self) -> Result<Vec<u8>, E> {
            Ok(Vec::new())
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<Vec<u8>, E> {
            base64::decode(text)
                .map_err(|offset| E::custom(format!("illegal base64 data at input byte {offset}")))
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<u8>, A::Error> {
            let mut bytes = Vec::new();
            while let Some(byte) = list.next_element::<Option<u8>>()? {
                bytes.push(byte.unwrap_or_default());
            }
            Ok(bytes)
        }
    }
}
