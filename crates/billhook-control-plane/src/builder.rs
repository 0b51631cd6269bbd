//! Building a control plane and its server.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use billhook_apiserver::{Server, ServerBuilder};

use crate::clock::{Clock, Timestamp};
use crate::control_plane::ControlPlane;
use crate::controller::Controller;
use crate::controllers::{
    CertificateApproval, CertificateSigning, Provision, Provisioner, RootCertificate, all,
};
use crate::identifiers::Identifiers;
use crate::object::Object;
use crate::simulation::{
    Kubelet, Leases, NodeStatuses, Rule, Scheduler, Script, Simulation, Stage, Stages, permit,
    register, version,
};

impl ControlPlane {
    /// Begins to build a control plane with its server.
    pub fn builder() -> ControlPlaneBuilder {
        ControlPlaneBuilder::default()
    }
}

/// Builds a [`ControlPlane`] with its server.
pub struct ControlPlaneBuilder {
    server: ServerBuilder,
    clock: Clock,
    seed: u64,
    controllers: Vec<Arc<dyn Controller>>,
    nodes: Vec<String>,
    manager: String,
    reports_all: bool,
    simulation: Simulation,
    stages: Vec<Stage>,
    provisioner: Option<Provisioner>,
    preempts: bool,
}

/// The time at which virtual clocks begin: 2026-01-01T00:00:00Z.
const BEGINNING: Duration = Duration::from_secs(1_767_225_600);

impl Default for ControlPlaneBuilder {
    fn default() -> Self {
        ControlPlaneBuilder {
            server: Server::builder().bootstrap().collect_garbage(),
            clock: Clock::at(Timestamp::from_unix(BEGINNING)),
            seed: 0,
            controllers: all(),
            nodes: vec!["node-0".to_owned()],
            manager: "kubelet".to_owned(),
            reports_all: false,
            simulation: Simulation::default(),
            stages: Vec::new(),
            provisioner: Some(Provisioner::default()),
            preempts: false,
        }
    }
}

impl fmt::Debug for ControlPlaneBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ControlPlaneBuilder").field("nodes", &self.nodes).finish_non_exhaustive()
    }
}

impl ControlPlaneBuilder {
    /// Sets the server; its clock and its identifiers are set when it is built. By default it has the
    /// objects that a cluster begins with, and collects garbage.
    #[must_use]
    pub fn server(mut self, server: ServerBuilder) -> Self {
        self.server = server;
        self
    }

    /// Sets the clock: by default a virtual one, which shows 2026-01-01T00:00:00Z.
    #[must_use]
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Begins another sequence of UIDs, name suffixes, and delays and choices of stages.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the controllers; by default all.
    #[must_use]
    pub fn controllers(mut self, controllers: Vec<Arc<dyn Controller>>) -> Self {
        self.controllers = controllers;
        self
    }

    /// Publishes a certificate, in PEM, as that of the cluster (CP-26). By default there is none.
    #[must_use]
    pub fn root_certificate(mut self, pem: &str) -> Self {
        self.controllers.push(Arc::new(RootCertificate::new(pem)));
        self
    }

    /// Approves the requests for certificates that a function wants to be (CP-91). By default none is.
    #[must_use]
    pub fn approve_certificates(
        mut self,
        is_approved: impl Fn(&Object) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.controllers.push(Arc::new(CertificateApproval::of(is_approved)));
        self
    }

    /// Approves the requests for certificates for which a function names a subresource of requests, such as
    /// `nodeclient`, that their users may create (CP-91).
    #[must_use]
    pub fn review_certificates(
        mut self,
        subresource: impl Fn(&Object) -> Option<&'static str> + Send + Sync + 'static,
    ) -> Self {
        self.controllers.push(Arc::new(CertificateApproval::after_review(subresource)));
        self
    }

    /// Signs approved requests of the signers of a cluster by a function, which returns a certificate in
    /// PEM, or why there is none (CP-91). By default none is signed.
    #[must_use]
    pub fn sign_certificates(
        mut self,
        sign: impl Fn(&Object) -> Result<String, String> + Send + Sync + 'static,
    ) -> Self {
        self.controllers.push(Arc::new(CertificateSigning::by(sign)));
        self
    }

