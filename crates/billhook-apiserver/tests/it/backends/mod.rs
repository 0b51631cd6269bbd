//! Backends: the same duties for each, and what clients see of their failures.

mod faulty;
#[cfg(feature = "redb")]
mod file;
#[cfg(feature = "redb")]
mod kills;
mod log;
mod servers;
mod suite;
