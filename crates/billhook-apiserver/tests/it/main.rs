//! Tests of the server through its public API.

#![allow(
    clippy::allow_attributes,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::needless_pass_by_value,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may fail the test"
)]

mod admission;
mod alike;
mod apply;
mod audit;
mod backends;
mod calls;
mod changes;
mod clients;
mod connections;
mod conversion;
mod definitions;
mod discovery;
mod events;
mod evictions;
mod garbage;
mod garbage_tables;
mod hostile;
mod initial_objects;
mod kinds;
mod lifecycle;
#[cfg(feature = "metrics")]
mod metrics;
mod mistakes;
mod openapi;
mod own_objects;
mod own_rules;
mod own_types;
mod own_writes;
mod pages;
mod permissions;
mod policies;
mod protobuf;
mod requests;
mod rest;
mod rules;
mod security_levels;
mod sent_back;
mod service_accounts;
mod storage;
mod support;
mod tables;
mod tokens;
mod users;
mod vectors;
mod versions;
mod watches;
mod writes;
