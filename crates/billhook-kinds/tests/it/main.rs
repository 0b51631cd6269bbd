//! Tests of `billhook-kinds` through its public API.

#![allow(
    clippy::allow_attributes,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::needless_pass_by_value,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may fail the test"
)]

mod core;
mod discovery;
mod networking;
mod pods;
mod service;
mod service_allocation;
mod workloads;
mod write;
