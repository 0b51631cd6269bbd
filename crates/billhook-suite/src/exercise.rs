//! Objects that cases send.

use billhook::{CrdVersion, DeepValue};

use crate::files::FoundDefinition;

/// An object that is sent, and the one that it replaces.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) object: DeepValue,
    pub(crate) old: Option<DeepValue>,
    pub(crate) is_status: bool,
}

impl Sent {
    pub(crate) fn create(object: DeepValue) -> Self {
        Sent { object, old: None, is_status: false }
    }

    pub(crate) fn update(object: DeepValue, old: DeepValue, is_status: bool) -> Self {
        Sent { object, old: Some(old), is_status }
    }
}

/// An object that is sent to a version of a definition.
pub(crate) struct Exercise<'r> {
    pub(crate) definition: &'r FoundDefinition,
    pub(crate) version: CrdVersion,
    pub(crate) sent: Sent,
}
