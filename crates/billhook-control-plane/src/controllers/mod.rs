//! The controllers, one module each.
//!
//! # To add a controller
//!
//! 1. A module `controllers/<name>.rs`, or a directory of that name, with a type that implements
//!    [`Controller`] and keeps nothing: `watches` names resources, `concerns` maps a change of
//!    one to keys, and `sync` returns the [`Plan`](crate::Plan) for a key. `service_accounts` is the
//!    smallest one, `replica_sets` shows adoption, slow start, events and status.
//! 2. Its line in [`all`], in the order of names, and its `mod`.
//! 3. A resource that is read for the first time has a line in `resource.rs`.
//! 4. Its account is in the table of CP-01; what others need as well is in a module of its own beside
//!    `ownership`, `pods`, `conditions` and `slow_start`.

mod autoscalers;
mod certificates;
mod cron_jobs;
mod daemon_sets;
mod deployments;
mod disruption_budgets;
mod endpoints;
mod event_expiry;
mod foreign_owners;
mod jobs;
mod nodes;
mod quotas;
mod replica_sets;
mod revisions;
mod role_aggregation;
mod root_certificate;
mod selection;
mod service_accounts;
mod stateful_sets;
mod terminating_namespaces;
mod token_secrets;
mod ttl_after_finished;
mod volumes;

use std::sync::Arc;

use self::autoscalers::Autoscalers;
use self::certificates::CertificateRequests;
pub use self::certificates::{CertificateApproval, CertificateSigning};
use self::cron_jobs::CronJobs;
use self::daemon_sets::DaemonSets;
use self::deployments::Deployments;
use self::disruption_budgets::DisruptionBudgets;
use self::endpoints::{EndpointSlices, Endpoints, Mirroring};
use self::event_expiry::EventExpiry;
use self::foreign_owners::ForeignOwners;
use self::jobs::{Jobs, OrphanPods};
pub(crate) use self::nodes::{NOT_READY, SIMULATED, is_silent, is_simulated};
use self::nodes::{NodeTaints, NodeTtl, PodGarbage, SilentNodes, TaintEviction, UnreadyNodes};
use self::quotas::Quotas;
use self::replica_sets::ReplicaSets;
use self::role_aggregation::RoleAggregation;
pub use self::root_certificate::RootCertificate;
pub use self::selection::{Selection, UnknownControllerError};
use self::service_accounts::ServiceAccounts;
use self::stateful_sets::StatefulSets;
use self::terminating_namespaces::TerminatingNamespaces;
use self::token_secrets::TokenSecrets;
use self::ttl_after_finished::TtlAfterFinished;
use self::volumes::{ClaimProtection, Claims, EphemeralVolumes, VolumeProtection, Volumes};
pub use self::volumes::{Provision, Provisioner};
pub(crate) use self::volumes::{SELECTED_NODE, binds_at_once, can_be_on, has_volume_on};
use crate::controller::Controller;

/// Returns all controllers that need no settings, in the order in which they work.
pub fn all() -> Vec<Arc<dyn Controller>> {
    vec![
        Arc::new(Autoscalers),
        Arc::new(CertificateRequests),
        Arc::new(ClaimProtection),
        Arc::new(Claims),
        Arc::new(CronJobs),
        Arc::new(DaemonSets::default()),
        Arc::new(Deployments),
        Arc::new(DisruptionBudgets),
        Arc::new(EndpointSlices::default()),
        Arc::new(Endpoints::default()),
        Arc::new(EphemeralVolumes),
        Arc::new(EventExpiry::default()),
        Arc::new(ForeignOwners::default()),
        Arc::new(Jobs::default()),
        Arc::new(Mirroring),
        Arc::new(NodeTaints),
        Arc::new(NodeTtl),
        Arc::new(OrphanPods),
        Arc::new(PodGarbage::default()),
        Arc::new(Quotas),
        Arc::new(ReplicaSets::of_replica_sets()),
        Arc::new(ReplicaSets::of_replication_controllers()),
        Arc::new(RoleAggregation),
        Arc::new(ServiceAccounts),
        Arc::new(SilentNodes),
        Arc::new(StatefulSets),
        Arc::new(TaintEviction),
        Arc::new(TerminatingNamespaces),
        Arc::new(TokenSecrets),
        Arc::new(TtlAfterFinished),
        Arc::new(UnreadyNodes),
        Arc::new(VolumeProtection),
        Arc::new(Volumes),
    ]
}
