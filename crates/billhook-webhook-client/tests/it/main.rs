//! Tests of `billhook-webhook-client` through its public API.

#![allow(
    clippy::allow_attributes,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::needless_pass_by_value,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may fail the test"
)]

#[path = "../../examples/webhook_server/behavior.rs"]
mod behavior;
mod chain;
mod conversion;
#[cfg(feature = "tracing")]
#[path = "../../../billhook-admission/tests/it/hook.rs"]
mod hook;
#[cfg(feature = "tracing")]
#[path = "../../../billhook-admission/tests/it/log.rs"]
mod log;
#[path = "../../examples/webhook_server/server.rs"]
mod server;
#[cfg(feature = "tracing")]
mod tracing;
