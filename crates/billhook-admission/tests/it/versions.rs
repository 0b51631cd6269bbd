//! Chains for servers of other versions (KV-30, KV-92).

use billhook::KubernetesVersion;
use billhook::webhook::WebhookConfiguration;
use billhook_admission::{Admission, AdmissionOutcome, Chain};
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
    Admission::new(definition(), chain).admit_blocking(&create("v1", &object))
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
