//! Tests of `billhook-compat` through its public API.

#![allow(
    clippy::allow_attributes,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may fail the test"
)]

mod around;
mod attacks;
mod checks;
mod combinations;
mod corpus;
mod hostile;
mod laws;
mod limits;
mod lints;
mod maintained;
mod merges;
mod mutations;
mod operators;
mod preserved;
mod readers;
mod releases;
mod requests;
mod rules;
mod search;
mod support;
mod table;
mod together;
mod types;
mod values;
