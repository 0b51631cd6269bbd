//! ComponentStatuses (BK-488).

use crate::behavior::Behavior;

/// The rules of the states of components, of which none are stored.
#[derive(Debug)]
pub(crate) struct ComponentStatus;

impl Behavior for ComponentStatus {
    fn missing_resource(&self) -> Option<&'static str> {
        Some("componentstatus")
    }
}
