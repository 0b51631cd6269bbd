//! The cluster that recordings of the control plane were made on: its nodes do what annotations of
//! pods say.

use std::time::Duration;

use billhook_control_plane::simulation::{End, Exit, Script, Unready};
use billhook_control_plane::{ControlPlane, Object};

/// How long containers run that end.
const RUN: Duration = Duration::from_millis(200);

/// Builds the cluster.
pub(super) async fn build() -> ControlPlane {
    let builder = ControlPlane::builder().nodes(["node-1", "node-2", "node-3"]).node_manager("sim");
    let certificate = "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n";
    builder
        .root_certificate(certificate)
        .without_provisioner()
        .script(follow_annotations)
        .build()
        .await
}

/// Reads the annotations of a pod, without which its containers run.
fn follow_annotations(pod: &Object, script: &mut Script) {
    let has = |name: &str| pod.annotation(name).is_some();
    let code = pod.annotation("sim/exit").and_then(|code| code.parse().ok());
    *script = Script::running(pod);
    script.ignores_missing = true;
    script.stays_pending = has("sim/pending");
    script.ignores_deletion = has("sim/hang");
    script.unready = has("sim/unready").then(Unready::default);
    script.end = code.map(|code| End::Exit(Exit::new(code, RUN)));
}
