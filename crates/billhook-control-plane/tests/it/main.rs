//! Tests of the control plane through its public API.

#![cfg(test)]

mod cluster;
mod deployments;
mod disruption_budgets;
mod endpoints;
mod namespaces;
mod node_lifecycle;
mod nodes;
mod replica_sets;
mod running;
mod selection;
mod support;
mod volumes;
