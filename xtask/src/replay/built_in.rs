//! Requests for the few built-in kinds that policies were recorded with.

use std::collections::BTreeMap;

use billhook::apply::MergeSchema;
use billhook::webhook::{AdmissionAttributes, ApiResource, Operation};
use billhook::{Scope, Status};
use billhook_admission::{
    Chain, MemoryCluster, ObjectModel, ObjectModelError, RequestOptions, now,
};
use billhook_apimachinery::record::{TypedRecord as _, check_types};
use billhook_apimachinery::value::{DeepValue, deep_clone};
use billhook_apimachinery::{GroupVersionKind, GroupVersionResource, KubernetesVersion, record};
use billhook_schema::{CompileOptions, CompiledSchema, JsonSchemaProps};
use serde_json::{Map, Value, json};

use super::pointer::text;
use super::request::{Request, Route, user};
use super::response::Response;

/// The kinds whose fields are known.
const KNOWN: [(&str, &[&str]); 2] =
    [("ConfigMap", &["binaryData", "data", "immutable"]), ("Namespace", &["spec", "status"])];
/// The random part of a name like any other.
const NAME_SUFFIX: &str = "bcdfg";
/// A UID like any other.
const UID: &str = "00000000-0000-4000-8000-000000000000";

record! {
    /// The fields of ConfigMaps.
    #[derive(Default)]
    struct ConfigMap = "ConfigMap" {
        immutable: Option<bool> = "immutable",
        data: BTreeMap<String, String> = "data",
        binary_data: BTreeMap<String, Vec<u8>> = "binaryData",
    }
}

/// Objects of built-in kinds.
pub(super) struct BuiltIns;

impl ObjectModel for BuiltIns {
    fn merge_schema(&self, kind: &GroupVersionKind) -> Option<MergeSchema> {
        let texts = json!({"type": "object", "additionalProperties": {"type": "string"}});
        let properties = match kind.kind.as_str() {
            "ConfigMap" => json!({"data": texts, "binaryData": texts,
                "immutable": {"type": "boolean"}}),
            "Namespace" => json!({
                "spec": {"type": "object", "properties": {"finalizers":
                    {"type": "array", "items": {"type": "string"}}}},
                "status": {"type": "object", "properties": {"phase": {"type": "string"}}},
            }),
            _ => return None,
        };
        let schema = json!({"type": "object", "properties": properties});
        let written: JsonSchemaProps = serde_json::from_value(schema).ok()?;
        let mut options = CompileOptions::default();
        options.resource_root = true;
        let compiled = CompiledSchema::of_part(&written, options);
        Some(MergeSchema::new(&compiled, &written, false))
    }

    fn check_readable(
        &self,
        object: &Value,
        kind: &GroupVersionKind,
    ) -> Result<(), ObjectModelError> {
        let Some((_, fields)) = KNOWN.iter().find(|(known, _)| *known == kind.kind) else {
            return Ok(());
        };
        if kind.kind == "ConfigMap" {
            let types =
                check_types(object, ConfigMap::record(), KubernetesVersion::default(), None);
            types.map_err(|error| error.to_string())?;
        }
        let members = object.as_object().into_iter().flatten();
        for (name, _) in members {
            let is_common = ["apiVersion", "kind", "metadata"].contains(&name.as_str());
            if !is_common && !fields.contains(&name.as_str()) {
                let error = format!("strict decoding error: unknown field \"{name}\"");
                return Err(error.into());
            }
        }
        Ok(())
    }
}

