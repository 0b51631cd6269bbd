//! Tests of `billhook-apply` through its public API.

#![allow(
    clippy::allow_attributes,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may fail the test"
)]

mod field_sets;
mod hostile;
mod laws;
mod manager_laws;
mod managers;
mod model;
mod support;
mod types;
mod values;
mod world;
