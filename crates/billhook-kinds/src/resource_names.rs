//! Names and amounts of resources (BK-30).

use billhook_apimachinery::{FieldError, FieldPath, KubernetesVersion, names};
use serde_json::Value;

use crate::rules::{NOT_NEGATIVE, invalid, quantity};

/// The resources that pods compute with.
const COMPUTE: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];

/// Amounts that quotas limit beside those of [`COMPUTE`] and [`COUNTED`].
const QUOTA: [&str; 7] = [
    "requests.cpu",
    "requests.memory",
    "requests.storage",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
];

/// Objects that quotas count.
const COUNTED: [&str; 9] = [
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "persistentvolumeclaims",
    "configmaps",
    "services.nodeports",
    "services.loadbalancers",
];

/// The name of a resource.
pub(crate) fn resource_name(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    name: &str,
    kubernetes: KubernetesVersion,
) {
    let messages = names::qualified_name(name, kubernetes.wording());
    let is_qualified = messages.is_empty();
    invalid(errors, path, name, messages);
    let is_standard = is_of_quota(name) || name == "storage";
    if is_qualified && !name.contains('/') && !is_standard {
        let detail = "must be a standard resource type or fully qualified";
        errors.push(FieldError::invalid(path.clone(), name, detail));
    }
}

/// The name of a resource of containers.
pub(crate) fn container_resource_name(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    name: &str,
    kubernetes: KubernetesVersion,
) {
    resource_name(errors, path, name, kubernetes);
    let standard = COMPUTE.contains(&name) || name.starts_with("hugepages-");
    let detail = match name.contains('/') {
        false if !standard => "must be a standard resource for containers",
        true if !is_native(name) && !is_extended(name, kubernetes) => {
            "doesn't follow extended resource name standard"
        }
        _ => return,
    };
    errors.push(FieldError::invalid(path.clone(), name, detail));
}

/// The name of a resource of quotas.
pub(crate) fn quota_resource_name(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    name: &str,
    kubernetes: KubernetesVersion,
) {
    resource_name(errors, path, name, kubernetes);
    if !name.contains('/') && !is_of_quota(name) {
        let detail = "must be a standard resource for quota";
        errors.push(FieldError::invalid(path.clone(), name, detail));
    }
}

/// The amount of a resource.
pub(crate) fn resource_amount(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    name: &str,
    amount: &Value,
) {
    let Some(number) = quantity(amount) else { return };
    let is_whole = COUNTED.contains(&name) || is_extended_name(name);
    for (is_broken, detail) in [
        (number.signum() < 0, NOT_NEGATIVE),
        (is_whole && !number.is_integer(), "must be an integer"),
    ] {
        if is_broken {
            errors.push(FieldError::invalid(path.clone(), amount.clone(), detail));
        }
    }
}

/// An amount of a resource, of any name, that must not be negative.
pub(crate) fn basic_amount(errors: &mut Vec<FieldError>, path: &FieldPath, amount: &Value) {
    if let Some(number) = quantity(amount).filter(|number| number.signum() < 0) {
        let detail = "must be a valid resource quantity";
        let whole = number.as_int().map_or_else(|| amount.clone(), Value::from);
        errors.push(FieldError::invalid(path.clone(), whole, detail));
    }
}

/// An amount of a resource that must be greater than 0.
pub(crate) fn positive_amount(errors: &mut Vec<FieldError>, path: &FieldPath, amount: &Value) {
    if quantity(amount).is_some_and(|number| number.signum() <= 0) {
        let detail = "must be greater than zero";
        errors.push(FieldError::invalid(path.clone(), amount.clone(), detail));
    }
}

/// Whether quotas limit a resource by what pods ask for.
pub(crate) fn is_of_pods(name: &str) -> bool {
    let own = name.strip_prefix("requests.").or_else(|| name.strip_prefix("limits."));
    name == "pods" || ["cpu", "memory"].contains(&own.unwrap_or(name))
}

/// Whether pods may have more of a resource than they ask for.
pub(crate) fn is_overcommitted(name: &str) -> bool {
    is_native(name) && !name.starts_with("hugepages-")
}

fn is_of_quota(name: &str) -> bool {
    let huge = name.strip_prefix("requests.").unwrap_or(name);
    [&COMPUTE[..], &QUOTA, &COUNTED].iter().any(|names| names.contains(&name))
        || huge.starts_with("hugepages-")
}

/// Whether a resource belongs to Kubernetes.
fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

fn is_extended_name(name: &str) -> bool {
    !is_native(name) && !name.starts_with("requests.")
}

/// Whether quotas could have a resource that is defined elsewhere.
pub(crate) fn is_extended(name: &str, kubernetes: KubernetesVersion) -> bool {
    let in_quota = format!("requests.{name}");
    is_extended_name(name) && names::qualified_name(&in_quota, kubernetes.wording()).is_empty()
}