/// Answers a write of a built-in kind.
pub(super) async fn write(
    request: &Request,
    route: &Route<'_>,
    chain: Chain,
    world: &MemoryCluster,
    stored: &[DeepValue],
) -> Option<Response> {
    let body = request.body_value()?;
    let (is_create, object, old) = match request.method.as_str() {
        "POST" => (true, DeepValue::from(body), None),
        "PATCH" => {
            let old = stored.iter().find(|it| text(it, "/metadata/name") == route.name)?;
            let mut merged = deep_clone(old);
            merge_patch(&mut merged, &body);
            (false, DeepValue::from(merged), Some(old))
        }
        _ => return None,
    };
    let (api_version, kind) = (text(&object, "/apiVersion"), text(&object, "/kind"));
    if kind == "SelfSubjectAccessReview" {
        return Some(review(request, route, chain, world, &object).await);
    }
    let resource = ApiResource::built_in(api_version, kind)?;
    let is_namespace = kind == "Namespace";
    let name = text(&object, "/metadata/name").to_owned();
    let mut attributes = match old {
        Some(old) => resource.update(object, old.clone()),
        None => resource.create(object),
    };
    attributes.user = user();
    attributes.dry_run = route.is_dry_run();
    let add_label = |attributes: &mut AdmissionAttributes| {
        if let Some(object) = attributes.object.as_mut().filter(|_| is_namespace) {
            let labels = object.pointer("/metadata/labels").cloned().unwrap_or_else(|| json!({}));
            set(object, "metadata", "labels", labels);
            let name = json!({"metadata": {"labels": {"kubernetes.io/metadata.name": name}}});
            merge_patch(object, &name);
        }
    };
    add_label(&mut attributes);
    let options = RequestOptions::default();
    let prepare = |attributes: &mut AdmissionAttributes, _: &mut _| {
        let Some(object) = attributes.object.as_mut() else { return Ok(()) };
        let base = text(object, "/metadata/generateName");
        if is_create && attributes.name.is_empty() && !base.is_empty() {
            attributes.name = format!("{base}{NAME_SUFFIX}");
            set(object, "metadata", "name", attributes.name.as_str().into());
        }
        Ok(())
    };
    let outcome = chain.run(attributes, world, &options, prepare).await;
    let annotations = outcome.annotations.iter();
    let annotations = annotations.map(|(key, it)| (key.to_owned(), it.value.clone())).collect();
    let answer = match outcome.result {
        Err(status) => Response::refused(&status),
        Ok(attributes) => {
            let mut object = attributes.object.unwrap_or_default();
            set(&mut object, "metadata", "uid", UID.into());
            set(&mut object, "metadata", "creationTimestamp", now().to_rfc3339().into());
            if is_namespace {
                set(&mut object, "spec", "finalizers", json!(["kubernetes"]));
                set(&mut object, "status", "phase", "Active".into());
            }
            Response::new(if is_create { 201 } else { 200 }, object)
        }
    };
    Some(Response { warnings: outcome.warnings.texts(), annotations, ..answer })
}

/// A review of access: everything is allowed, unless the chain refuses it.
async fn review(
    request: &Request,
    route: &Route<'_>,
    chain: Chain,
    world: &MemoryCluster,
    object: &DeepValue,
) -> Response {
    let kind = GroupVersionKind::new(route.group, route.version, text(object, "/kind"));
    let resource = GroupVersionResource::new(route.group, route.version, route.resource);
    let resource = ApiResource::new(resource, kind, Scope::Cluster);
    let attributes = resource.create(object.clone());
    debug_assert_eq!(attributes.operation, Operation::Create, "{}", request.method);
    let options = RequestOptions::default();
    let refused: Result<_, Status> =
        chain.run(attributes, world, &options, |_, _| Ok(())).await.result;
    match refused {
        Err(status) => Response::refused(&status),
        Ok(_) => {
            let mut object = object.clone();
            set(&mut object, "status", "allowed", true.into());
            merge_patch(&mut object, &json!({"metadata": {}}));
            Response::new(201, object)
        }
    }
}

/// The namespace as it is stored, with what the server sets.
pub(super) fn stored_namespace(namespace: &Value) -> DeepValue {
    let mut stored = DeepValue::from(deep_clone(namespace));
    let name = text(namespace, "/metadata/name").to_owned();
    let label = json!({"metadata": {"labels": {"kubernetes.io/metadata.name": name}}});
    merge_patch(&mut stored, &label);
    set(&mut stored, "metadata", "uid", UID.into());
    set(&mut stored, "metadata", "resourceVersion", "7".into());
    set(&mut stored, "metadata", "creationTimestamp", now().to_rfc3339().into());
    set(&mut stored, "spec", "finalizers", json!(["kubernetes"]));
    set(&mut stored, "status", "phase", "Active".into());
    stored
}

/// Sets a member of a member.
fn set(object: &mut Value, part: &str, name: &str, value: Value) {
    let Value::Object(members) = object else { return };
    let part = members.entry(part.to_owned()).or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(part) = part {
        part.insert(name.to_owned(), value);
    }
}

/// RFC 7386
fn merge_patch(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(members) = target else { return };
    for (name, value) in patch {
        match value {
            Value::Null => drop(members.remove(name)),
            value => merge_patch(members.entry(name.clone()).or_insert(Value::Null), value),
        }
    }
}
