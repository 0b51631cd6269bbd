//! Tests of the control plane through its public API.

#![cfg(test)]

mod deployments;
mod nodes;
mod replica_sets;
mod running;
mod selection;
mod support;
