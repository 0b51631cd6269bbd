//! Tests of the control plane through its public API.

#![cfg(test)]

mod deployments;
mod replica_sets;
mod support;
