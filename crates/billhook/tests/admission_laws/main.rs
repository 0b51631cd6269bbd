//! Laws of the admission chain, over generated webhooks in the same process.

#![allow(
    clippy::allow_attributes,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may fail the test"
)]

mod answers;
mod chain;
#[path = "../common/mod.rs"]
mod common;
mod hooks;
mod patches;
