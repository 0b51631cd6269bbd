//! The group `flowcontrol.apiserver.k8s.io`.

mod fixed;
mod flow_rules;
mod flow_schema;
mod priority_level;

use self::flow_schema::FlowSchema;
use self::priority_level::PriorityLevelConfiguration;
use crate::behavior::{Behavior, Plain};

/// Returns the rules of a kind of the group.
pub(crate) fn behavior_of(kind: &str) -> &'static dyn Behavior {
    match kind {
        "FlowSchema" => &FlowSchema,
        "PriorityLevelConfiguration" => &PriorityLevelConfiguration,
        _ => &Plain,
    }
}
