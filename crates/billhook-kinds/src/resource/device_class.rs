//! DeviceClasses (BK-489).

use billhook_apimachinery::metadata::Time;
use serde_json::Value;

use super::devices;
use crate::behavior::{Behavior, Findings, WriteContext};
use crate::cells;
use crate::resource_names::is_extended;
use crate::rules::invalid;
use crate::values::{items, path, text};

/// The rules of classes of devices.
#[derive(Debug)]
pub(crate) struct DeviceClass;

impl Behavior for DeviceClass {
    fn validate(
        &self,
        class: &Value,
        _: Option<&Value>,
        context: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        let errors = &mut found.errors;
        let Some(spec) = class.get("spec") else { return };
        devices::selectors(errors, &path(&["spec", "selectors"]), spec);
        for (index, config) in items(spec, "/config").iter().enumerate() {
            devices::configuration(errors, &path(&["spec", "config"]).index(index), config);
        }
        if let Some(name) = spec.get("extendedResourceName") {
            let name = text(name, "");
            if !is_extended(name, context.kubernetes) {
                let detail = "must be a valid extended resource name";
                invalid(errors, &path(&["spec", "extendedResourceName"]), name, [detail]);
            }
        }
    }

    fn cells(&self, object: &Value, now: Time) -> Vec<Value> {
        vec![cells::name(object), cells::created(object, now)]
    }
}
