//! Tests of `billhook-policy` through its public API.

#![allow(
    clippy::allow_attributes,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::needless_pass_by_value,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may fail the test"
)]

mod advice;
mod documents;
mod examples;
mod explain;
mod hostile;
mod laws;
mod mutating;
mod parameters;
mod support;
mod validating;
