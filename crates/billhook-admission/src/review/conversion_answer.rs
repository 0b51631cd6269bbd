//! The check of what a conversion webhook answers (CX-40, CX-41, CX-43).

use billhook::webhook::ReviewVersion;
use billhook_apimachinery::record::TypedRecord as _;
use billhook_apimachinery::value::{DeepValue, json_type};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::answer::read_document;
use super::caller::WebhookAnswer;
use super::conversion::ConversionReview;
use super::document::CONVERSION_REVIEW;

/// Why an answer is not one to the review.
pub(crate) enum ConversionFailure {
    /// There is none, or it cannot be read (CX-40).
    Call(String),
    /// It is wrong, or says that the conversion failed (CX-41).
    Response(String),
}

/// Reads the answer to a review of a version, and checks it up to the objects in it: each is an
/// object with a kind, or the text that says what else it is.
pub(crate) fn converted_objects(
    answer: &WebhookAnswer,
    version: ReviewVersion,
    uid: &str,
) -> Result<Vec<Result<DeepValue, String>>, ConversionFailure> {
    let document = read_document(answer, CONVERSION_REVIEW, version, true);
    let document = document.map_err(|error| ConversionFailure::Call(error.to_string()))?;
    let review = ConversionReview::read(&document);
    let (review, _) = review.map_err(|error| ConversionFailure::Call(error.to_string()))?;
    let objects = checked(review, version, uid).map_err(ConversionFailure::Response)?;
    let objects = objects.into_iter().enumerate();
    Ok(objects.map(|(index, object)| element(object, || sent(answer, index))).collect())
}

/// Checks a review, and returns the objects in it.
fn checked(
    review: ConversionReview,
    version: ReviewVersion,
    uid: &str,
) -> Result<Vec<DeepValue>, String> {
    if version == ReviewVersion::V1 {
        CONVERSION_REVIEW.check_exact(version, &review.api_version, &review.kind)?;
    }
    let response = review.response.ok_or("no response provided")?;
    if version == ReviewVersion::V1 && response.uid != uid {
        return Err(format!("expected response.uid=\"{uid}\", got \"{}\"", response.uid));
    }
    let result = response.result;
    if result.status != "Success" {
        return Err(match result.message.is_empty() {
            true => format!("response.result.status was '{}', not 'Success'", result.status),
            false => result.message,
        });
    }
    Ok(response.converted_objects.unwrap_or_default())
}

/// Checks that an element is an object with a kind; `sent` is its text.
fn element(object: DeepValue, sent: impl FnOnce() -> Option<String>) -> Result<DeepValue, String> {
    match &*object {
        Value::Object(members) => match members.get("kind") {
            Some(Value::String(kind)) if !kind.is_empty() => Ok(object),
            _ => {
                let text = sent().unwrap_or_else(|| billhook::to_json(&object));
                Err(format!("Object 'Kind' is missing in '{text}'"))
            }
        },
        Value::Null => Err("unexpected end of JSON input".to_owned()),
        other => Err(format!(
            "json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
            json_type(other)
        )),
    }
}

/// Returns an element of an answer as it was sent; none of an answer in YAML.
fn sent(answer: &WebhookAnswer, index: usize) -> Option<String> {
    #[derive(Deserialize)]
    struct Review<'a> {
        #[serde(borrow)]
        response: Response<'a>,
    }
    #[derive(Deserialize)]
    struct Response<'a> {
        #[serde(borrow, rename = "convertedObjects")]
        converted_objects: Vec<&'a RawValue>,
    }
    let review: Review<'_> = serde_json::from_slice(&answer.body).ok()?;
    review.response.converted_objects.get(index).map(|raw| raw.get().to_owned())
}
