//! Tests of the control plane through its public API.

#![cfg(test)]

mod deployments;
mod disruption_budgets;
mod endpoints;
mod nodes;
mod replica_sets;
mod running;
mod support;
mod volumes;
