//! Controllers that run beside a server.

use std::sync::Arc;
use std::time::Duration;

use billhook_apiserver::Server;
use billhook_control_plane::controllers::Selection;
use billhook_control_plane::simulation::{Rule, Stage};
use billhook_control_plane::{Clock, ControlPlane, SettleError};

use crate::certificate_requests::{of_kubelet, sign};
use crate::listening::Authority;
use crate::report;

/// The life of objects that a cluster would act on: pods by rules, objects of any kind by stages.
#[derive(Default)]
pub(crate) struct Simulation {
    pub(crate) rules: Vec<Rule>,
    pub(crate) stages: Vec<Stage>,
}

/// The authorities of a cluster.
#[derive(Default)]
pub(crate) struct Authorities {
    /// The certificate, as PEM, by which namespaces know the server.
    pub(crate) root: Option<String>,
    /// The one that signs requests for certificates.
    pub(crate) signer: Option<Arc<Authority>>,
}

/// How long controllers pause when one of them does not come to rest.
const PAUSE: Duration = Duration::from_secs(1);

/// Runs the controllers that are switched on, as long as the server is there, on its clock.
pub(crate) async fn run(
    server: Server,
    selection: &Selection,
    simulation: Simulation,
    authorities: Authorities,
    clock: Clock,
) -> ControlPlane {
    let mut builder = ControlPlane::builder()
        .clock(clock)
        .controllers(selection.controllers())
        .nodes(selection.has_nodes().then_some("node-0"))
        .report_containers();
    if selection.preempts_pods() {
        builder = builder.preempt_pods();
    }
    if selection.approves_certificates() {
        builder = builder.review_certificates(of_kubelet);
    }
    let Authorities { root, signer } = authorities;
    if let Some(root) = root.filter(|_| selection.publishes_certificate()) {
        builder = builder.root_certificate(&root);
    }
    if let Some(signer) = signer.filter(|_| selection.signs_certificates()) {
        builder = builder.sign_certificates(move |request| sign(&signer, request));
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
        let mut last = None;
        while let Err(error) = running.run().await {
            let goes_on = matches!(error, SettleError::Restless { .. });
            if !goes_on {
                return report::warning(&format!("controllers do not run any more: {error}"));
            }
            if last.as_ref() != Some(&error) {
                report::warning(&format!("controllers pause again and again: {error}"));
            }
            last = Some(error);
            tokio::time::sleep(PAUSE).await;
        }
    });
    plane
}
