//! The group `discovery.k8s.io`.

mod endpoint_slice;

use self::endpoint_slice::EndpointSlice;
use crate::behavior::{Behavior, Plain};

/// Returns the rules of a kind of the group.
pub(crate) fn behavior_of(kind: &str) -> &'static dyn Behavior {
    match kind {
        "EndpointSlice" => &EndpointSlice,
        _ => &Plain,
    }
}
