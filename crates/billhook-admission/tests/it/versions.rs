//! Writes to servers of other versions (KV-30, KV-85, KV-92).

use billhook::webhook::WebhookConfiguration;
use billhook::{CrdOptions, CustomResourceDefinition, KubernetesVersion};
use billhook_admission::{Admission, AdmissionOutcome, Chain, MemoryCluster};
use serde_json::{Value, json};

use crate::in_process::{
    InProcess, allow, body, configuration, create, definition, message, patch_of_m,
};

fn admit(
    version: KubernetesVersion,
    caller: InProcess,
    configuration: WebhookConfiguration,
) -> AdmissionOutcome {
    let chain = Chain::new(caller).webhooks(&[configuration]).kubernetes(version);
    let object = body("v1", json!({"size": 1}));
    Admission::new(definition(), chain)
        .admit_blocking(&create("v1", &object), &MemoryCluster::new())
}

fn with(member: &str, value: Value) -> WebhookConfiguration {
    let mut document = configuration("Mutating", "m").to_value();
    document["webhooks"][0][member] = value;
    WebhookConfiguration::from_value(&document).unwrap()
}

/// KV-92.
#[test]
fn undecodable_patches_are_failed_calls_since_1_34() {
    for version in KubernetesVersion::ALL {
        let is_call = version >= KubernetesVersion::V1_34;
        let caller = || patch_of_m(json!({}));
        let failed = admit(version, caller(), with("failurePolicy", "Fail".into()));
        let expected = match is_call {
            true => {
                "Internal error occurred: failed calling webhook \"m\": received undecodable \
                     patch in webhook response: json: cannot unmarshal object"
            }
            false => "Internal error occurred: json: cannot unmarshal object",
        };
        assert!(message(&failed).starts_with(expected), "{version}: {}", message(&failed));
        let ignored = admit(version, caller(), with("failurePolicy", "Ignore".into()));
        assert_eq!(ignored.result.is_ok(), is_call, "{version}");
    }
}

/// KV-30.
#[test]
fn conditions_have_the_libraries_of_the_version() {
    let conditions = json!([{"name": "c", "expression": "semver('1.2.3').major() == 1"}]);
    for version in KubernetesVersion::ALL {
        let caller = InProcess::new(allow);
        let outcome = admit(version, caller, with("matchConditions", conditions.clone()));
        let has_library = version >= KubernetesVersion::V1_33;
        assert_eq!(outcome.result.is_ok(), has_library, "{version}");
    }
}

/// KV-85.
#[test]
fn creations_are_refused_by_another_code_since_1_34() {
    let manifest = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "spec": {"group": "example.com", "scope": "Namespaced",
            "names": {"plural": "foos", "kind": "Foo"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object"}}}]},
        "status": {"conditions": [{"type": "Established", "status": "True"},
            {"type": "Terminating", "status": "True"}]},
    });
    let text = "create not allowed while custom resource definition is terminating";
    for version in KubernetesVersion::ALL {
        let options = CrdOptions::default().kubernetes(version);
        let definition = CustomResourceDefinition::with_options(&manifest, &options).unwrap();
        let chain = Chain::new(InProcess::new(allow));
        let request = create("v1", &body("v1", json!({})));
        let outcome =
            Admission::new(definition, chain).admit_blocking(&request, &MemoryCluster::new());
        let status = outcome.result.unwrap_err();
        let expected = match version >= KubernetesVersion::V1_34 {
            true => (403, "Forbidden", format!("foos.example.com \"x\" is forbidden: {text}")),
            false => (405, "MethodNotAllowed", text.to_owned()),
        };
        assert_eq!((status.code, &*status.reason, status.message), expected, "{version}");
    }
}
