//! The input of vectors, and what most operations make of it.

use std::ops::Deref;
use std::path::Path;

use billhook::{CrdOptions, CrdVersion, CustomResourceDefinition, read_manifests};
use billhook_apimachinery::value::{DeepValue, deep_clone};
use billhook_apimachinery::{
    ErrorType, FieldError, FieldPath, KubernetesVersion, split_api_version,
};
use billhook_decode::{read_json, read_json_with_spans};
use billhook_schema::{CompileOptions, CompiledSchema, JsonSchemaProps, StructuralSchema};
use serde_json::{Map, Value, json};

use super::Outcome;

/// Where a vector's input is.
#[derive(Clone, Copy)]
pub(super) enum Input<'v> {
    /// In the vector.
    Inline(Given<'v>),
    /// In files that the vector names.
    Files { vector: &'v Value, directory: &'v Path },
}

/// The input of a vector.
#[derive(Clone, Copy)]
pub(super) struct Given<'v> {
    pub(super) input: &'v Value,
    /// The version of the server.
    pub(super) kubernetes: KubernetesVersion,
    /// The line of the vector.
    pub(super) line: &'v str,
}

impl Given<'_> {
    /// The text of a part of the input.
    pub(super) fn text(&self, name: &str) -> Option<&[u8]> {
        let (_, spans) = read_json_with_spans(self.line.as_bytes()).ok()?;
        let span = spans.find(&FieldPath::default().name("input").name(name))?;
        self.line.as_bytes().get(span.value.start..span.value.end)
    }
}

impl Deref for Given<'_> {
    type Target = Value;

    fn deref(&self) -> &Value {
        self.input
    }
}

pub(super) type Run = Result<Outcome, String>;

pub(super) fn ok(value: Value) -> Outcome {
    Outcome { ok: Some(DeepValue::from(value)), ..Outcome::default() }
}

pub(super) fn object(members: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    Value::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

pub(super) fn field_error(error: &FieldError, source: Option<&str>) -> DeepValue {
    let mut parts = Map::new();
    parts.insert("error".to_owned(), Value::from(error.to_string()));
    parts.insert("type".to_owned(), Value::from(error.error_type().reason()));
    parts.insert("field".to_owned(), Value::from(error.field().to_string()));
    parts.insert("detail".to_owned(), Value::from(error.detail()));
    // What has no value, what hides it, and what leaves it out.
    let value = match (error.bad_value(), error.error_type()) {
        (Some(value), _) => Some(deep_clone(value)),
        (None, ErrorType::TooLong) => Some(Value::from("<value omitted>")),
        (None, ErrorType::Required | ErrorType::Forbidden | ErrorType::Internal) => {
            Some(Value::from(""))
        }
        (None, _) => None,
    };
    parts.extend(value.map(|value| ("badvalue".to_owned(), value)));
    if let Some(source) = source {
        parts.insert("source".to_owned(), Value::from(source));
    }
    DeepValue::from(Value::Object(parts))
}

pub(super) fn schema_of(input: Given<'_>) -> Result<Option<StructuralSchema>, String> {
    match input.get("schema") {
        None | Some(Value::Null) => Ok(None),
        Some(schema) => {
            let props = JsonSchemaProps::from_value(schema).map_err(|error| error.to_string())?;
            StructuralSchema::new(props).map(Some).map_err(|error| error.to_string())
        }
    }
}

pub(super) fn compile(input: Given<'_>, resource_root: bool) -> Result<CompiledSchema, String> {
    let mut options = CompileOptions::default();
    options.resource_root = resource_root;
    options.kubernetes = input.kubernetes;
    Ok(CompiledSchema::new(schema_of(input)?.as_ref(), options))
}

pub(super) fn flag(input: Given<'_>, name: &str) -> bool {
    input.get(name).and_then(Value::as_bool).unwrap_or(false)
}

pub(super) fn object_of(input: Given<'_>) -> DeepValue {
    DeepValue::from(input.get("object").map_or(Value::Null, deep_clone))
}

/// A definition that serves the object's own group, version and kind.
pub(super) fn definition(input: Given<'_>, object: &Value) -> Result<CrdVersion, String> {
    let text = |name: &str| object.get(name).and_then(Value::as_str);
    let api_version = text("apiVersion").unwrap_or_default();
    let (group, version) = split_api_version(api_version);
    let kind = text("kind").filter(|kind| !kind.is_empty()).unwrap_or("Foo");
    let mut schema = Map::new();
    if let Some(written) = input.get("schema").filter(|schema| !schema.is_null()) {
        schema.insert("openAPIV3Schema".to_owned(), deep_clone(written));
    }
    let definition = DeepValue::from(object_value(group, version, kind, schema, input));
    let options = CrdOptions::default().kubernetes(input.kubernetes);
    let crd = CustomResourceDefinition::with_options(&definition, &options);
    let crd = crd.map_err(|error| error.to_string())?;
    crd.version(version).ok_or_else(|| "no such version".to_owned())
}

fn object_value(
    group: &str,
    version: &str,
    kind: &str,
    schema: Map<String, Value>,
    input: Given<'_>,
) -> Value {
    let mut served = json!({"name": version, "served": true, "storage": true});
    served["schema"] = Value::Object(schema);
    let mut definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "spec": {
            "group": group,
            "scope": if flag(input, "namespaced") { "Namespaced" } else { "Cluster" },
            "names": {"plural": "foos", "kind": kind},
            "preserveUnknownFields": flag(input, "preserveUnknownFields"),
        },
    });
    definition["spec"]["versions"] = Value::Array(vec![served]);
    definition
}

