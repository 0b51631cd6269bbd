//! Deployments (CP-30 to CP-39).

use billhook_control_plane::ControlPlane;
use serde_json::Value;

use crate::support::{column, create, request, run, run_with};

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const PATH: &str = "/apis/apps/v1/namespaces/default/deployments/web";
const SETS: &str = "/apis/apps/v1/namespaces/default/replicasets";
const PODS: &str = "/api/v1/namespaces/default/pods";
const EVENTS: &str = "/api/v1/namespaces/default/events";

fn deployment(strategy: &str) -> String {
    format!(
        "
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: default}}
spec:
  replicas: 4
  strategy: {strategy}
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec: {{containers: [{{name: c, image: i}}]}}
"
    )
}

async fn patch(plane: &ControlPlane, patch: &str) {
    request(plane, "PATCH", PATH, patch).await;
    plane.settled().await.unwrap();
}

const NEW_IMAGE: &str =
    r#"{"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "j"}]}}}}"#;

fn condition<'o>(object: &'o Value, kind: &str) -> &'o Value {
    let conditions = object["status"]["conditions"].as_array().unwrap();
    conditions.iter().find(|condition| condition["type"] == kind).unwrap()
}

/// Returns who was scaled from how many to how many, in order, without names.
async fn scalings(plane: &ControlPlane) -> Vec<String> {
    let mut names = column(plane, EVENTS, "/metadata/name").await;
    let messages = column(plane, EVENTS, "/message").await;
    let mut told: Vec<_> = names.drain(..).zip(messages).collect();
    told.retain(|(_, message)| message.starts_with("Scaled"));
    told.sort();
    let short = |message: String| {
        let words: Vec<&str> = message.split(' ').collect();
        [words[1], words[6], words[8]].join(" ")
    };
    told.into_iter().map(|(_, message)| short(message)).collect()
}

/// CP-31, CP-34, CP-35, CP-118: a set is created, and the Deployment is complete.
#[test]
fn a_deployment_has_a_set_and_is_complete() {
    run(async |plane| {
        create(plane, &deployment("{type: RollingUpdate}")).await;
        assert_eq!(column(plane, PODS, "/status/phase").await, ["Running"; 4]);
        let web = request(plane, "GET", PATH, "").await;
        let status = &web["status"];
        assert_eq!(status["availableReplicas"], 4);
        assert_eq!(status["updatedReplicas"], 4);
        assert_eq!(condition(&web, "Available")["reason"], "MinimumReplicasAvailable");
        assert_eq!(condition(&web, "Progressing")["reason"], "NewReplicaSetAvailable");
        assert_eq!(web["metadata"]["annotations"]["deployment.kubernetes.io/revision"], "1");
        let sets = column(plane, SETS, "/metadata/annotations").await;
        let sizes = r#"{"deployment.kubernetes.io/desired-replicas":"4","deployment.kubernetes.io/max-replicas":"5","deployment.kubernetes.io/revision":"1"}"#;
        assert_eq!(sets, [sizes]);
    });
}

/// CP-32: the example of the rule: a surge of 1, 1 unavailable.
#[test]
fn a_rollout_goes_step_by_step() {
    run(async |plane| {
        create(plane, &deployment("{type: RollingUpdate}")).await;
        patch(plane, NEW_IMAGE).await;
        let steps = scalings(plane).await;
        assert_eq!(steps[..3], ["up 0 4", "up 0 1", "down 4 3"]);
        assert_eq!(steps.last().unwrap(), "down 1 0");
        let mut sizes = column(plane, SETS, "/spec/replicas").await;
        sizes.sort();
        assert_eq!(sizes, ["0", "4"]);
        let images = column(plane, PODS, "/spec/containers/0/image").await;
        assert_eq!(images, ["j"; 4]);
    });
}

/// CP-33: all old pods go before new ones come.
#[test]
fn recreate_waits_for_old_pods() {
    run(async |plane| {
        create(plane, &deployment("{type: Recreate}")).await;
        patch(plane, NEW_IMAGE).await;
        assert_eq!(scalings(plane).await, ["up 0 4", "down 4 0", "up 0 4"]);
        assert_eq!(column(plane, PODS, "/spec/containers/0/image").await, ["j"; 4]);
    });
}

