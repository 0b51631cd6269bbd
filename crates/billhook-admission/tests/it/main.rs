//! Tests of `billhook-admission` through its public API.

#![allow(
    clippy::allow_attributes,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::needless_pass_by_value,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may fail the test"
)]

#[cfg(all(feature = "metrics", feature = "tracing"))]
mod cancelled;
mod conversion_reviews;
#[cfg(feature = "metrics")]
mod hook;
mod in_process;
#[cfg(feature = "kube")]
mod interop;
mod laws;
mod limits;
#[cfg(feature = "tracing")]
mod log;
#[cfg(feature = "metrics")]
mod metrics;
mod patch;
mod resource;
mod updates;
mod versions;