    /// Sets the names of the simulated nodes: by default `node-0`. Without nodes no pod is scheduled.
    #[must_use]
    pub fn nodes<'n>(mut self, names: impl IntoIterator<Item = &'n str>) -> Self {
        self.nodes = names.into_iter().map(str::to_owned).collect();
        self
    }

    /// Says what happens to pods; see [`Rule`]. Where rules differ, the last one counts.
    #[must_use]
    pub fn simulate(self, rule: Rule) -> Self {
        self.simulation.add(rule);
        self
    }

    /// Adds a stage of kwok. Where there is one of pods, nodes do not run these by scripts.
    #[must_use]
    pub fn stage(mut self, stage: Stage) -> Self {
        self.stages.push(stage);
        self
    }

    /// Changes what happens to each pod by what it is; see [`Script`] for what happens by default.
    #[must_use]
    pub fn script(self, change: impl Fn(&Object, &mut Script) + Send + Sync + 'static) -> Self {
        self.simulation.change(change);
        self
    }

    /// Says what happens to each claim of a class with a provisioner (CP-77). By default it gets its volume at
    /// once, where there are nodes.
    #[must_use]
    pub fn provision(
        mut self,
        decide: impl Fn(&Object) -> Provision + Send + Sync + 'static,
    ) -> Self {
        self.provisioner = Some(Provisioner::by(decide));
        self
    }

    /// Leaves out the simulated provisioner: claims wait for volumes that are made by hand, or by a
    /// provisioner under test. By default, where there are nodes, every claim of a class with a
    /// provisioner gets its volume (CP-77).
    #[must_use]
    pub fn without_provisioner(mut self) -> Self {
        self.provisioner = None;
        self
    }

    /// Lets the scheduler delete pods to make room for one of a higher priority (CP-101). By default that
    /// waits for room.
    #[must_use]
    pub fn preempt_pods(mut self) -> Self {
        self.preempts = true;
        self
    }

    /// Sets the manager of the fields that nodes write: by default `kubelet`.
    #[must_use]
    pub fn node_manager(mut self, manager: &str) -> Self {
        self.manager = manager.to_owned();
        self
    }

    /// Lets nodes write events about images, starts and stops of containers; by default only about their
    /// failures, because they take as many writes as all else that happens to a pod.
    #[must_use]
    pub fn report_containers(mut self) -> Self {
        self.reports_all = true;
        self
    }

    /// Builds the server and creates the nodes. Nothing else happens yet.
    pub async fn build(mut self) -> ControlPlane {
        let server = std::mem::take(&mut self.server);
        let (identifiers, now) =
            (Identifiers::new(self.clock.clone(), self.seed), self.clock.clone());
        let ends_namespaces = |it: &Arc<dyn Controller>| it.name() == "namespace-controller";
        let server = match self.controllers.iter().any(ends_namespaces) {
            true => server.without_namespace_controller(),
            false => server,
        };
        let server = server
            .server_fields(move || identifiers.server_fields())
            .clock(move || now.now().to_time())
            .build();
        self.build_on(server).await
    }

    /// Creates the nodes on a server that is there already, whose clock has to show the same time.
    /// Nothing else happens yet.
    pub async fn build_on(self, server: Server) -> ControlPlane {
        let ControlPlaneBuilder {
            clock,
            seed,
            mut controllers,
            nodes,
            manager,
            reports_all,
            simulation,
            stages,
            provisioner,
            preempts,
            ..
        } = self;
        if !nodes.is_empty() {
            let logging = simulation.clone();
            server.read_logs_by(move |pod, container| {
                logging.script(&Object::new(pod.clone())).container(container).log
            });
            if let Some(provisioner) = provisioner {
                controllers.push(Arc::new(provisioner));
            }
            controllers.push(Arc::new(Scheduler::new(simulation.clone(), preempts)));
            if !stages.iter().any(Stage::is_of_pods) {
                controllers.push(Arc::new(Kubelet::new(&manager, simulation.clone(), reports_all)));
            }
            controllers.push(Arc::new(Leases::new(&manager, clock.clone())));
            permit(&server, &manager).await;
            let version = version(&server, &manager).await;
            for name in &nodes {
                register(&server, &manager, name, &version, clock.now()).await;
            }
            if !stages.iter().any(Stage::is_of_nodes) {
                controllers.push(Arc::new(NodeStatuses::new(&manager, version)));
            }
        }
        if !stages.is_empty() {
            controllers.push(Arc::new(Stages::new(stages, seed)));
        }
        ControlPlane::new(server, clock, controllers, simulation)
    }
}
