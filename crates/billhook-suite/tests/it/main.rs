//! Tests of `billhook-suite` through its public API.

#![allow(
    clippy::allow_attributes,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may fail the test"
)]

mod assertions;
mod coverage;
mod failures;
mod generate;
mod layout;
mod own;
mod update;