/// The version and the bytes of an object.
pub(super) fn subject(input: Input<'_>) -> Result<(CrdVersion, Vec<u8>), String> {
    match input {
        Input::Inline(input) => {
            let body = match input.get("objectText").and_then(Value::as_str) {
                Some(text) => text.as_bytes().to_vec(),
                None => billhook::to_json(input.get("object").unwrap_or(&Value::Null)).into_bytes(),
            };
            let parsed = match input.get("object") {
                Some(object) => DeepValue::from(deep_clone(object)),
                None if flag(input, "yaml") => read_manifests(&body)
                    .ok()
                    .and_then(|manifests| manifests.into_iter().next())
                    .map_or(DeepValue::default(), billhook::Manifest::into_value),
                None => read_json(&body).map_or(DeepValue::default(), |read| read.into_value()),
            };
            Ok((definition(input, &parsed)?, body))
        }
        Input::Files { vector, directory } => {
            let path = |name: &str| {
                let file = vector.get(name).and_then(Value::as_str).unwrap_or_default();
                directory.join(file)
            };
            let read = |name: &str| {
                std::fs::read(path(name)).map_err(|e| format!("{}: {e}", path(name).display()))
            };
            let crd = read_manifests(&read("crd")?).map_err(|error| error.to_string())?;
            let crd = crd.first().ok_or("an empty definition")?;
            let crd =
                CustomResourceDefinition::from_value(crd.value()).map_err(|e| e.to_string())?;
            let manifest = manifest(&read("object")?)?;
            let body = billhook::to_json(&manifest).into_bytes();
            let api_version = manifest.get("apiVersion").and_then(Value::as_str);
            let name = api_version.and_then(|text| text.split('/').nth(1)).unwrap_or_default();
            let version = crd.version(name).ok_or_else(|| format!("no version {name}"))?;
            Ok((version, body))
        }
    }
}

/// The object of a manifest. What the vectors' server got is JSON that another reader of YAML made
/// of it, one that takes escapes which the server's own reader refuses.
fn manifest(text: &[u8]) -> Result<DeepValue, String> {
    match read_manifests(text) {
        Ok(manifests) => {
            let first = manifests.into_iter().next().ok_or("an empty object")?;
            Ok(first.into_value())
        }
        Err(error) => serde_yaml::from_slice::<Value>(text)
            .map(DeepValue::from)
            .map_err(|_| error.to_string()),
    }
}
