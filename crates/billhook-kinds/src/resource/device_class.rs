//! DeviceClasses (BK-488).

use billhook_apimachinery::metadata::Time;
use serde_json::Value;

use crate::behavior::Behavior;
use crate::cells;

/// The rules of classes of devices.
#[derive(Debug)]
pub(crate) struct DeviceClass;

impl Behavior for DeviceClass {
    fn cells(&self, object: &Value, now: Time) -> Vec<Value> {
        vec![cells::name(object), cells::created(object, now)]
    }
}
