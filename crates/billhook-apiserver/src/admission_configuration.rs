//! The configuration of admission by stored objects: webhooks and policies.

use billhook::KubernetesVersion;
use billhook::webhook::WebhookConfiguration;
use billhook_apimachinery::value::DeepValue;
use billhook_decode::read_json;
use billhook_policy::{PolicyDocument, PolicyKind};

use crate::storage::{Collection, Object, Range, Storage};

/// The API group of webhook configurations and policies.
const GROUP: &str = "admissionregistration.k8s.io";

/// The name of the definition of validating policies.
pub(crate) const VALIDATING_POLICIES: &str =
    "validatingadmissionpolicies.admissionregistration.k8s.io";

/// The resources of webhook configurations.
const WEBHOOKS: [&str; 2] = ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"];

/// The admission plugins that these objects configure, by their resources; bindings do nothing without a policy.
const PLUGINS: [(&str, &str); 4] = [
    ("mutatingwebhookconfigurations", "MutatingAdmissionWebhook"),
    ("validatingwebhookconfigurations", "ValidatingAdmissionWebhook"),
    ("mutatingadmissionpolicies", "MutatingAdmissionPolicy"),
    ("validatingadmissionpolicies", "ValidatingAdmissionPolicy"),
];

/// The part of a server that the objects of a resource decide about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Configures {
    Webhooks,
    Policies,
}

impl Configures {
    /// Returns what the objects of a resource of the server configure, if anything.
    pub(crate) fn of(group: &str, resource: &str) -> Option<Self> {
        let is_of_policies = || PolicyKind::ALL.iter().any(|kind| kind.resource() == resource);
        match () {
            () if group != GROUP => None,
            () if WEBHOOKS.contains(&resource) => Some(Configures::Webhooks),
            () => is_of_policies().then_some(Configures::Policies),
        }
    }
}

/// All webhook configurations that are stored and whose plugin is not switched off, as a server of a
/// version calls them.
pub(crate) fn webhook_configurations(
    storage: &Storage,
    kubernetes: KubernetesVersion,
    disabled: &[String],
) -> Vec<WebhookConfiguration> {
    let read = |document: DeepValue| WebhookConfiguration::from_value(&document).ok();
    let configurations = documents(storage, WEBHOOKS, disabled).filter_map(read);
    configurations.map(|configuration| configuration.kubernetes(kubernetes)).collect()
}

/// All policies and bindings that are stored and whose plugin is not switched off.
pub(crate) fn policies(
    storage: &Storage,
    disabled: &[String],
) -> impl Iterator<Item = PolicyDocument> {
    let documents = documents(storage, PolicyKind::ALL.map(PolicyKind::resource), disabled);
    documents.filter_map(|document| PolicyDocument::from_value(&document).ok())
}

/// A policy or a binding, if it is stored.
pub(crate) fn policy(storage: &Storage, kind: PolicyKind, name: &str) -> Option<PolicyDocument> {
    let found = storage.get(&Collection::new(GROUP, kind.resource()), name)?;
    PolicyDocument::from_value(&*read(&found)?).ok()
}

/// The stored objects of some resources whose plugins are not switched off.
fn documents<const N: usize>(
    storage: &Storage,
    resources: [&'static str; N],
    disabled: &[String],
) -> impl Iterator<Item = DeepValue> {
    let is_disabled = move |resource: &&str| {
        let plugin = PLUGINS.iter().find(|(configured, _)| configured == resource);
        plugin.is_some_and(|(_, plugin)| disabled.iter().any(|name| name == plugin))
    };
    let list = |resource| storage.list(&Collection::new(GROUP, resource), Range::default());
    let listed = resources.into_iter().filter(move |resource| !is_disabled(resource)).map(list);
    listed.flat_map(|listing| listing.objects).filter_map(|object| read(&object))
}

fn read(object: &Object) -> Option<DeepValue> {
    Some(read_json(&object.text).ok()?.into_value())
}
