//! Definitions as other servers store them: in `apiextensions.k8s.io/v1beta1` (ES-12).

use billhook_apimachinery::record::text;
use billhook_apimachinery::value::{DeepValue, deep_clone};
use billhook_decode::read_json;
use bytes::Bytes;
use serde_json::{Map, Value, json};

const BETA: &str = "apiextensions.k8s.io/v1beta1";

/// Returns the text of a definition in `v1`; `None` if it is not one in `v1beta1`.
pub(super) fn from_beta(stored: &[u8]) -> Option<Bytes> {
    let mut definition = read_json(stored).ok()?.into_value();
    if text(&definition, "apiVersion") != BETA {
        return None;
    }
    let Value::Object(members) = &mut *definition else { return None };
    members.insert("apiVersion".to_owned(), "apiextensions.k8s.io/v1".into());
    if let Some(Value::Object(spec)) = members.get_mut("spec") {
        convert(spec);
    }
    Some(billhook::to_json(&definition).into())
}

fn convert(spec: &mut Map<String, Value>) {
    let only = spec.remove("version");
    let versions = spec.entry("versions").or_insert_with(|| match only {
        Some(name) => json!([{"name": name, "served": true, "storage": true}]),
        None => json!([]),
    });
    let Value::Array(mut versions) = versions.take() else { return };
    // What stands beside the versions is that of each.
    for (member, of_version) in [
        ("validation", "schema"),
        ("subresources", "subresources"),
        ("additionalPrinterColumns", "additionalPrinterColumns"),
    ] {
        let Some(shared) = spec.remove(member).map(DeepValue::from) else { continue };
        for version in versions.iter_mut().filter_map(Value::as_object_mut) {
            version.entry(of_version).or_insert_with(|| deep_clone(&shared));
        }
    }
    for version in versions.iter_mut().filter_map(Value::as_object_mut) {
        let columns = version.get_mut("additionalPrinterColumns").and_then(Value::as_array_mut);
        for column in columns.into_iter().flatten().filter_map(Value::as_object_mut) {
            rename(column, "JSONPath", "jsonPath");
        }
    }
    spec.insert("versions".to_owned(), Value::Array(versions));
    if let Some(Value::Object(conversion)) = spec.get_mut("conversion") {
        rename(conversion, "webhookClientConfig", "clientConfig");
        let members = ["clientConfig", "conversionReviewVersions"];
        let webhook: Map<_, _> =
            members.iter().filter_map(|name| conversion.remove_entry(*name)).collect();
        if webhook.contains_key("clientConfig") {
            conversion.insert("webhook".to_owned(), Value::Object(webhook));
        }
    }
}

fn rename(members: &mut Map<String, Value>, from: &str, to: &str) {
    if let Some(value) = members.remove(from) {
        members.insert(to.to_owned(), value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ES-12.
    #[test]
    fn definitions_of_the_older_version_are_read() {
        let stored = json!({
            "apiVersion": BETA, "kind": "CustomResourceDefinition",
            "metadata": {"name": "foos.example.com"},
            "spec": {
                "group": "example.com", "scope": "Namespaced", "version": "v1",
                "names": {"plural": "foos", "kind": "Foo"},
                "validation": {"openAPIV3Schema": {"type": "object"}},
                "subresources": {"status": {}},
                "additionalPrinterColumns": [{"name": "A", "type": "string", "JSONPath": ".spec.a"}],
                "versions": [{"name": "v1", "served": true, "storage": true},
                    {"name": "v2", "served": true, "storage": false}],
                "preserveUnknownFields": false,
                "conversion": {"strategy": "Webhook", "conversionReviewVersions": ["v1"],
                    "webhookClientConfig": {"url": "https://a"}}}});
        let schema = json!({"openAPIV3Schema": {"type": "object"}});
        let columns = json!([{"name": "A", "type": "string", "jsonPath": ".spec.a"}]);
        let version = |name: &str, storage: bool| {
            json!({"name": name, "served": true, "storage": storage, "schema": schema,
                "subresources": {"status": {}}, "additionalPrinterColumns": columns})
        };
        let found: Value =
            serde_json::from_slice(&from_beta(stored.to_string().as_bytes()).unwrap()).unwrap();
        assert_eq!(
            found,
            json!({
                "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                "metadata": {"name": "foos.example.com"},
                "spec": {
                    "group": "example.com", "scope": "Namespaced",
                    "names": {"plural": "foos", "kind": "Foo"},
                    "versions": [version("v1", true), version("v2", false)],
                    "preserveUnknownFields": false,
                    "conversion": {"strategy": "Webhook", "webhook": {
                        "clientConfig": {"url": "https://a"}, "conversionReviewVersions": ["v1"]}}}}),
        );
        assert_eq!(from_beta(br#"{"apiVersion": "apiextensions.k8s.io/v1"}"#), None);
        assert_eq!(from_beta(b"k8s:enc:aescbc:v1:x"), None);
    }
}
