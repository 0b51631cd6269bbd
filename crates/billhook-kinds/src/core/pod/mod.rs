//! Pods (BK-100 to BK-113), and what templates of pods share with them.

mod affinity;
mod amounts;
pub(crate) mod annotations;
mod behavior;
mod checks;
mod containers;
pub(crate) mod defaults;
mod deprecations;
mod difference;
mod edition;
mod gates;
mod image;
pub(crate) mod internal;
mod mounts;
mod network;
mod prepare;
mod probes;
mod references;
mod remote_volumes;
mod resize;
mod resources;
mod scope;
mod security;
pub(crate) mod spec;
mod status;
mod systems;
mod table;
mod update;
mod variables;
mod volumes;
pub(crate) mod warnings;

pub(super) use self::behavior::Pod;
pub use self::resources::pod_requests;
pub(crate) use self::resources::{Amounts, class_of_service, total};
