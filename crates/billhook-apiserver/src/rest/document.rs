//! Bodies of kinds that are answered and not stored.

use billhook::{FieldValidation, read_body};
use billhook_admission::Warnings;
use billhook_apimachinery::record::{Record, complete, decode};
use billhook_apimachinery::value::DeepValue;
use billhook_apimachinery::{KubernetesVersion, Status};

use super::options::Body;
use crate::request::Request;

/// Reads the body of a request as an object of a type, which clients send as protobuf, too.
pub(crate) fn read_document(
    request: &Request,
    record: &'static Record,
    (kind, version): (&str, &str),
    kubernetes: KubernetesVersion,
    (validation, warnings): (FieldValidation, &mut Warnings),
) -> Result<DeepValue, Status> {
    let body = Body::of(request, Some(record))?;
    let read = read_body(&body.text, body.format, kind);
    let mut object = read.map_err(|error| Status::bad_request(error.to_string()))?;
    let refused = |why: String| {
        Status::bad_request(format!(
            "{kind} in version \"{version}\" cannot be handled as a {kind}: {why}"
        ))
    };
    let unknown = decode(&mut object, record, kubernetes);
    let unknown = unknown.map_err(|error| refused(error.to_string()))?;
    match validation {
        FieldValidation::Strict if !unknown.is_empty() => {
            return Err(refused(format!("strict decoding error: {}", unknown.join(", "))));
        }
        FieldValidation::Warn => unknown.iter().for_each(|field| warnings.add(field)),
        _ => {}
    }
    complete(&mut object, record, kubernetes);
    Ok(object)
}
