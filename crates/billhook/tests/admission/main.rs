//! The admission chain against real webhooks: over HTTPS, on the loopback interface.

#![allow(
    clippy::allow_attributes,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may fail the test"
)]

mod answers;
mod audit;
#[path = "../../examples/webhook_server/behaviour.rs"]
mod behaviour;
mod cancellation;
mod client;
mod connections;
mod example;
mod hostile;
mod network;
mod policies;
mod reviews;
mod scenarios;
mod security;
mod self_signed;
#[path = "../../examples/webhook_server/server.rs"]
mod server;
mod unreachable;
mod validating;
mod wire;
mod world;
