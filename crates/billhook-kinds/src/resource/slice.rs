//! ResourceSlices (BK-489).

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::record::Type;
use billhook_apimachinery::{FieldError, FieldPath, KubernetesVersion};
use serde_json::Value;

use super::nodes::{one_term, only_true};
use super::{device, names};
use crate::behavior::{Behavior, Findings, WriteContext};
use crate::cells;
use crate::generated::resource_v1::RESOURCE_SLICE_SPEC;
use crate::rules::{driver_name, invalid, invalid_internal};
use crate::values::{integer, items, items_mut, path, set_missing, text};

/// The ways to say on which nodes devices are.
const NODES: [&str; 4] = ["nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection"];

/// Which resources of nodes devices take: no server keeps that, unless it is stored (BK-29).
const MAPPINGS: &str = "nodeAllocatableResourceMappings";

/// The rules of slices of resources.
#[derive(Debug)]
pub(crate) struct ResourceSlice;

impl Behavior for ResourceSlice {
    fn prepare(&self, slice: &mut Value, old: Option<&Value>, context: &WriteContext<'_>) {
        let has_mappings = |device: &Value| device.get(MAPPINGS).is_some();
        let keeps_mappings =
            old.is_some_and(|old| items(old, "/spec/devices").iter().any(has_mappings));
        for device in items_mut(slice, "/spec/devices") {
            if let Value::Object(members) = &mut *device
                && !keeps_mappings
            {
                members.remove(MAPPINGS);
            }
            for taint in items_mut(device, "/taints") {
                set_missing(taint, "timeAdded", context.now);
            }
        }
    }

    fn validate(
        &self,
        slice: &Value,
        _: Option<&Value>,
        context: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        let (errors, kubernetes) = (&mut found.errors, context.kubernetes);
        let Some(spec) = slice.get("spec") else { return };
        let at = |name: &str| path(&["spec", name]);
        driver_name(errors, &at("driver"), text(spec, "/driver"));
        validate_pool(errors, &at("pool"), spec);
        validate_nodes(errors, spec, kubernetes);
        let (counters, devices) = (items(spec, "/sharedCounters"), items(spec, "/devices"));
        if !counters.is_empty() && !devices.is_empty() {
            let detail = "only one of `sharedCounters` or `devices` is allowed";
            errors.push(invalid_spec(spec, detail));
        }
        device::validate_all(errors, &at("devices"), spec, kubernetes);
        device::validate_counters(errors, &at("sharedCounters"), counters);
    }

    fn cells(&self, object: &Value, now: Time) -> Vec<Value> {
        vec![
            cells::name(object),
            cells::at(object, "/spec/nodeName"),
            cells::at(object, "/spec/driver"),
            cells::at(object, "/spec/pool/name"),
            cells::created(object, now),
        ]
    }
}

fn invalid_spec(spec: &Value, detail: &str) -> FieldError {
    let type_ = (Type::Record(|| &RESOURCE_SLICE_SPEC), "resource");
    invalid_internal(path(&["spec"]), Some(spec), type_, detail)
}

fn validate_pool(errors: &mut Vec<FieldError>, at: &FieldPath, spec: &Value) {
    names::pool(errors, &at.clone().name("name"), text(spec, "/pool/name"));
    let number = |name: &str| integer(spec, &format!("/pool/{name}")).unwrap_or_default();
    let (count, generation) = (number("resourceSliceCount"), number("generation"));
    if count <= 0 {
        let at = at.clone().name("resourceSliceCount");
        invalid(errors, &at, count, ["must be greater than zero"]);
    }
    if generation < 0 {
        let at = at.clone().name("generation");
        invalid(errors, &at, generation, ["must be greater than or equal to zero"]);
    }
}

/// The nodes on which the devices are, said in one way.
fn validate_nodes(errors: &mut Vec<FieldError>, spec: &Value, kubernetes: KubernetesVersion) {
    let at = |name: &str| path(&["spec", name]);
    if spec.get("nodeName").is_some_and(|name| name == "") {
        let detail = "must be either unset or set to a non-empty string";
        invalid(errors, &at("nodeName"), "", [detail]);
    }
    if let Some(selector) = spec.get("nodeSelector") {
        one_term(errors, &at("nodeSelector"), selector, kubernetes);
    }
    for name in ["allNodes", "perDeviceNodeSelection"] {
        only_true(errors, &at(name), spec.get(name));
    }
    let detail = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is \
                  required";
    match NODES.iter().filter(|name| spec.get(**name).is_some()).count() {
        0 => errors.push(FieldError::required(path(&["spec"]), detail)),
        1 => {}
        _ => {
            errors.push(invalid_spec(spec, &format!("{detail}, but multiple fields are set")));
        }
    }
}
