//! Tests of `billhook-kinds` through its public API.

#![allow(
    clippy::allow_attributes,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::needless_pass_by_value,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may fail the test"
)]

mod access;
mod api_resources;
mod apiregistration;
mod certificates;
mod cluster;
mod core;
mod differences;
mod discovery;
mod flowcontrol;
mod gates;
mod hostile;
mod namespaced_limits;
mod networking;
mod node;
mod pod_profiles;
mod pod_resize;
mod pod_warnings;
mod pods;
mod rbac;
mod resource;
mod scheduling;
mod served_types;
mod service;
mod service_allocation;
mod storage;
mod support;
mod volumes;
mod workloads;
mod write;
