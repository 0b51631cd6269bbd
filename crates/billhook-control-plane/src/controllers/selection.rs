//! Which controllers are switched on, by their names.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use super::all;
use super::event_expiry::EventExpiry;
use crate::controller::Controller;

/// The controllers that are switched on.
///
/// ```
/// use billhook_control_plane::controllers::Selection;
///
/// let selection = Selection::parse(["workloads", "gc"]).unwrap();
/// assert!(selection.collects_garbage() && !selection.has_nodes());
/// assert!(Selection::parse(["none"]).is_err());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    names: BTreeSet<&'static str>,
    /// How long events are kept, if that is said.
    event_ttl: Option<Duration>,
}

/// A name that no controller and no group of controllers has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no controller is named {name:?}: there are all, gc, namespaces, nodes, preemption, workloads, and those \
     of kube-controller-manager{}", such_as(.near)
)]
pub struct UnknownControllerError {
    name: String,
    /// The controllers whose names begin so.
    near: BTreeSet<&'static str>,
}

fn such_as(names: &BTreeSet<&str>) -> String {
    let names: Vec<&str> = names.iter().copied().collect();
    match names.is_empty() {
        true => String::new(),
        false => format!(", such as {}", names.join(" or ")),
    }
}

/// The parts of a cluster that are not among the controllers of this crate.
const GARBAGE: &str = "garbage-collector-controller";
const NAMESPACES: &str = "namespaces";
const NAMESPACE_CONTROLLER: &str = "namespace-controller";
const NODES: &str = "nodes";
const PREEMPTION: &str = "preemption";
const EVENT_EXPIRY: &str = "event-expiry";
const APPROVAL: &str = "certificatesigningrequest-approving-controller";
const SIGNING: &str = "certificatesigningrequest-signing-controller";
const SERVICE_ACCOUNTS: &str = "serviceaccount-controller";
const CERTIFICATE: &str = "root-ca-certificate-publisher-controller";

/// Short names of controllers.
const GROUPS: [(&str, &[&str]); 4] = [
    ("gc", &[GARBAGE]),
    ("namespaces", &[NAMESPACES]),
    ("nodes", &[NODES]),
    (
        "workloads",
        &[
            "cronjob-controller",
            "daemonset-controller",
            "deployment-controller",
            "job-controller",
            "replicaset-controller",
            "replicationcontroller-controller",
            "statefulset-controller",
            "ttl-after-finished-controller",
        ],
    ),
];

impl Selection {
    /// Switches controllers on by their names: those of kube-controller-manager, the groups `gc`,
    /// `namespaces`, `nodes` (a scheduler and a simulated node) and `workloads`, or `all`. `preemption` is
    /// what the scheduler of `nodes` does besides; it is not among `all`. A name after a minus switches
    /// off.
    ///
    /// # Errors
    ///
    /// If a name is unknown.
    pub fn parse<'n>(
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<Self, UnknownControllerError> {
        let mut selection = Selection::default();
        for name in names {
            let (is_off, bare) = match name.strip_prefix('-') {
                Some(bare) => (true, bare),
                None => (false, name),
            };
            let named = named(bare);
            if named.is_empty() {
                return Err(UnknownControllerError { name: bare.to_owned(), near: near(bare) });
            }
            match is_off {
                true => selection.names.retain(|name| !named.contains(name)),
                false => {
                    let scheduler = named.contains(PREEMPTION).then_some(NODES);
                    selection.names.extend(named.into_iter().chain(scheduler));
                }
            }
        }
        Ok(selection)
    }

    /// Switches on that events go, some time after they were written last.
    #[must_use]
    pub fn event_ttl(mut self, time: Duration) -> Self {
        self.names.extend(named(EVENT_EXPIRY));
        self.event_ttl = Some(time);
        self
    }

