//! The scale subresource: the `Scale` object that clients and webhooks see in place of the
//! resource, and the effect of an update of it on the resource (RP-76, RP-77, AR-37).

use billhook_apimachinery::metadata::ObjectMeta;
use billhook_apimachinery::record;
use billhook_apimachinery::record::{Record, TypedRecord, declared_json};
use billhook_apimachinery::value::{DeepValue, deep_clone};
use billhook_apimachinery::{
    BUILT_IN_SCHEME, FieldError, FieldPath, GroupVersionKind, KubernetesVersion, Status, TypeMeta,
    not_registered_error,
};
use serde_json::{Map, Value, json};

pub use crate::crd::ScalePaths;
use crate::decode::{Read, first_wrong_type, read};
use crate::{BodyFormat, DecodeError, FieldValidation};

const GROUP: &str = "autoscaling";
const KIND: &str = "Scale";
const VERSION: &str = "v1";
const API_VERSION: &str = "autoscaling/v1";

/// The server's error for every body that is not a `Scale` of a custom resource: its decoder looks
/// for another type after the first failure.
const NOT_REGISTERED: &str = "no kind is registered for the type v1.Scale in scheme \
    \"k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go:781\"";

record! {
    #[derive(Default)]
    struct Scale = "Scale" {
        kind: String = "kind",
        api_version: String = "apiVersion" as "APIVersion",
        metadata: ObjectMeta = "metadata" as "ObjectMeta",
        spec: ScaleSpec = "spec",
        status: ScaleStatus = "status",
    }

    #[derive(Default)]
    struct ScaleSpec = "ScaleSpec" {
        replicas: Option<i32> = "replicas",
    }

    #[derive(Default)]
    struct ScaleStatus = "ScaleStatus" {
        replicas: i32 = "replicas" @required,
        selector: Option<String> = "selector",
    }
}

/// The fields that a `Scale` takes from the metadata of its resource.
const METADATA: [&str; 5] = ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"];

/// Returns the kind of the object that clients and webhooks see.
pub fn kind() -> GroupVersionKind {
    GroupVersionKind::new(GROUP, VERSION, KIND)
}

/// Returns the `Scale` of a resource. Replicas that are 0 or not set are left out (RE-124).
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
    if let Some(replicas) = scale.wanted(resource).map_err(internal)?.filter(|n| *n != 0) {
        spec.insert("replicas".to_owned(), replicas.into());
    }
    let mut status = Map::new();
    status.insert("replicas".to_owned(), scale.observed(resource).map_err(internal)?.into());
    let selector = scale.selector(resource).map_err(internal)?;
    if !selector.is_empty() {
        status.insert("selector".to_owned(), selector.into_owned().into());
    }
    Ok(DeepValue::from(json!({
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": metadata,
        "spec": spec,
        "status": status,
    })))
}

/// Whether an object says that it is a `Scale`.
pub fn is_scale(object: &Value) -> bool {
    let is = |name, text| object.get(name).and_then(Value::as_str) == Some(text);
    is("kind", KIND) && is("apiVersion", API_VERSION)
}

/// Returns the fields of a `Scale`.
pub fn record() -> &'static Record {
    Scale::record()
}

/// Prints a `Scale`, its members in the order of the server's type (RE-14).
pub fn to_json(scale: &Value) -> String {
    declared_json(scale, Scale::record())
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

/// Sets the replicas of a resource to those of a `Scale`, in which missing ones are 0 (RP-77). The
/// object may come from a webhook.
///
/// # Errors
///
/// If the server refuses the `Scale`.
pub fn apply(scale: &ScalePaths, object: &Value, resource: &mut Value) -> Result<(), Status> {
    let (read, _) = Scale::read(object).map_err(|e| Status::internal_error(&e.to_string()))?;
    let replicas = read.spec.replicas.unwrap_or(0);
    // Those of built-in kinds are validated before their effect (BK-308).
    if replicas < 0 && scale.has_structure {
        let path = FieldPath::default().name("spec").name("replicas");
        let detail = "must be greater than or equal to 0";
        let error = FieldError::invalid(path, replicas, detail);
        return Err(Status::invalid(GROUP, KIND, &read.metadata.name, &[error]));
    }
    scale.set_wanted(resource, i64::from(replicas)).map_err(|error| Status::internal_error(&error))
}

/// Decodes a body that must be a `Scale`; returns the warnings too. Its kind and API version may be
/// missing (RE-125).
///
/// # Errors
///
/// If the server refuses the body. Only the server of built-in kinds says why (BK-22).
pub fn decode(
    scale: &ScalePaths,
    (body, format): (&[u8], BodyFormat),
    field_validation: FieldValidation,
    kubernetes: KubernetesVersion,
) -> Result<(DeepValue, Vec<String>), DecodeError> {
    let read = read_scale(body, format, field_validation, kubernetes);
    read.map_err(|error| match scale.has_structure {
        true => error,
        false => DecodeError::not_registered(NOT_REGISTERED),
    })
}

fn read_scale(
    body: &[u8],
    format: BodyFormat,
    field_validation: FieldValidation,
    kubernetes: KubernetesVersion,
) -> Result<(DeepValue, Vec<String>), DecodeError> {
    let Read { object, mut entries, .. } = read(body, format, KIND)?;
    let found = TypeMeta::of_object(&object)
        .map_err(|error| DecodeError::unrecognized(KIND, error.to_string(), Some(body)))?;
    let found = complete(found);
    if found.api_version != API_VERSION || found.kind != KIND {
        let error = not_registered_error(&found.kind, &found.api_version, BUILT_IN_SCHEME);
        return Err(DecodeError::known(&found, KIND, error));
    }
    let (mut scale, unknown) = Scale::read(&object).map_err(|error| {
        let first = first_wrong_type(body, format, Scale::record(), kubernetes);
        DecodeError::known(&found, KIND, first.unwrap_or(error).to_string())
    })?;
    // Replicas that are 0 are left out (RE-124).
    scale.spec.replicas = scale.spec.replicas.filter(|replicas| *replicas != 0);
    scale.api_version = found.api_version;
    scale.kind = found.kind;
    entries.extend(unknown);
    match field_validation {
        FieldValidation::Ignore => entries.clear(),
        FieldValidation::Strict if !entries.is_empty() => {
            return Err(DecodeError::strict((KIND, &found.version), KIND, &entries));
        }
        FieldValidation::Strict | FieldValidation::Warn => {}
    }
    Ok((scale.to_document(), entries))
}

/// Completes the type of a body by that of a `Scale`.
fn complete(mut found: TypeMeta) -> TypeMeta {
    if found.kind.is_empty() {
        KIND.clone_into(&mut found.kind);
    }
    if found.api_version.is_empty() {
        API_VERSION.clone_into(&mut found.api_version);
        GROUP.clone_into(&mut found.group);
        VERSION.clone_into(&mut found.version);
    }
    found
}
