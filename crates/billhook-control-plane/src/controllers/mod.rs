//! The controllers, one module each.
//!
//! # To add a controller
//!
//! 1. A module `controllers/<name>.rs`, or a directory of that name, with a type that implements
//!    [`Controller`](crate::Controller) and keeps nothing: `watches` names resources, `concerns` maps a change of
//!    one to keys, and `sync` returns the [`Plan`](crate::Plan) for a key. `service_accounts` is the
//!    smallest one, `replica_sets` shows adoption, slow start, events and status.
//! 2. Its line in [`all`], in the order of names, and its `mod`.
//! 3. A resource that is read for the first time has a line in `resource.rs`.
//! 4. Its account is in the table of CP-01; what others need as well is in a module of its own beside
//!    `ownership`, `pods`, `conditions` and `slow_start`.

mod autoscalers;
mod certificate_requests;
mod deployments;
mod disruption_budgets;
mod endpoints;
mod event_expiry;
mod nodes;
mod quotas;
mod replica_sets;
mod role_aggregation;
mod root_certificate;
mod selection;
mod service_accounts;
mod terminating_namespaces;
mod token_secrets;
mod volumes;

use std::sync::Arc;

use self::autoscalers::Autoscalers;
use self::certificate_requests::CertificateRequests;
use self::deployments::Deployments;
use self::disruption_budgets::DisruptionBudgets;
use self::endpoints::{EndpointSlices, Endpoints, Mirroring};
use self::event_expiry::EventExpiry;
use self::nodes::{NodeTaints, NodeTtl, PodGarbage, SilentNodes, TaintEviction, UnreadyNodes};
use self::quotas::Quotas;
use self::replica_sets::ReplicaSets;
use self::role_aggregation::RoleAggregation;
pub use self::root_certificate::RootCertificate;
pub use self::selection::{Selection, UnknownControllerError};
use self::service_accounts::ServiceAccounts;
use self::terminating_namespaces::TerminatingNamespaces;
use self::token_secrets::TokenSecrets;
pub use self::volumes::Provisioner;
use self::volumes::{ClaimProtection, Claims, VolumeProtection, Volumes};
use crate::controller::Controller;

/// Returns all controllers that need no settings, in the order in which they work.
pub fn all() -> Vec<Arc<dyn Controller>> {
    vec![
        Arc::new(Autoscalers),
        Arc::new(ClaimProtection),
        Arc::new(CertificateRequests),
        Arc::new(Claims),
        Arc::new(Deployments),
        Arc::new(DisruptionBudgets),
        Arc::new(EndpointSlices::default()),
        Arc::new(Endpoints::default()),
        Arc::new(EventExpiry),
        Arc::new(Mirroring),
        Arc::new(NodeTaints),
        Arc::new(NodeTtl),
        Arc::new(PodGarbage::default()),
        Arc::new(Quotas),
        Arc::new(ReplicaSets::of_replica_sets()),
        Arc::new(ReplicaSets::of_replication_controllers()),
        Arc::new(RoleAggregation),
        Arc::new(ServiceAccounts),
        Arc::new(SilentNodes),
        Arc::new(TaintEviction),
        Arc::new(TerminatingNamespaces),
        Arc::new(TokenSecrets),
        Arc::new(UnreadyNodes),
        Arc::new(VolumeProtection),
        Arc::new(Volumes),
    ]
}
