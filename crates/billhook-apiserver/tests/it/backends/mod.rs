//! Backends: the same duties for each, and what clients see of their failures.

mod faulty;
mod log;
mod servers;
mod suite;
