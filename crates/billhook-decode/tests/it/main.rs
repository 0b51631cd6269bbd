//! Tests of `billhook-decode` through its public API.

#![allow(
    clippy::allow_attributes,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may fail the test"
)]

mod acceptance;
mod hostile;
mod spans;
mod stops;
mod table;
mod view;
