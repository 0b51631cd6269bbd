//! Tests of `billhook-kinds` through its public API.

#![allow(
    clippy::allow_attributes,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may fail the test"
)]

mod pods;
//! The rules of kinds, through the public API.

mod core;
mod discovery;
mod networking;
mod service;
mod service_allocation;
mod write;
