//! The project's own tools, as a library so that tests can run them too.

pub mod conformance;
pub mod tidy;
