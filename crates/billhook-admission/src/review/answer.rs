//! Reading and checking what a webhook answered (AR-50 to AR-66).

use std::collections::BTreeMap;

use billhook::webhook::{AdmissionReview, ReviewVersion};
use billhook_apimachinery::Status;
use billhook_apimachinery::TypeMeta;
use billhook_apimachinery::value::DeepValue;
use billhook_decode::read_json_to_depth;
use serde_json::Value;

use super::caller::{CallFailure, WebhookAnswer};
use super::document::{ADMISSION_REVIEW, Document};
use crate::stage::Stage;

/// The server's name for the types that it reads answers as.
const SCHEME: &str = "k8s.io/apiserver/pkg/util/webhook/client.go:71";

/// An answer that passed verification.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Verified {
    pub(crate) allowed: bool,
    pub(crate) status: Option<Status>,
    /// Empty if there is none or it does not count.
    pub(crate) patch: Vec<u8>,
    pub(crate) patch_type: String,
    pub(crate) audit_annotations: BTreeMap<String, String>,
    pub(crate) warnings: Vec<String>,
}

/// Reads the body of an answer to a review of a version (AR-51 to AR-56).
pub(crate) fn read(
    answer: &WebhookAnswer,
    version: ReviewVersion,
    reads_yaml: bool,
) -> Result<AdmissionReview, CallFailure> {
    let value = read_document(answer, ADMISSION_REVIEW, version, reads_yaml)?;
    if value.is_null() {
        return Ok(AdmissionReview::default());
    }
    AdmissionReview::from_value(&value).map_err(|error| CallFailure::new(error.to_string()))
}

/// Reads the body of an answer that should be a document of a version; the request that a webhook
/// may have left in it is dropped.
pub(super) fn read_document(
    answer: &WebhookAnswer,
    expected: Document,
    version: ReviewVersion,
    reads_yaml: bool,
) -> Result<DeepValue, CallFailure> {
    // An empty header counts as none.
    if let Some(content_type) = answer.content_type.as_deref().filter(|text| !text.is_empty()) {
        check_media_type(content_type).map_err(|error| {
            let status = Status::internal_error(&error);
            CallFailure::of_status(&status)
        })?;
    }
    if answer.body.is_empty() {
        let content_type = answer.content_type.as_deref().unwrap_or_default();
        return Err(CallFailure::new(format!(
            "0-length response with status code: {} and content type: {content_type}",
            answer.status
        )));
    }
    let mut value = parse(&answer.body, reads_yaml)?;
    if let Value::Object(members) = &mut *value {
        members.remove("request").map(DeepValue::from);
    }
    let found = TypeMeta::of_object(&value).map_err(|error| CallFailure::new(error.to_string()))?;
    check_type(&found, expected, version)?;
    Ok(value)
}

/// AR-51: JSON begins with a brace; anything else is YAML.
fn parse(body: &[u8], reads_yaml: bool) -> Result<DeepValue, CallFailure> {
    let is_json = body.trim_ascii_start().starts_with(b"{");
    if reads_yaml && !is_json {
        let document = billhook_yaml::read_document(body);
        return Ok(document.map_err(|error| CallFailure::new(error.to_string()))?.into_value());
    }
    let document = read_json_to_depth(body, billhook_decode::MAX_DEPTH).map_err(|error| {
        CallFailure::new(format!("couldn't get version/kind; json parse error: {error}"))
    });
    Ok(document?.into_value())
}

/// AR-53, AR-54.
fn check_type(
    found: &TypeMeta,
    expected: Document,
    version: ReviewVersion,
) -> Result<(), CallFailure> {
    let expected_version = expected.api_version(version);
    let or = |text, default| if str::is_empty(text) { default } else { text };
    let found_version = or(found.api_version.as_str(), expected_version.as_str());
    let found_kind = or(found.kind.as_str(), expected.kind);
    if found_version == expected_version && found_kind == expected.kind {
        return Ok(());
    }
    let is_other_version = found_version.split_once('/').is_some_and(|(group, version)| {
        group == expected.group && ReviewVersion::choose(&[version]).is_some()
    });
    let found = match (found_version, found_kind) {
        (_, kind) if is_other_version && kind == expected.kind => {
            let name = found_version.rsplit('/').next().unwrap_or_default();
            Some(format!("{name}.{kind}"))
        }
        ("v1", "Status") => Some("v1.Status".to_owned()),
        _ => None,
    };
    Err(CallFailure::new(match found {
        Some(found) => {
            let (version, kind) = (version.name(), expected.kind);
            format!("converting ({found}) to ({version}.{kind}): unknown conversion")
        }
        None => format!(
            "no kind \"{found_kind}\" is registered for version \"{found_version}\" in scheme \
             \"{SCHEME}\""
        ),
    }))
}