/// CP-36: a complete Deployment scales its set.
#[test]
fn a_deployment_is_scaled() {
    run(async |plane| {
        create(plane, &deployment("{type: RollingUpdate}")).await;
        patch(plane, r#"{"spec": {"replicas": 2}}"#).await;
        assert_eq!(scalings(plane).await, ["up 0 4", "down 4 2"]);
        let web = request(plane, "GET", PATH, "").await;
        assert_eq!(condition(&web, "Progressing")["reason"], "NewReplicaSetAvailable");
    });
}

/// CP-37: a change of the template waits while the Deployment is paused.
#[test]
fn a_paused_deployment_does_not_roll_out() {
    run(async |plane| {
        create(plane, &deployment("{type: RollingUpdate}")).await;
        patch(plane, r#"{"spec": {"paused": true}}"#).await;
        patch(plane, NEW_IMAGE).await;
        assert_eq!(column(plane, PODS, "/spec/containers/0/image").await, ["i"; 4]);
        let web = request(plane, "GET", PATH, "").await;
        assert_eq!(condition(&web, "Progressing")["reason"], "DeploymentPaused");
        patch(plane, r#"{"spec": {"paused": null}}"#).await;
        assert_eq!(column(plane, PODS, "/spec/containers/0/image").await, ["j"; 4]);
    });
}

/// CP-35: a rollout that does not progress is late after its deadline.
#[test]
fn a_rollout_that_is_stuck_is_late() {
    use billhook_control_plane::simulation::Rule;
    use std::time::Duration;

    run_with(
        |builder| builder.simulate(Rule::pods("*").never_get_ready()),
        async |plane| {
            create(plane, &deployment("{type: RollingUpdate}")).await;
            let web = request(plane, "GET", PATH, "").await;
            assert_eq!(condition(&web, "Progressing")["reason"], "ReplicaSetUpdated");
            plane.advance(Duration::from_secs(602)).await.unwrap();
            let web = request(plane, "GET", PATH, "").await;
            assert_eq!(condition(&web, "Progressing")["reason"], "ProgressDeadlineExceeded");
            assert_eq!(condition(&web, "Available")["status"], "False");
        },
    );
}

/// CP-32: old sets beyond the limit go.
#[test]
fn old_sets_are_deleted() {
    run(async |plane| {
        create(plane, &deployment("{type: RollingUpdate}")).await;
        patch(plane, r#"{"spec": {"revisionHistoryLimit": 1}}"#).await;
        for image in ["j", "k", "l"] {
            patch(plane, &NEW_IMAGE.replace("\"j\"", &format!("{image:?}"))).await;
        }
        let revision = "/metadata/annotations/deployment.kubernetes.io~1revision";
        let mut revisions = column(plane, SETS, revision).await;
        revisions.sort();
        assert_eq!(revisions, ["3", "4"]);
    });
}

/// CP-31: going back to a template takes its set again, which remembers its revision.
#[test]
fn an_old_set_is_used_again() {
    run(async |plane| {
        create(plane, &deployment("{type: RollingUpdate}")).await;
        patch(plane, NEW_IMAGE).await;
        patch(plane, &NEW_IMAGE.replace("\"j\"", "\"i\"")).await;
        let sets = request(plane, "GET", SETS, "").await;
        let new = sets["items"].as_array().unwrap().iter().find(|set| set["spec"]["replicas"] == 4);
        let annotations = &new.unwrap()["metadata"]["annotations"];
        assert_eq!(annotations["deployment.kubernetes.io/revision"], "3");
        assert_eq!(annotations["deployment.kubernetes.io/revision-history"], "1");
    });
}

/// CP-39: what a Deployment owns goes with it.
#[test]
fn a_deployment_is_deleted_with_its_pods() {
    run(async |plane| {
        create(plane, &deployment("{type: RollingUpdate}")).await;
        request(plane, "DELETE", PATH, "").await;
        plane.settled().await.unwrap();
        for path in [DEPLOYMENTS, SETS, PODS] {
            assert_eq!(column(plane, path, "/metadata/name").await, [""; 0], "{path}");
        }
    });
}
