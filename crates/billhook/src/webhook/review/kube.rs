//! From and to the types of `kube`, which are those of `kube-core`.

use billhook_apimachinery::Status;
use billhook_apimachinery::value::{DeepValue, depth};
use k8s_openapi::apimachinery::pkg::runtime::RawExtension;
use kube_core::admission as kube;
use kube_core::{Resource, TypeMeta};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{AdmissionResponse, AdmissionReview, ReviewVersion};
use crate::webhook::attributes::AdmissionRequest;

/// How deep an object may be to become one of `kube`, whose types are read, copied and dropped by
/// recursion. It is as deep as `serde_json` reads.
const MAX_DEPTH: usize = 127;

/// Something that the types of `kube` cannot hold, or an object that is not of the expected type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{member}: {message}")]
pub struct KubeConversionError {
    member: &'static str,
    message: String,
}

/// `kube` has no text where reviews have an empty one.
fn some(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

type Result<T> = std::result::Result<T, KubeConversionError>;

impl KubeConversionError {
    fn new(member: &'static str, error: &dyn std::fmt::Display) -> Self {
        KubeConversionError { member, message: error.to_string() }
    }
}

/// An object of a review as one of a type.
fn typed<T: DeserializeOwned>(name: &'static str, object: Option<DeepValue>) -> Result<Option<T>> {
    let Some(object) = object else { return Ok(None) };
    if depth(&object) > MAX_DEPTH {
        return Err(KubeConversionError::new(name, &"it is nested too deeply"));
    }
    let object = T::deserialize(&*object).map_err(|error| KubeConversionError::new(name, &error));
    object.map(Some)
}

/// A typed object as one of a review.
fn raw(name: &'static str, object: &Option<impl Serialize>) -> Result<Option<DeepValue>> {
    let Some(object) = object else { return Ok(None) };
    let object = serde_json::to_value(object);
    let object = object.map_err(|error| KubeConversionError::new(name, &error))?;
    Ok((!object.is_null()).then(|| DeepValue::from(object)))
}

impl<T: Resource + DeserializeOwned> TryFrom<AdmissionReview> for kube::AdmissionReview<T> {
    type Error = KubeConversionError;

    fn try_from(review: AdmissionReview) -> Result<Self> {
        let types = TypeMeta { api_version: review.api_version, kind: review.kind };
        let request: Option<kube::AdmissionRequest<T>> =
            review.request.map(TryInto::try_into).transpose()?;
        let response: Option<kube::AdmissionResponse> =
            review.response.map(TryInto::try_into).transpose()?;
        Ok(kube::AdmissionReview {
            request: request
                .map(|request| kube::AdmissionRequest { types: types.clone(), ..request }),
            response: response.map(|mut response| {
                response.types = types.clone();
                response
            }),
            types,
        })
    }
}

/// A review for or from a webhook that is written with `kube`.
impl<T: Resource + Serialize> TryFrom<kube::AdmissionReview<T>> for AdmissionReview {
    type Error = KubeConversionError;

    fn try_from(review: kube::AdmissionReview<T>) -> Result<Self> {
        Ok(AdmissionReview {
            api_version: review.types.api_version,
            kind: review.types.kind,
            request: review.request.map(TryInto::try_into).transpose()?,
            response: review.response.map(Into::into),
        })
    }
}

/// A request with objects of a type, or with `DynamicObject`s; a request outside of a review says
/// that it is of v1.
impl<T: Resource + DeserializeOwned> TryFrom<AdmissionRequest> for kube::AdmissionRequest<T> {
    type Error = KubeConversionError;

    fn try_from(request: AdmissionRequest) -> Result<Self> {
        let options: Option<Value> = typed("options", request.options)?;
        Ok(kube::AdmissionRequest {
            types: review_type(),
            uid: request.uid,
            kind: request.kind.into(),
            resource: request.resource.into(),
            sub_resource: some(request.sub_resource),
            request_kind: request.request_kind.map(Into::into),
            request_resource: request.request_resource.map(Into::into),
            request_sub_resource: some(request.request_sub_resource),
            name: request.name,
            namespace: some(request.namespace),
            operation: request.operation.into(),
            user_info: request.user_info.into(),
            object: typed("object", request.object)?,
            old_object: typed("oldObject", request.old_object)?,
            dry_run: request.dry_run,
            options: options.map(RawExtension),
        })
    }
}

impl<T: Resource + Serialize> TryFrom<kube::AdmissionRequest<T>> for AdmissionRequest {
    type Error = KubeConversionError;

    fn try_from(request: kube::AdmissionRequest<T>) -> Result<Self> {
        Ok(AdmissionRequest {
            uid: request.uid,
            kind: request.kind.into(),
            resource: request.resource.into(),
            sub_resource: request.sub_resource.unwrap_or_default(),
            request_kind: request.request_kind.map(Into::into),
            request_resource: request.request_resource.map(Into::into),
            request_sub_resource: request.request_sub_resource.unwrap_or_default(),
            name: request.name,
            namespace: request.namespace.unwrap_or_default(),
            operation: request.operation.into(),
            user_info: request.user_info.into(),
            object: raw("object", &request.object)?,
            old_object: raw("oldObject", &request.old_object)?,
            dry_run: request.dry_run,
            options: raw("options", &request.options)?,
        })
    }
}

/// `kube` knows no other type of patches than `JSONPatch`.
impl TryFrom<AdmissionResponse> for kube::AdmissionResponse {
    type Error = KubeConversionError;

    fn try_from(response: AdmissionResponse) -> Result<Self> {
        // The type of the patch is private there, so that it is given as JSON.
        let base = json!({
            "uid": response.uid,
            "allowed": response.allowed,
            "status": {},
            "patchType": response.patch_type,
        });
        let mut converted: kube::AdmissionResponse = serde_json::from_value(base)
            .map_err(|error| KubeConversionError::new("response", &error))?;
        converted.types = review_type();
        converted.result = response.status.map(Into::into).unwrap_or_default();
        converted.patch = Some(response.patch).filter(|patch| !patch.is_empty());
        converted.audit_annotations = response.audit_annotations.into_iter().collect();
        converted.warnings = Some(response.warnings).filter(|warnings| !warnings.is_empty());
        Ok(converted)
    }
}

/// A status that says nothing becomes none.
impl From<kube::AdmissionResponse> for AdmissionResponse {
    fn from(mut response: kube::AdmissionResponse) -> Self {
        let patch = response.patch.take().unwrap_or_default();
        let audit_annotations = std::mem::take(&mut response.audit_annotations);
        let result = std::mem::take(&mut response.result);
        // The type of the patch is private there.
        let rest = serde_json::to_value(&response).unwrap_or_default();
        let status = Status::from(result);
        AdmissionResponse {
            uid: response.uid,
            allowed: response.allowed,
            status: Some(status).filter(|status| *status != Status::default()),
            patch,
            patch_type: rest.get("patchType").and_then(Value::as_str).map(str::to_owned),
            audit_annotations: audit_annotations.into_iter().collect(),
            warnings: response.warnings.unwrap_or_default(),
        }
    }
}

fn review_type() -> TypeMeta {
    TypeMeta { api_version: ReviewVersion::V1.api_version(), kind: kube::META_KIND.to_owned() }
}
