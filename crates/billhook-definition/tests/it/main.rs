//! Tests of `billhook-definition` through its public API.

#![allow(
    clippy::allow_attributes,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::needless_pass_by_value,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may fail the test"
)]

mod create;
mod hostile;
mod laws;
mod rules;
mod support;
mod update;
mod versions;
mod written;
