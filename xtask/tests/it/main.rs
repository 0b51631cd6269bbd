//! Checks of the whole project, and of the product against recorded servers.

mod allocations;
mod conformance;
mod fuzz_corpus;
mod fuzz_diff;
mod kinds;
mod packaging;
mod public_api;
mod readme;
mod replay;
mod spec_examples;
mod tidy;
