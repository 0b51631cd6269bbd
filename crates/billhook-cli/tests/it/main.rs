//! Tests of `billhook-cli` through its public API.

#![allow(
    clippy::allow_attributes,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::needless_pass_by_value,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may fail the test"
)]

mod admit;
mod apply;
mod attacks;
#[path = "../../../billhook-webhook-client/examples/webhook_server/behavior.rs"]
mod behavior;
mod built_in;
mod check;
mod clients;
mod command;
mod compat;
#[path = "../../../billhook-webhook-client/examples/webhook_server/configuration.rs"]
mod configuration;
mod convert;
mod deprecated;
mod diff;
#[cfg(target_os = "linux")]
mod envtest;
mod explain;
mod expression;
mod finding_crds;
mod fixing;
mod help;
mod hostile;
mod kubectl;
mod many;
mod matching_policies;
mod policy;
mod python;
mod readme;
mod serve;
mod serve_data;
mod serve_etcd;
#[cfg(target_os = "linux")]
mod serve_hostile;
mod serve_roles;
mod serve_simulation;
mod serve_view;
mod serve_webhooks;
mod serve_websocket;
#[path = "../../../billhook-webhook-client/examples/webhook_server/server.rs"]
mod server;
mod suites;
mod support;
mod typos;
mod validate;
mod versions;
mod watch;
mod webhooks;
