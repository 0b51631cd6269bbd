//! The scale subresource: the `Scale` object that clients and webhooks see in place of the
//! resource, and the effect of an update of it on the resource (RP-76, RP-77, AR-37).

use billhook_apimachinery::metadata::{Invalid, decode_metadata};
use billhook_apimachinery::value::{DeepValue, Num, deep_clone};
use serde_json::{Map, Value, json};

use crate::coerce_object::type_meta_of_body;
pub use crate::crd::ScalePaths;
use crate::decode::{Read, read};
use crate::{BodyFormat, DecodeError, FieldValidation};
use billhook_apimachinery::GroupVersionKind;
use billhook_apimachinery::Status;
use billhook_apimachinery::record::{Field, OBJECT_META, Record, Type, typed};

const GROUP: &str = "autoscaling";
const KIND: &str = "Scale";
const API_VERSION: &str = "autoscaling/v1";

static SCALE: Record = Record {
    name: KIND,
    fields: &[
        Field("apiVersion", "APIVersion", Type::Text("string")),
        Field("kind", "Kind", Type::Text("string")),
        Field("metadata", "ObjectMeta", Type::Record(&OBJECT_META)),
        Field("spec", "Spec", Type::Record(&SPEC)),
        Field("status", "Status", Type::Record(&STATUS)),
    ],
};

static SPEC: Record =
    Record { name: "ScaleSpec", fields: &[Field("replicas", "Replicas", Type::Int("int32"))] };

static STATUS: Record = Record {
    name: "ScaleStatus",
    fields: &[
        Field("replicas", "Replicas", Type::Int("int32")),
        Field("selector", "Selector", Type::Text("string")),
    ],
};

/// The fields that a `Scale` takes from the metadata of its resource.
const METADATA: [&str; 5] = ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"];

/// Returns the kind of the object that clients and webhooks see.
pub fn kind() -> GroupVersionKind {
    GroupVersionKind::new(GROUP, "v1", KIND)
}

/// Returns the `Scale` of a resource. Where the replicas are not set, it does not have them either.
///
/// # Errors
///
/// If a value at one of the paths has the wrong type.
pub fn of_resource(scale: &ScalePaths, resource: &Value) -> Result<DeepValue, Status> {
    let internal = |error: String| Status::internal_error(&error);
    let mut metadata = Map::new();
    for name in METADATA {
        if let Some(value) = resource.pointer(&format!("/metadata/{name}")) {
            metadata.insert(name.to_owned(), deep_clone(value));
        }
    }
    let mut spec = Map::new();
    if let Some(replicas) = scale.wanted(resource).map_err(internal)? {
        spec.insert("replicas".to_owned(), replicas.into());
    }
    let mut status = Map::new();
    status.insert("replicas".to_owned(), scale.observed(resource).map_err(internal)?.into());
    let selector = scale.selector(resource).map_err(internal)?;
    if !selector.is_empty() {
        status.insert("selector".to_owned(), selector.into());
    }
    Ok(DeepValue::from(json!({
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": metadata,
        "spec": spec,
        "status": status,
    })))
}

/// Returns the `Scale` that a client gets (RP-76).
///
/// # Errors
///
/// If a value at one of the paths has the wrong type.
pub fn returned(scale: &ScalePaths, resource: &Value) -> Result<DeepValue, Status> {
    let wanted = scale.wanted(resource).map_err(|error| Status::internal_error(&error))?;
    if wanted.is_none() {
        let path = &scale.spec_replicas;
        let error = format!("the spec replicas field \"{path}\" does not exist");
        return Err(Status::internal_error(&error));
    }
    of_resource(scale, resource)
}

/// Sets the replicas of a resource to those of a `Scale` (RP-77). The object may come from a webhook.
///
/// # Errors
///
/// If the server refuses the `Scale`.
pub fn apply(scale: &ScalePaths, object: &Value, resource: &mut Value) -> Result<(), Status> {
    typed::read(object, &SCALE).map_err(|error| Status::internal_error(&error))?;
    let replicas = integer(object, "/spec/replicas").ok_or_else(|| {
        let path = &scale.spec_replicas;
        Status::bad_request(format!("the spec replicas field \"{path}\" cannot be empty"))
    })?;
    scale.set_wanted(resource, replicas).map_err(|error| Status::internal_error(&error))
}

fn integer(object: &Value, pointer: &str) -> Option<i64> {
    match object.pointer(pointer) {
        Some(Value::Number(number)) => match Num::of(number) {
            Num::Int(int) => Some(int),
            // Whole, and not out of range: reading saw to that.
            Num::Float(float) => Some(float as i64),
        },
        _ => None,
    }
}

/// Returns a `Scale` with its known fields only.
fn normal(object: &Value) -> Result<DeepValue, String> {
    let metadata = object.get("metadata").unwrap_or(&Value::Null);
    let metadata = decode_metadata(metadata, Invalid::Refuse).map_err(|error| error.to_string())?;
    let mut spec = Map::new();
    if let Some(replicas) = integer(object, "/spec/replicas") {
        spec.insert("replicas".to_owned(), replicas.into());
    }
    let mut status = Map::new();
    let observed = integer(object, "/status/replicas").unwrap_or(0);
    status.insert("replicas".to_owned(), observed.into());
    if let Some(selector) = object.pointer("/status/selector").and_then(Value::as_str) {
        status.insert("selector".to_owned(), selector.into());
    }
    let mut scale = Map::new();
    scale.insert("apiVersion".to_owned(), API_VERSION.into());
    scale.insert("kind".to_owned(), KIND.into());
    scale.insert("metadata".to_owned(), metadata.into_inner());
    scale.insert("spec".to_owned(), spec.into());
    scale.insert("status".to_owned(), status.into());
    Ok(DeepValue::from(Value::Object(scale)))
}

/// Decodes a body that must be a `Scale`; returns the warnings too (RP-10, RP-24).
///
/// # Errors
///
/// If the server refuses the body.
pub fn decode(
    body: &[u8],
    field_validation: FieldValidation,
) -> Result<(DeepValue, Vec<String>), DecodeError> {
    let Read { object, mut entries, converted } = read(body, BodyFormat::Detect, KIND)?;
    let shown = converted.as_ref().map_or(body, String::as_bytes);
    let found = type_meta_of_body(&object, Some(shown), KIND)?;
    let refused = |error: String| DecodeError::known(&found, KIND, error);
    if found.api_version != API_VERSION {
        return Err(DecodeError::wrong_version(format!(
            "the API version in the data ({}) does not match the expected API version \
             ({API_VERSION})",
            found.api_version
        )));
    }
    if found.kind != KIND {
        let error =
            format!("no kind \"{}\" is registered for version \"{API_VERSION}\"", found.kind);
        return Err(refused(error));
    }
    let unknown = typed::read(&object, &SCALE).map_err(refused)?;
    let object = normal(&object).map_err(refused)?;
    entries.extend(unknown);
    match field_validation {
        FieldValidation::Ignore => entries.clear(),
        FieldValidation::Strict if !entries.is_empty() => {
            let error = format!("strict decoding error: {}", entries.join(", "));
            return Err(refused(error).strict());
        }
        FieldValidation::Strict | FieldValidation::Warn => {}
    }
    Ok((object, entries))
}
