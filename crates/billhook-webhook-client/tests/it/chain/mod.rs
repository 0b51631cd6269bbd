//! The admission chain against real webhooks: over HTTPS, on the loopback interface.

mod answers;
mod audit;
mod cancellation;
mod client;
mod connections;
mod example;
mod hostile;
mod network;
mod policies;
mod reinvocation;
mod reviews;
mod scenarios;
mod security;
mod self_signed;
mod unreachable;
mod validating;
mod wire;
mod world;