/// Checks an answer against the request it answers (AR-60 to AR-66).
pub(crate) fn verify(
    review: AdmissionReview,
    uid: &str,
    version: ReviewVersion,
    stage: Stage,
) -> Result<Verified, String> {
    let Some(response) = review.response else {
        return Err("webhook response was absent".to_owned());
    };
    let mut verified = Verified {
        allowed: response.allowed,
        status: response.status,
        patch: response.patch,
        patch_type: response.patch_type.clone().unwrap_or_default(),
        audit_annotations: response.audit_annotations,
        warnings: response.warnings,
    };
    if version == ReviewVersion::V1beta1 {
        match stage {
            Stage::Mutating if verified.patch.is_empty() => verified.patch_type.clear(),
            Stage::Mutating => verified.patch_type = "JSONPatch".to_owned(),
            Stage::Validating => {
                verified.patch.clear();
                verified.patch_type.clear();
            }
        }
        return Ok(verified);
    }
    if response.uid != uid {
        return Err(format!("expected response.uid=\"{uid}\", got \"{}\"", response.uid));
    }
    ADMISSION_REVIEW.check_exact(version, &review.api_version, &review.kind)?;
    let patch = !verified.patch.is_empty();
    let wrong = match (stage, patch, &response.patch_type) {
        (Stage::Mutating, true, None) => {
            "webhook returned response.patch but not response.patchType"
        }
        (Stage::Mutating, false, Some(_)) => {
            "webhook returned response.patchType but not response.patch"
        }
        (Stage::Mutating, true, Some(patch_type)) if patch_type.is_empty() => {
            "webhook returned invalid response.patchType of \"\""
        }
        (Stage::Validating, true, _) => "validating webhook may not return response.patch",
        (Stage::Validating, false, Some(_)) => {
            "validating webhook may not return response.patchType"
        }
        (Stage::Mutating, ..) | (Stage::Validating, false, None) => return Ok(verified),
    };
    Err(wrong.to_owned())
}

/// A media type of one word or two, and parameters with names and values; only the form counts.
fn check_media_type(text: &str) -> Result<(), String> {
    let is_token = |text: &str| {
        let special = "()<>@,;:\\\"/[]?=";
        !text.is_empty() && text.chars().all(|c| c.is_ascii_graphic() && !special.contains(c))
    };
    let (media_type, mut rest) = match text.split_once(';') {
        Some((media_type, parameters)) => (media_type.trim(), parameters.trim()),
        None => (text.trim(), ""),
    };
    if media_type.is_empty() {
        return Err("mime: no media type".to_owned());
    }
    let is_type = match media_type.split_once('/') {
        None => is_token(media_type),
        Some((main, sub)) => is_token(main) && is_token(sub),
    };
    if !is_type {
        return Err("mime: invalid media type".to_owned());
    }
    let invalid = || "mime: invalid media parameter".to_owned();
    while !rest.is_empty() {
        let (name, value) = rest.split_once('=').ok_or_else(invalid)?;
        if !is_token(name.trim()) {
            return Err(invalid());
        }
        let end = match value.strip_prefix('"') {
            Some(quoted) => end_of_quoted(quoted).ok_or_else(invalid)?,
            None => {
                let end = value.find(';').unwrap_or(value.len());
                let (value, after) = value.split_at_checked(end).ok_or_else(invalid)?;
                is_token(value.trim()).then_some(after).ok_or_else(invalid)?
            }
        };
        rest = end.trim_start();
        if !rest.is_empty() {
            rest = rest.strip_prefix(';').ok_or_else(invalid)?.trim();
        }
    }
    Ok(())
}

/// Returns the text after the closing quotation mark of a quoted text.
fn end_of_quoted(text: &str) -> Option<&str> {
    let mut chars = text.chars();
    loop {
        match chars.next()? {
            '"' => return Some(chars.as_str()),
            '\\' => {
                chars.next()?;
            }
            _ => {}
        }
    }
}
