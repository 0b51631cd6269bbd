//! ResourceSlices (BK-488).

use billhook_apimachinery::metadata::Time;
use serde_json::Value;

use crate::behavior::{Behavior, WriteContext};
use crate::cells;
use crate::values::{items_mut, set_missing};

/// The rules of slices of resources.
#[derive(Debug)]
pub(crate) struct ResourceSlice;

impl Behavior for ResourceSlice {
    fn prepare(&self, slice: &mut Value, _: Option<&Value>, context: &WriteContext<'_>) {
        for device in items_mut(slice, "/spec/devices") {
            for taint in items_mut(device, "/taints") {
                set_missing(taint, "timeAdded", context.now);
            }
        }
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
