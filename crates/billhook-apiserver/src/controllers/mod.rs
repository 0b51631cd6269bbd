//! The controllers: all that the server does about writes beside storing them. Each is registered in
//! [`CONTROLLERS`] and says which kinds it watches; verbs and the write path know no kind by name.

mod configuration;
mod definitions;
mod escalation;
mod garbage;
mod initial;
mod namespace_lifecycle;
mod namespaces;
mod object;
mod permissions;
mod policies;
mod presence;
mod roles;
mod services;

use crate::plugins::{Plugins, Quotas};
use crate::shared::Controller;

pub(crate) use self::definitions::{
    create as create_definition, group_of, resume, settle, update as update_definition,
};
pub(crate) use self::initial::{BEGUN_WITH, create as create_initial};
pub(crate) use self::presence::renew;

/// All controllers, in the order in which they act upon a write.
pub(crate) static CONTROLLERS: [&dyn Controller; 9] = [
    &policies::Policies,
    &roles::Roles,
    &definitions::Definitions,
    &namespaces::Namespaces,
    &Plugins,
    &Quotas,
    &configuration::Configuration,
    &garbage::Garbage,
    &services::Services,
];
