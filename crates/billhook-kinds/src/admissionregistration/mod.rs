//! The group `admissionregistration.k8s.io`: webhook configurations and policies.

mod policy;
mod webhook_configuration;

use policy::Policy;
use webhook_configuration::WebhookConfiguration;

use crate::behavior::Behavior;

/// Returns the rules of a kind of the group.
pub(crate) fn behavior_of(kind: &str) -> &'static dyn Behavior {
    match kind {
        "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration" => &WebhookConfiguration,
        _ => &Policy,
    }
}
