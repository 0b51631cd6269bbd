//! The core group.

mod config_map;
mod data;
mod event;
mod namespace;
mod secret;
mod service_account;

pub(crate) use config_map::ConfigMap;
pub(crate) use event::Event;
pub(crate) use namespace::Namespace;
pub(crate) use secret::Secret;
pub(crate) use service_account::ServiceAccount;
