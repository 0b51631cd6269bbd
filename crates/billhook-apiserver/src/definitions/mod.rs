//! CustomResourceDefinitions as a resource like others: its rules, its conditions, its names (LC rules).

pub(crate) mod conditions;
mod lost;
mod naming;
mod resource;
mod strategy;

pub(crate) use self::lost::find_lost;
pub(crate) use self::naming::{Reserved, accept};
pub(crate) use self::resource::{DEFINITIONS, compile};
pub(crate) use self::strategy::{CLEANUP, write_status};
