//! VolumeAttachments (BK-435).

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::names::dns1123_subdomain;
use billhook_apimachinery::record::Type;
use billhook_apimachinery::{FieldError, FieldPath};
use serde_json::Value;

use crate::behavior::{Behavior, Findings, WriteContext};
use crate::cells;
use crate::core::volume_claim::access_modes;
use crate::generated::storage_v1::VOLUME_ATTACHMENT_SPEC;
use crate::rules::{driver_name, invalid_internal, named};
use crate::values::{items, members, path, text, value_at};

/// The highest sum of the lengths of names and values of an attachment's metadata.
const MAX_METADATA: usize = 262_144;

const MAX_MESSAGE: usize = 1_024;

/// The rules of attachments.
#[derive(Debug)]
pub(crate) struct VolumeAttachment;

impl Behavior for VolumeAttachment {
    fn takes_metadata(&self) -> bool {
        false
    }

    fn prepare(&self, attachment: &mut Value, old: Option<&Value>, _: &WriteContext<'_>) {
        if let (None, Value::Object(members)) = (old, attachment) {
            members.remove("status");
        }
    }

    fn validate(
        &self,
        attachment: &Value,
        old: Option<&Value>,
        _: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        let errors = &mut found.errors;
        let (attacher, node) =
            (text(attachment, "/spec/attacher"), text(attachment, "/spec/nodeName"));
        if attacher.is_empty() {
            errors.push(FieldError::required(path(&["spec", "attacher"]), ""));
        }
        validate_source(attachment, errors);
        named(errors, &path(&["spec", "nodeName"]), node, dns1123_subdomain);
        validate_status(attachment, errors);
        let Some(old) = old else {
            if !attacher.is_empty() {
                driver_name(errors, &path(&["spec", "attacher"]), attacher);
            }
            if let Some(name) = value_at(attachment, "/spec/source/persistentVolumeName") {
                let at = path(&["spec", "source", "persistentVolumeName"]);
                named(errors, &at, text(name, ""), dns1123_subdomain);
            }
            return;
        };
        let spec = attachment.get("spec");
        if spec != old.get("spec") {
            let type_ = (Type::Record(|| &VOLUME_ATTACHMENT_SPEC), "storage");
            errors.push(invalid_internal(path(&["spec"]), spec, type_, "field is immutable"));
        }
    }

    fn cells(&self, object: &Value, now: Time) -> Vec<Value> {
        let is_attached = value_at(object, "/status/attached").and_then(Value::as_bool);
        vec![
            cells::name(object),
            cells::at(object, "/spec/attacher"),
            cells::at(object, "/spec/source/persistentVolumeName"),
            cells::at(object, "/spec/nodeName"),
            is_attached.unwrap_or_default().into(),
            cells::created(object, now),
        ]
    }
}

fn validate_source(attachment: &Value, errors: &mut Vec<FieldError>) {
    let of = |name: &str| value_at(attachment, &format!("/spec/source/{name}"));
    let (name, inline) = (of("persistentVolumeName"), of("inlineVolumeSpec"));
    let at = path(&["spec", "source"]);
    let detail = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
    match (name, inline) {
        (None, None) => errors.push(FieldError::required(at, detail)),
        (Some(_), Some(_)) => errors.push(FieldError::forbidden(at, detail)),
        (Some(name), None) if text(name, "").is_empty() => {
            let detail = "must specify non empty persistentVolumeName";
            errors.push(FieldError::required(at.name("persistentVolumeName"), detail));
        }
        (None, Some(inline)) => validate_inline(inline, &at.name("inlineVolumeSpec"), errors),
        _ => {}
    }
}

/// A volume that is only in an attachment has a CSI driver, and nothing claims or chooses it.
fn validate_inline(volume: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    for name in ["claimRef", "capacity", "nodeAffinity", "storageClassName"] {
        if volume.get(name).is_some() {
            let detail = "may not be specified in the context of inline volumes";
            errors.push(FieldError::forbidden(at.clone().name(name), detail));
        }
    }
    if volume.get("csi").is_none() {
        let detail = "has to be specified in the context of inline volumes";
        errors.push(FieldError::required(at.clone().name("csi"), detail));
    }
    if items(volume, "/accessModes").is_empty() {
        errors.push(FieldError::required(at.clone().name("accessModes"), ""));
    }
    access_modes(errors, at, volume);
}

fn validate_status(attachment: &Value, errors: &mut Vec<FieldError>) {
    let metadata = members(attachment, "/status/attachmentMetadata");
    let bytes: usize = metadata.map(|(name, value)| name.len() + text(value, "").len()).sum();
    if bytes > MAX_METADATA {
        too_long(errors, path(&["status", "attachmentMetadata"]), MAX_METADATA);
    }
    for name in ["attachError", "detachError"] {
        let Some(error) = value_at(attachment, &format!("/status/{name}")) else { continue };
        let at = path(&["status", name]);
        if text(error, "/message").len() > MAX_MESSAGE {
            too_long(errors, at.clone().name("message"), MAX_MESSAGE);
        }
        let code = error.get("errorCode").and_then(Value::as_i64);
        if let Some(code) = code.filter(|code| *code < 0) {
            let detail = "must be between 0 and math.MaxInt32, inclusive";
            errors.push(FieldError::invalid(at.name("errorCode"), code, detail));
        }
    }
}

fn too_long(errors: &mut Vec<FieldError>, at: FieldPath, max: usize) {
    errors.push(FieldError::too_long(at, i64::try_from(max).unwrap_or(i64::MAX)));
}
