//! Tests of `billhook-apimachinery` through its public API.

#![allow(
    clippy::allow_attributes,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may fail the test"
)]

mod kubernetes_version;
mod metadata;
mod names;
mod net;
mod per_version;
mod print;
mod schedule;
mod wording;
