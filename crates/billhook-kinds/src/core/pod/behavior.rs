//! The rules of pods.

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::names::{dns1123_label, dns1123_subdomain};
use billhook_apimachinery::{FieldPath, KubernetesVersion};
use serde_json::Value;

use super::warnings::warnings;
use super::{annotations, defaults, prepare, resize, spec, status, table, update};
use crate::behavior::{Behavior, Findings, WriteContext};
use crate::values::{integer, is_set, items, object_mut, path, text};

/// The rules of pods.
#[derive(Debug)]
pub(crate) struct Pod;

impl Behavior for Pod {
    /// A pod that no node runs has no time left (BK-109).
    fn grace_period(&self, pod: &Value, requested: Option<i64>) -> Option<i64> {
        let is_over = text(pod, "/spec/nodeName").is_empty()
            || matches!(text(pod, "/status/phase"), "Succeeded" | "Failed");
        let of_spec = || integer(pod, "/spec/terminationGracePeriodSeconds").unwrap_or(30);
        Some(match requested.unwrap_or_else(of_spec) {
            _ if is_over => 0,
            ..0 => 1,
            grace => grace,
        })
    }

    fn set_defaults(&self, pod: &mut Value, kubernetes: KubernetesVersion) {
        if let Some(spec) = object_mut(pod, "/spec") {
            defaults::of_spec(spec, kubernetes);
        }
        defaults::of_pod(pod, kubernetes);
    }

    fn prepare(&self, pod: &mut Value, old: Option<&Value>, context: &WriteContext<'_>) {
        match old {
            None => prepare::create(pod, context),
            Some(old) => prepare::update(pod, old, context),
        }
    }

    fn validate(
        &self,
        pod: &Value,
        old: Option<&Value>,
        context: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        let Some(own) = pod.get("spec") else { return };
        let at = path(&["spec"]);
        if let Some(old) = old
            && context.subresource == "status"
        {
            status::validate(&mut found.errors, pod, old, context);
            return;
        }
        annotations::validate(&mut found.errors, &path(&["metadata", "annotations"]), pod);
        spec::validate(found, &at, own, Some(pod), context);
        spec::validate_own(&mut found.errors, &at, own);
        let errors = &mut found.errors;
        annotations::match_members(errors, pod, old.is_none());
        match (old, context.subresource) {
            (None, _) => {
                spec::validate_new(errors, &at, own);
                if errors.is_empty() {
                    found.warnings.extend(name_warning(text(pod, "/metadata/name")));
                    found.warnings.extend(warnings(&FieldPath::default(), pod, context.kubernetes));
                }
            }
            (Some(old), "ephemeralcontainers") => {
                update::validate_ephemeral_containers(errors, pod, old);
            }
            (Some(old), "resize") => resize::validate(errors, pod, old),
            (Some(old), _) => {
                update::validate_annotations(errors, pod, old);
                update::validate(errors, pod, old);
            }
        }
    }

    fn old_fields(&self) -> &'static [&'static str] {
        &["spec.host"]
    }

    fn selected_field(&self, pod: &Value, field: &str) -> Option<String> {
        match field {
            "spec.host" => Some(text(pod, "/spec/nodeName").to_owned()),
            "spec.hostNetwork" => Some(is_set(pod, "/spec/hostNetwork").to_string()),
            "status.podIP" => {
                let address = items(pod, "/status/podIPs").first();
                Some(address.map_or("", |address| text(address, "/ip")).to_owned())
            }
            "status.podIPs" => Some(String::new()),
            _ => None,
        }
    }

    fn cells(&self, pod: &Value, now: Time) -> Vec<Value> {
        table::cells(pod, now)
    }

    fn row_conditions(&self, pod: &Value) -> Vec<Value> {
        table::conditions(pod)
    }
}

/// A name that is not a label makes an odd host name.
fn name_warning(name: &str) -> Option<String> {
    let messages = dns1123_label(name);
    let is_odd = dns1123_subdomain(name).is_empty() && !messages.is_empty();
    is_odd.then(|| {
        format!(
            "metadata.name: this is used in the Pod's hostname, which can result in surprising \
             behavior; a DNS label is recommended: [{}]",
            messages.join(" ")
        )
    })
}
