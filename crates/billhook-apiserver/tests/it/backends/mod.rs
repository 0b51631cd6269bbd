//! Backends: the same duties for each, and what clients see of their failures.

mod checker;
mod consistency;
#[cfg(feature = "etcd")]
mod etcd;
#[cfg(feature = "etcd")]
mod etcd_histories;
#[cfg(feature = "etcd")]
mod etcd_reads;
#[cfg(feature = "etcd")]
mod etcd_servers;
pub(crate) mod faulty;
#[cfg(feature = "redb")]
mod file;
mod histories;
#[cfg(feature = "redb")]
mod kills;
mod log;
mod servers;
mod suite;

pub(crate) use log::Log;
