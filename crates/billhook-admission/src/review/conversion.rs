//! The `ConversionReview` that a server and the conversion webhook of a definition exchange (CX-30).

use billhook::webhook::{ReviewError, ReviewVersion};
use billhook_apimachinery::Status;
use billhook_apimachinery::record;
use billhook_apimachinery::record::TypedRecord as _;
use billhook_apimachinery::value::DeepValue;
use serde_json::{Value, json};

use super::document::CONVERSION_REVIEW;

record! {
    /// A review: with a request on its way to a webhook, with a response on its way back (CX-30).
    ///
    /// A webhook reads the one and answers with the other, in the same version:
    ///
    /// ```
    /// use billhook_admission::{ConversionResponse, ConversionReview};
    /// use serde_json::json;
    ///
    /// let body = br#"{"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview",
    ///     "request": {"uid": "u", "desiredAPIVersion": "example.com/v2",
    ///         "objects": [{"apiVersion": "example.com/v1", "kind": "Foo"}]}}"#;
    /// let review = ConversionReview::from_slice(body)?;
    /// let request = review.request.as_ref().unwrap();
    /// let convert = |object: &serde_json::Value| {
    ///     let mut object = object.clone();
    ///     object["apiVersion"] = request.desired_api_version.as_str().into();
    ///     object
    /// };
    /// let converted = request.objects.iter().map(|object| convert(object));
    /// let answer = review.answer(ConversionResponse::success(request, converted));
    /// let answer: serde_json::Value = serde_json::from_slice(&answer.to_json())?;
    /// assert_eq!(answer["response"]["convertedObjects"][0]["apiVersion"], "example.com/v2");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[derive(Clone, Debug, Default, PartialEq)]
    #[non_exhaustive]
    pub struct ConversionReview = "ConversionReview" {
        /// Group and version.
        pub api_version: String = "apiVersion" as "APIVersion" @required,
        /// `ConversionReview`.
        pub kind: String = "kind" @required,
        /// The question to the webhook.
        pub request: Option<ConversionRequest> = "request",
        /// Its answer.
        pub response: Option<ConversionResponse> = "response",
    }

    /// The objects that a webhook is to convert.
    #[derive(Clone, Debug, Default, PartialEq)]
    #[non_exhaustive]
    pub struct ConversionRequest = "ConversionRequest" {
        /// The UID of the call.
        pub uid: String = "uid" as "UID" of "types.UID" @required,
        /// The group and version to convert to.
        pub desired_api_version: String = "desiredAPIVersion" as "DesiredAPIVersion" @required,
        /// The objects, in any versions.
        pub objects: Vec<DeepValue> = "objects" @required,
    }

    /// The answer of a webhook.
    #[derive(Clone, Debug, Default, PartialEq)]
    #[non_exhaustive]
    pub struct ConversionResponse = "ConversionResponse" {
        /// The UID of the request.
        pub uid: String = "uid" as "UID" of "types.UID" @required,
        /// The objects in the order of the request.
        pub converted_objects: Option<Vec<DeepValue>> = "convertedObjects"
            of "[]runtime.RawExtension" @required,
        /// Whether they could be converted, and why not.
        pub result: Status = "result" @required,
    }
}

impl ConversionReview {
    /// Creates a review with a request.
    pub fn of_request(version: ReviewVersion, request: ConversionRequest) -> Self {
        ConversionReview {
            api_version: CONVERSION_REVIEW.api_version(version),
            kind: CONVERSION_REVIEW.kind.to_owned(),
            request: Some(request),
            response: None,
        }
    }

    /// Creates the answer to this review, in its version.
    pub fn answer(&self, response: ConversionResponse) -> Self {
        ConversionReview {
            api_version: self.api_version.clone(),
            kind: self.kind.clone(),
            request: None,
            response: Some(response),
        }
    }

    /// Reads a review from JSON, as a webhook does; unknown fields are ignored.
    pub fn from_slice(text: &[u8]) -> Result<Self, ReviewError> {
        let depth = billhook_decode::MAX_DEPTH + 3;
        let document = billhook_decode::read_json_to_depth(text, depth);
        let document = document.map_err(|error| ReviewError::new(error.to_string()))?;
        let read = Self::read(document.value());
        read.map(|(review, _)| review).map_err(|error| ReviewError::new(error.to_string()))
    }

    /// Returns the review as JSON text. A server sends an empty response along with its request.
    pub fn to_json(&self) -> Vec<u8> {
        let mut document = self.to_document();
        if let Value::Object(members) = &mut *document {
            let empty = json!({"uid": "", "convertedObjects": null, "result": {"metadata": {}}});
            members.entry("response").or_insert(empty);
        }
        billhook::to_json(&document).into_bytes()
    }
}

impl ConversionResponse {
    /// Creates a response with the objects of a request in the version that it asks for.
    pub fn success<O: Into<DeepValue>>(
        request: &ConversionRequest,
        objects: impl IntoIterator<Item = O>,
    ) -> Self {
        let mut result = Status::default();
        "Success".clone_into(&mut result.status);
        let converted_objects = Some(objects.into_iter().map(Into::into).collect());
        ConversionResponse { uid: request.uid.clone(), converted_objects, result }
    }

    /// Creates a response that says why the objects cannot be converted.
    pub fn failure(request: &ConversionRequest, message: &str) -> Self {
        let mut result = Status::default();
        "Failure".clone_into(&mut result.status);
        message.clone_into(&mut result.message);
        ConversionResponse { uid: request.uid.clone(), converted_objects: None, result }
    }
}
