//! Webhook configurations and matching, through the public API.

#![allow(
    clippy::allow_attributes,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may fail the test"
)]

mod cel;
mod conditions;
mod configuration;
mod equivalence;
mod examples;
mod hostile;
mod index;
mod lints;
mod matching;
mod reviews;
mod rules;
mod selectors;
mod support;
mod updates;
