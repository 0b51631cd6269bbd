//! VolumeAttributesClasses (BK-435).

use billhook_apimachinery::FieldError;
use billhook_apimachinery::metadata::Time;
use serde_json::Value;

use super::parameters::{parameters, provisioner};
use crate::behavior::{Behavior, Findings, WriteContext};
use crate::cells;
use crate::values::{members, path, text};

/// The rules of classes of volume attributes.
#[derive(Debug)]
pub(crate) struct VolumeAttributesClass;

impl Behavior for VolumeAttributesClass {
    fn validate(
        &self,
        class: &Value,
        old: Option<&Value>,
        context: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        let errors = &mut found.errors;
        let Some(old) = old else {
            let name = text(class, "/driverName");
            provisioner(errors, &path(&["driverName"]), name, context.kubernetes);
            parameters(errors, class);
            if members(class, "/parameters").next().is_none() {
                let detail = "must contain at least one key/value pair";
                errors.push(FieldError::required(path(&["parameters"]), detail));
            }
            return;
        };
        for name in ["driverName", "parameters"] {
            if class.get(name) != old.get(name) {
                let detail = format!("updates to {name} are forbidden.");
                errors.push(FieldError::forbidden(path(&[name]), &detail));
            }
        }
    }

    fn cells(&self, object: &Value, now: Time) -> Vec<Value> {
        vec![cells::name(object), cells::at(object, "/driverName"), cells::created(object, now)]
    }
}
