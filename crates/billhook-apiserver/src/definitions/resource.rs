//! The resource `customresourcedefinitions`, described by a definition of its own (LC-01).

use std::sync::Arc;

use billhook::{CrdOptions, KubernetesVersion};
use billhook_admission::{Chain, Unreachable};
use billhook_kinds::Kind;
use serde_json::{Value, json};

use super::strategy::DefinitionStrategy;
use crate::resources::Resource;

/// The name of the definition of definitions.
pub(crate) const DEFINITIONS: &str = "customresourcedefinitions.apiextensions.k8s.io";

/// Compiles the resource of definitions for a server of a version.
pub(crate) fn compile(kind: &'static Kind, kubernetes: KubernetesVersion) -> Option<Resource> {
    let options = CrdOptions::default().kubernetes(kubernetes);
    let resource = Resource::new(&document(), &options, Chain::new(Unreachable)).ok()?;
    Some(resource.native(Arc::new(DefinitionStrategy { kubernetes }), kind))
}

/// Its definition. The types of fields are those of the record; the schema says who owns what.
fn document() -> Value {
    let names = json!({"type": "object", "properties": {
        "plural": {"type": "string"},
        "singular": {"type": "string"},
        "shortNames": {"type": "array", "items": {"type": "string"}},
        "kind": {"type": "string"},
        "listKind": {"type": "string"},
        "categories": {"type": "array", "items": {"type": "string"}},
    }});
    let any = json!({"x-kubernetes-preserve-unknown-fields": true});
    let conditions = json!({
        "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"],
        "nullable": true,
        "items": {"type": "object", "required": ["type"], "properties": {
            "type": {"type": "string"},
            "status": {"type": "string"},
            "lastTransitionTime": {"type": "string", "nullable": true},
            "reason": {"type": "string"},
            "message": {"type": "string"},
            "observedGeneration": {"type": "integer"},
        }},
    });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": DEFINITIONS},
        "spec": {
            "group": "apiextensions.k8s.io",
            "scope": "Cluster",
            "names": {
                "plural": "customresourcedefinitions",
                "singular": "customresourcedefinition",
                "shortNames": ["crd", "crds"],
                "kind": "CustomResourceDefinition",
                "listKind": "CustomResourceDefinitionList",
                "categories": ["api-extensions"],
            },
            "versions": [{
                "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {
                    "type": "object",
                    "x-kubernetes-preserve-unknown-fields": true,
                    "properties": {
                        "spec": {
                            "type": "object",
                            "x-kubernetes-preserve-unknown-fields": true,
                            "properties": {
                                "names": names,
                                "versions": {"type": "array", "nullable": true, "items": any},
                            },
                        },
                        "status": {
                            "type": "object",
                            "x-kubernetes-preserve-unknown-fields": true,
                            "properties": {
                                "acceptedNames": names,
                                "conditions": conditions,
                                "storedVersions":
                                    {"type": "array", "nullable": true, "items": {"type": "string"}},
                            },
                        },
                    },
                }},
            }],
        },
    })
}
