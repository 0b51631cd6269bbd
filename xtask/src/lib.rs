//! The project's own tools, as a library so that tests can run them too.

pub mod bench;
pub mod ci;
pub mod commits;
pub mod conformance;
pub mod fuzz;
pub mod kinds;
pub mod public_api;
pub mod readme;
pub mod replay;
mod source;
pub mod suites;
pub mod tidy;
