//! A rollout of many pods, state by state (CP-06, CP-32).

use std::collections::BTreeMap;
use std::time::Duration;

use billhook_apiserver::storage::Batch;
use billhook_control_plane::simulation::Rule;
use serde_json::Value;

use crate::support::{column, create, request, run, run_with};

const DEPLOYMENT: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 100
  strategy: {rollingUpdate: {maxSurge: 25%, maxUnavailable: 10}}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: i}]}
";

/// How many pods the old and the new set want, and how many of them are ready.
type State = [i64; 4];

const END: State = [0, 0, 100, 100];

/// Returns the states of a rollout, one for each change of a set.
fn rollout(seed: u64) -> Vec<State> {
    let mut states = Vec::new();
    let slow = Rule::pods("web-*").get_ready().after(Duration::from_secs(1));
    run_with(
        |builder| builder.seed(seed).simulate(slow),
        async |plane| {
            create(plane, DEPLOYMENT).await;
            plane.advance(Duration::from_secs(2)).await.unwrap();
            let mut changes = plane.server().changes();
            changes.read().unwrap();
            let image = r#"{"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "j"}]}}}}"#;
            let path = "/apis/apps/v1/namespaces/default/deployments/web";
            request(plane, "PATCH", path, image).await;
            let mut sets = BTreeMap::from([(1, [100, 100]), (2, [0, 0])]);
            for _ in 0..60 {
                if states.last() == Some(&END) {
                    break;
                }
                plane.advance(Duration::from_secs(1)).await.unwrap();
                let Batch::Events(events) = changes.read().unwrap() else { panic!("begun again") };
                let of_sets =
                    events.into_iter().filter(|(name, _)| name.parts().1 == "replicasets");
                for object in of_sets.filter_map(|(_, event)| event.after) {
                    let set: Value = serde_json::from_slice(&object.text).unwrap();
                    let revision =
                        &set["metadata"]["annotations"]["deployment.kubernetes.io/revision"];
                    let number = |pointer: &str| set.pointer(pointer).and_then(Value::as_i64);
                    let numbers = ["/spec/replicas", "/status/readyReplicas"].map(number);
                    let revision = revision.as_str().unwrap().parse().unwrap();
                    sets.insert(revision, numbers.map(Option::unwrap_or_default));
                    states.push([sets[&1][0], sets[&1][1], sets[&2][0], sets[&2][1]]);
                }
            }
        },
    );
    states
}

/// CP-32: there are never more than 125 pods and never fewer than 90 ready ones, and the way is the
/// same in every run, whatever names the pods have.
#[test]
fn a_rollout_goes_the_same_way_in_every_run() {
    let states = rollout(0);
    for [old, old_ready, new, new_ready] in &states {
        assert!(old + new <= 125 && old_ready + new_ready >= 90, "{states:?}");
    }
    assert!(states.len() > 20, "{states:?}");
    assert_eq!(states.last(), Some(&END));
    assert_eq!(states, rollout(1));
}

/// CP-32: one step takes the pods that are not available from the old set, then the available ones that
/// may go; the new set grows after it.
#[test]
fn unavailable_and_spare_pods_go_in_one_step() {
    run(async |plane| {
        let strategy = "strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 50%}}";
        let known = "strategy: {rollingUpdate: {maxSurge: 25%, maxUnavailable: 10}}";
        let deployment = DEPLOYMENT.replace(known, strategy).replace("100", "10");
        create(plane, &deployment).await;
        let pods = "/api/v1/namespaces/default/pods";
        let names = column(plane, pods, "/metadata/name").await;
        for name in names.iter().take(2) {
            let rule = r#"{"metadata": {"annotations": {"billhook.dev/simulate": "{loseReadiness: true}"}}}"#;
            request(plane, "PATCH", &format!("{pods}/{name}"), rule).await;
        }
        plane.settled().await.unwrap();
        let image =
            r#"{"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "j"}]}}}}"#;
        let path = "/apis/apps/v1/namespaces/default/deployments/web";
        request(plane, "PATCH", path, image).await;
        plane.settled().await.unwrap();
        let events = "/api/v1/namespaces/default/events?fieldSelector=reason=ScalingReplicaSet";
        let messages = column(plane, events, "/message").await;
        let steps: Vec<&str> =
            messages.iter().filter_map(|it| it.rsplit_once(" from ")).map(|it| it.1).collect();
        assert_eq!(
            steps.get(..4),
            Some(&["0 to 10", "10 to 8", "8 to 5", "0 to 5"][..]),
            "{steps:?}"
        );
    });
}
