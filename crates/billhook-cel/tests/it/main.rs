//! Tests of `billhook-cel` through its public API.

#![allow(
    clippy::allow_attributes,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::needless_pass_by_value,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may fail the test"
)]

mod authorizer;
mod basics;
mod bounds;
mod compile;
mod evaluate;
mod evaluate_any;
mod forecast;
mod hostile;
mod hostile_libraries;
mod implication;
mod kubernetes_libraries;
mod messages;
mod mutations;
mod schema_types;
mod text_and_lists;
mod traces;
mod validate_rules;
mod versions;
