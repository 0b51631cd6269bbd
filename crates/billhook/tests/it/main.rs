//! Tests of `billhook` through its public API.

#![allow(
    clippy::allow_attributes,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::needless_pass_by_value,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may fail the test"
)]

mod definitions;
mod differences;
mod hostile;
mod kep;
mod laws;
mod neat;
mod rules;
mod stream;
mod validate;
mod version_metadata;
mod versions;
mod webhook;
