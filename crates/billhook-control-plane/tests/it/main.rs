//! Tests of the control plane through its public API.

#![cfg(test)]

mod affinity;
mod autoscalers;
mod certificates;
mod cluster;
mod containers;
mod cron_jobs;
mod daemon_sets;
mod deployments;
mod disruption_budgets;
mod endpoints;
mod hostile;
mod http_api;
mod jobs;
mod laws;
mod namespace_tables;
mod namespaces;
mod node_lifecycle;
mod nodes;
mod owner_tables;
mod owners;
mod pod_steps;
mod promises;
mod quotas;
mod replica_sets;
mod rollouts;
mod running;
mod scheduling;
mod scripts;
mod selection;
mod stages;
mod stateful_sets;
mod support;
mod volumes;
