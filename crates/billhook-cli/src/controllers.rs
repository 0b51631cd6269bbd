//! Controllers that run beside a server.

use std::sync::Arc;

use billhook_apiserver::Server;
use billhook_control_plane::controllers::Selection;
use billhook_control_plane::simulation::{Rule, Stage};
use billhook_control_plane::{Clock, ControlPlane};

use crate::certificate_requests::{of_kubelet, sign};
use crate::listening::Authority;
use crate::report;

/// The life of objects that a cluster would act on: pods by rules, objects of any kind by stages.
#[derive(Default)]
pub(crate) struct Simulation {
    pub(crate) rules: Vec<Rule>,
    pub(crate) stages: Vec<Stage>,
}

/// Runs the controllers that are switched on, as long as the server is there, on its clock. Namespaces
/// get the certificate of its authority, which signs requests, if there is one.
pub(crate) async fn run(
    server: Server,
    selection: &Selection,
    simulation: Simulation,
    authority: Option<Arc<Authority>>,
    clock: Clock,
) -> ControlPlane {
    let mut builder = ControlPlane::builder()
        .clock(clock)
        .controllers(selection.controllers())
        .nodes(selection.has_nodes().then_some("node-0"))
        .report_containers();
    if selection.approves_certificates() {
        builder = builder.review_certificates(of_kubelet);
    }
    if let Some(authority) = authority {
        if selection.publishes_certificate() {
            builder = builder.root_certificate(&authority.pem());
        }
        if selection.signs_certificates() {
            builder = builder.sign_certificates(move |request| sign(&authority, request));
        }
    }
    if !selection.has_nodes() {
        builder = builder.without_provisioner();
    }
    let Simulation { rules, stages } = simulation;
    let builder = rules.into_iter().fold(builder, |builder, rule| builder.simulate(rule));
    let builder = stages.into_iter().fold(builder, |builder, stage| builder.stage(stage));
    let plane = builder.build_on(server).await;
    let running = plane.clone();
    tokio::spawn(async move {
        if let Err(error) = running.run().await {
            report::warning(&format!("controllers do not run any more: {error}"));
        }
    });
    plane
}
