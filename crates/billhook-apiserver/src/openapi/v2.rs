//! OpenAPI 2: one document about everything, with weaker schemas (DT-50). Its paths are those of
//! OpenAPI 3 in another notation.

use billhook::{CrdVersion, DeepValue, KubernetesVersion};
use billhook_apimachinery::base64;
use billhook_apimachinery::print::escape_html;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::weaken::weaken;
use super::{Edition, common, paths, schema};

const TYPES: [&str; 2] = ["application/json", "application/yaml"];
/// The types of patches, in the order that they have here.
const PATCHES: [&str; 3] =
    ["application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"];
/// Parameters that differ between kinds, or that the server does not share.
const UNSHARED: [&str; 3] = ["dryRun", "fieldValidation", "name"];

/// Returns the document of all versions.
pub(super) fn document(versions: &[CrdVersion], kubernetes: KubernetesVersion) -> DeepValue {
    let (mut items, mut definitions) = (Map::new(), Map::new());
    let common_schemas = common(kubernetes).get("schemas").and_then(Value::as_object);
    for (name, schema) in common_schemas.into_iter().flatten() {
        let mut schema = schema.clone();
        weaken(&mut schema);
        definitions.insert(name.clone(), schema);
    }
    for version in versions {
        schema::add(version, Edition::V2, &mut definitions);
        paths::add(version, &mut items);
    }
    let mut shared = Map::new();
    let items = items.into_iter().map(|(path, item)| (path, path_item(&item, &mut shared)));
    let items: Map<String, Value> = items.collect();
    let mut document = DeepValue::from(json!({
        "swagger": "2.0",
        "info": {"title": "Kubernetes", "version": format!("v{kubernetes}")},
        "paths": items,
        "parameters": shared,
    }));
    if let Value::Object(members) = &mut *document {
        members.insert("definitions".to_owned(), definitions.into());
    }
    document
}

/// The operations of a path, in the notation of OpenAPI 2.
fn path_item(item: &Value, shared: &mut Map<String, Value>) -> Value {
    let members = item.as_object().into_iter().flatten();
    let converted = members.map(|(name, value)| {
        let value = match name.as_str() {
            "parameters" => parameters(value, shared).into(),
            _ => operation(value, shared),
        };
        (name.clone(), value)
    });
    converted.collect::<Map<_, _>>().into()
}

fn operation(operation: &Value, shared: &mut Map<String, Value>) -> Value {
    let mut out = operation.as_object().cloned().unwrap_or_default();
    let is_patch = out.get("x-kubernetes-action").is_some_and(|action| action == "patch");
    let consumed = if is_patch { json!(PATCHES) } else { json!(TYPES) };
    let mut all = Vec::new();
    if let Some(body) = out.remove("requestBody") {
        all.push(share(&body_parameter(&body), shared));
    }
    if let Some(own) = out.remove("parameters") {
        all.extend(parameters(&own, shared));
    }
    if !all.is_empty() {
        out.insert("parameters".to_owned(), all.into());
    }
    if let Some(Value::Object(responses)) = out.get_mut("responses") {
        for response in responses.values_mut().filter_map(Value::as_object_mut) {
            if let Some(content) = response.remove("content") {
                response.insert("schema".to_owned(), schema_of(&content));
            }
        }
    }
    for (name, value) in
        [("consumes", consumed), ("produces", json!(TYPES)), ("schemes", json!(["https"]))]
    {
        out.insert(name.to_owned(), value);
    }
    out.into()
}

/// The schema of a body of several types, which is the same for all of them.
fn schema_of(content: &Value) -> Value {
    let first = content.as_object().and_then(|types| types.values().next());
    let mut schema = first.and_then(|first| first.get("schema")).cloned().unwrap_or_default();
    weaken(&mut schema);
    schema
}

/// A parameter, its members in the order that its hash is made of.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Parameter {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unique_items: bool,
    #[serde(rename = "type", skip_serializing_if = "String::is_empty")]
    type_: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    description: String,
    name: String,
    #[serde(rename = "in")]
    place: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    required: bool,
    #[serde(skip_serializing_if = "Value::is_null")]
    schema: Value,
}

fn body_parameter(body: &Value) -> Parameter {
    Parameter {
        name: "body".to_owned(),
        place: "body".to_owned(),
        required: body.get("required") == Some(&Value::Bool(true)),
        schema: schema_of(body.get("content").unwrap_or(&Value::Null)),
        ..Parameter::default()
    }
}

fn parameters(parameters: &Value, shared: &mut Map<String, Value>) -> Vec<Value> {
    let all = parameters.as_array().into_iter().flatten();
    let converted = all.map(|parameter| {
        let text = |place: &str| {
            parameter.pointer(place).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let flag = |place: &str| parameter.pointer(place) == Some(&Value::Bool(true));
        let parameter = Parameter {
            unique_items: flag("/schema/uniqueItems"),
            type_: text("/schema/type"),
            description: text("/description"),
            name: text("/name"),
            place: text("/in"),
            required: flag("/required"),
            schema: Value::Null,
        };
        share(&parameter, shared)
    });
    converted.collect()
}

/// Returns a parameter, or a reference to it if others have the same.
fn share(parameter: &Parameter, shared: &mut Map<String, Value>) -> Value {
    let text = escape_html(&serde_json::to_string(parameter).unwrap_or_default());
    let value: Value = serde_json::from_str(&text).unwrap_or_default();
    let is_of_meta = |name: &str| name.contains(super::META);
    let refers = parameter.schema.get("$ref").and_then(Value::as_str);
    if UNSHARED.contains(&parameter.name.as_str()) || refers.is_some_and(|name| !is_of_meta(name)) {
        return value;
    }
    let name = format!("{}-{}", parameter.name, short_hash(text.as_bytes()));
    let reference = json!({"$ref": format!("#/parameters/{name}")});
    shared.insert(name, value);
    reference
}

/// Eight characters of a hash (FNV), in base64 for URLs.
fn short_hash(text: &[u8]) -> String {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let hash = text.iter().fold(OFFSET, |hash, byte| hash.wrapping_mul(PRIME) ^ u64::from(*byte));
    let encoded = base64::encode(hash.to_be_bytes().first_chunk::<6>().map_or(&[][..], |six| six));
    encoded.replace('+', "-").replace('/', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// DT-50 (measured): a server shares this parameter by this name.
    #[test]
    fn shared_parameters_have_a_hash() {
        let body = json!({"content": {"application/json": {"schema":
            {"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.Patch"}}},
            "required": true});
        let mut shared = Map::new();
        let reference = share(&body_parameter(&body), &mut shared);
        assert_eq!(reference, json!({"$ref": "#/parameters/body-78PwaGsr"}));
        assert_eq!(shared.len(), 1);
    }
}