    /// Returns whether nothing is switched on.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Returns whether objects go with their owners, which the server sees to
    /// ([`ServerBuilder::collect_garbage`](billhook_apiserver::ServerBuilder::collect_garbage)).
    pub fn collects_garbage(&self) -> bool {
        self.names.contains(GARBAGE)
    }

    /// Returns whether the deletion of namespaces finishes.
    pub fn ends_namespaces(&self) -> bool {
        self.names.contains(NAMESPACES) || self.has_namespace_controller()
    }

    /// Returns whether a controller of its own does so, step by step and with conditions, in place of the
    /// server
    /// ([`ServerBuilder::without_namespace_controller`](billhook_apiserver::ServerBuilder::without_namespace_controller)).
    pub fn has_namespace_controller(&self) -> bool {
        self.names.contains(NAMESPACE_CONTROLLER)
    }

    /// Returns whether pods are scheduled and run.
    pub fn has_nodes(&self) -> bool {
        self.names.contains(NODES)
    }

    /// Returns whether the scheduler deletes pods to make room for others
    /// ([`ControlPlaneBuilder::preempt_pods`](crate::ControlPlaneBuilder::preempt_pods)).
    pub fn preempts_pods(&self) -> bool {
        self.names.contains(PREEMPTION)
    }

    /// Returns whether namespaces get a service account, and so pods may have one
    /// ([`ServerBuilder::give_service_accounts`](billhook_apiserver::ServerBuilder::give_service_accounts)).
    pub fn has_service_accounts(&self) -> bool {
        self.names.contains(SERVICE_ACCOUNTS)
    }

    /// Returns whether namespaces get the certificate of the cluster
    /// ([`ControlPlaneBuilder::root_certificate`](crate::ControlPlaneBuilder::root_certificate)).
    pub fn publishes_certificate(&self) -> bool {
        self.names.contains(CERTIFICATE)
    }

    /// Returns whether requests of kubelets for certificates are approved
    /// ([`ControlPlaneBuilder::review_certificates`](crate::ControlPlaneBuilder::review_certificates)).
    pub fn approves_certificates(&self) -> bool {
        self.names.contains(APPROVAL)
    }

    /// Returns whether approved requests for certificates are signed
    /// ([`ControlPlaneBuilder::sign_certificates`](crate::ControlPlaneBuilder::sign_certificates)).
    pub fn signs_certificates(&self) -> bool {
        self.names.contains(SIGNING)
    }

    /// Returns the controllers.
    pub fn controllers(&self) -> Vec<Arc<dyn Controller>> {
        let mut controllers = all();
        controllers.retain(|controller| self.names.contains(controller.name()));
        if let Some(ttl) = self.event_ttl {
            let expiry = controllers.iter_mut().find(|it| it.name() == EVENT_EXPIRY);
            expiry.into_iter().for_each(|expiry| *expiry = Arc::new(EventExpiry { ttl }));
        }
        controllers
    }
}

/// Returns the names of all that is there.
fn everything() -> impl Iterator<Item = &'static str> {
    let controllers = all().into_iter().map(|controller| controller.name());
    controllers.chain([GARBAGE, NAMESPACES, NODES, APPROVAL, CERTIFICATE, SIGNING])
}

/// Returns the names that begin as one does, or as one in the plural.
fn near(name: &str) -> BTreeSet<&'static str> {
    let stem = name.strip_suffix('s').unwrap_or(name);
    everything().filter(|it| !stem.is_empty() && it.starts_with(stem)).collect()
}

/// Returns the names of what a name stands for; none if it is unknown.
fn named(name: &str) -> BTreeSet<&'static str> {
    if matches!(name, "all" | "*") {
        return everything().collect();
    }
    if name == PREEMPTION {
        return BTreeSet::from([PREEMPTION]);
    }
    let group = GROUPS.iter().find(|(group, _)| *group == name).map(|(_, names)| *names);
    let is_named = |it: &&'static str| match group {
        Some(names) => names.contains(it),
        None => *it == name,
    };
    everything().filter(is_named).collect()
}
