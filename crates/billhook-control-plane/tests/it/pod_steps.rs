//! The steps of a pod on its node: its start, its restarts and its deletion (CP-111, CP-113, CP-114, CP-117).

use std::time::Duration;

use billhook_apiserver::Server;
use billhook_control_plane::simulation::Rule;
use billhook_control_plane::{ControlPlane, ControlPlaneBuilder};
use serde_json::{Value, json};

use crate::support::{column, create, request, run, run_with, text};

const PODS: &str = "/api/v1/namespaces/default/pods";
const POD: &str = "/api/v1/namespaces/default/pods/p";
const CONTAINER: &str = "containers: [{name: c, image: i}]";

fn pod(metadata: &str, spec: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: p, namespace: default{metadata}}}\n\
         spec: {{{spec}}}"
    )
}

async fn get(plane: &ControlPlane) -> Value {
    request(plane, "GET", POD, "").await
}

async fn pass(plane: &ControlPlane, seconds: u64) -> Value {
    plane.advance(Duration::from_secs(seconds)).await.unwrap();
    get(plane).await
}

async fn delete(plane: &ControlPlane, options: Value) -> Value {
    let deleted = request(plane, "DELETE", POD, &options.to_string()).await;
    plane.settled().await.unwrap();
    deleted
}

/// Returns the conditions as texts, such as `Ready=False ContainersNotReady: …`.
fn conditions(pod: &Value) -> Vec<String> {
    let conditions = pod["status"]["conditions"].as_array().unwrap().iter();
    let print = |it: &Value| {
        let (kind, status) = (text(it, "/type"), text(it, "/status"));
        let (reason, message) = (text(it, "/reason"), text(it, "/message"));
        format!("{kind}={status} {reason}: {message}")
    };
    conditions.map(print).map(|it| it.trim_end_matches([' ', ':']).to_owned()).collect()
}

/// Returns the state of a container as its name and reason, with how often it was restarted.
fn state(pod: &Value, list: &str, index: usize) -> (String, i64) {
    let container = &pod["status"][list][index];
    let (name, state) = container["state"].as_object().unwrap().iter().next().unwrap();
    let restarts = container["restartCount"].as_i64().unwrap();
    (format!("{name} {}", text(state, "/reason")).trim_end().to_owned(), restarts)
}

/// BK-112: a container that is added to a running pod runs, and changes nothing else.
#[test]
fn ephemeral_containers_run() {
    run_with(ControlPlaneBuilder::report_containers, async |plane| {
        create(plane, &pod("", CONTAINER)).await;
        let before = get(plane).await;
        let added = json!({"spec": {"ephemeralContainers": [{"name": "e", "image": "i"}]}});
        let path = format!("{POD}/ephemeralcontainers");
        request(plane, "PATCH", &path, &added.to_string()).await;
        let after = pass(plane, 1).await;
        assert_eq!(state(&after, "ephemeralContainerStatuses", 0), ("running".to_owned(), 0));
        assert_eq!(after["status"]["ephemeralContainerStatuses"][0]["ready"], false);
        assert_eq!(conditions(&after), conditions(&before));
        assert_eq!(after["status"]["containerStatuses"], before["status"]["containerStatuses"]);
        let events = column(plane, "/api/v1/namespaces/default/events", "/message").await;
        assert!(events.contains(&"Started container e".to_owned()), "{events:?}");
    });
}

/// BK-113: what a running container may use is what its pod asks for.
#[test]
fn running_containers_are_resized() {
    run(async |plane| {
        let requests = "containers: [{name: c, image: i, resources: {requests: {cpu: 100m}}}]";
        create(plane, &pod("", requests)).await;
        let asked = json!({"cpu": "200m"});
        let resources = json!({"name": "c", "resources": {"requests": asked}});
        let patch = json!({"spec": {"containers": [resources]}});
        request(plane, "PATCH", &format!("{POD}/resize"), &patch.to_string()).await;
        let status = pass(plane, 1).await["status"].clone();
        let container = &status["containerStatuses"][0];
        assert_eq!(container["allocatedResources"], asked);
        assert_eq!(container["resources"], json!({"requests": asked}));
        assert_eq!(status["observedGeneration"], 2);
    });
}

/// CP-111: the conditions and the containers at each step.
#[test]
fn each_step_has_its_status() {
    let slow = ["a", "c"]
        .map(|name| Rule::pods("p").container(name).start().after(Duration::from_secs(5)));
    let ends = Rule::pods("p").container("a").exits(0).after(Duration::from_secs(5));
    let ready = Rule::pods("p").container("c").get_ready().after(Duration::from_secs(5));
    run_with(
        |builder| slow.into_iter().chain([ends, ready]).fold(builder, |it, rule| it.simulate(rule)),
        async |plane| {
            let init =
                "initContainers: [{name: a, image: i}, {name: s, image: i, restartPolicy: Always}]";
            create(plane, &pod("", &format!("{init}, {CONTAINER}"))).await;
            let pod = get(plane).await;
            let unready = "ContainersNotReady: containers with unready status: [c]";
            assert_eq!(
                conditions(&pod),
                [
                    "PodReadyToStartContainers=False",
                    "Initialized=False ContainersNotInitialized: containers with incomplete status: [a s]",
                    &format!("Ready=False {unready}"),
                    &format!("ContainersReady=False {unready}"),
                    "PodScheduled=True",
                ]
            );
            let status = &pod["status"];
            assert_eq!(
                (text(status, "/phase"), text(status, "/qosClass")),
                ("Pending", "BestEffort")
            );
            assert_eq!(status["hostIPs"], json!([{"ip": "10.0.0.1"}]));
            assert_eq!(status["startTime"], "2026-01-01T00:00:00Z");
            assert_eq!(status["podIP"], Value::Null);
            assert_eq!(status["observedGeneration"], pod["metadata"]["generation"]);
            assert_eq!(state(&pod, "containerStatuses", 0).0, "waiting PodInitializing");
            // An init container runs.
            let pod = pass(plane, 5).await;
            assert_eq!(pod["status"]["phase"], "Pending");
            assert_eq!(pod["status"]["podIPs"], json!([{"ip": "10.244.0.1"}]));
            assert_eq!(conditions(&pod)[0], "PodReadyToStartContainers=True");
            assert_eq!(state(&pod, "initContainerStatuses", 0).0, "running");
            assert_eq!(state(&pod, "initContainerStatuses", 1).0, "waiting PodInitializing");
            // It is done, and the one that stays runs; the others follow.
            let pod = pass(plane, 5).await;
            assert_eq!(pod["status"]["phase"], "Running");
            assert_eq!(conditions(&pod)[1], "Initialized=True");
            assert_eq!(state(&pod, "initContainerStatuses", 0).0, "terminated Completed");
            assert_eq!(state(&pod, "initContainerStatuses", 1).0, "running");
            assert_eq!(pod["status"]["initContainerStatuses"][0]["ready"], true);
            let container = &pod["status"]["containerStatuses"][0];
            assert_eq!((&container["started"], &container["ready"]), (&json!(true), &json!(false)));
            assert_eq!(conditions(&pod)[2], format!("Ready=False {unready}"));
            let pod = pass(plane, 5).await;
            assert_eq!(conditions(&pod)[2..4], ["Ready=True", "ContainersReady=True"]);
        },
    );
}

/// CP-111: the node says which generation of the pod it has seen.
#[test]
fn the_observed_generation_follows() {
    run(async |plane| {
        create(plane, &pod("", CONTAINER)).await;
        let image = r#"{"spec": {"activeDeadlineSeconds": 1000}}"#;
        let changed = request(plane, "PATCH", POD, image).await;
        assert_eq!(changed["metadata"]["generation"], 2);
        plane.settled().await.unwrap();
        assert_eq!(get(plane).await["status"]["observedGeneration"], 2);
    });
}

/// CP-111, CP-112: containers that stay end when the others have.
#[test]
fn sidecars_end_with_the_pod() {
    let ends = Rule::pods("p").container("c").exits(0).after(Duration::from_secs(5));
    run_with(
        |builder| builder.simulate(ends),
        async |plane| {
            let init = "restartPolicy: Never, initContainers: [{name: s, image: i, restartPolicy: Always}]";
            create(plane, &pod("", &format!("{init}, {CONTAINER}"))).await;
            let pod = pass(plane, 5).await;
            assert_eq!(pod["status"]["phase"], "Succeeded");
            assert!(state(&pod, "initContainerStatuses", 0).0.starts_with("terminated"), "{pod}");
        },
    );
}

/// CP-111, CP-112: a container that stays starts again without holding up the others.
#[test]
fn sidecars_start_again_by_themselves() {
    let after = Duration::from_secs;
    let crashes = Rule::pods("p").container("s").exits(1).after(after(2));
    let ends = Rule::pods("p").container("c").exits(0).after(after(9));
    run_with(
        |builder| builder.simulate(crashes).simulate(ends),
        async |plane| {
            let init = "restartPolicy: Never, initContainers: [{name: s, image: i, restartPolicy: Always}]";
            create(plane, &pod("", &format!("{init}, {CONTAINER}"))).await;
            let pod = pass(plane, 5).await;
            let expected = ("waiting CrashLoopBackOff".to_owned(), 1);
            assert_eq!(state(&pod, "initContainerStatuses", 0), expected);
            assert_eq!(pod["status"]["phase"], "Running");
            assert_eq!(conditions(&pod)[1], "Initialized=True");
            assert_eq!(pass(plane, 4).await["status"]["phase"], "Succeeded");
        },
    );
}

/// CP-113: init containers wait for their restarts like others, and the delay ends at five minutes.
#[test]
fn restarts_wait_at_most_five_minutes() {
    let fails = Rule::pods("p").container("a").exits(1);
    run_with(
        |builder| builder.simulate(fails),
        async |plane| {
            let init = "initContainers: [{name: a, image: i}]";
            create(plane, &pod("", &format!("{init}, {CONTAINER}"))).await;
            for (restarts, delay) in (1..).zip([10, 20, 40, 80, 160, 300, 300]) {
                let pod = pass(plane, delay - 1).await;
                let expected = ("waiting CrashLoopBackOff".to_owned(), restarts);
                assert_eq!(state(&pod, "initContainerStatuses", 0), expected, "{delay}");
                let last = &pod["status"]["initContainerStatuses"][0]["lastState"]["terminated"];
                assert_eq!(last["reason"], "Error");
                assert_eq!(pod["status"]["phase"], "Pending");
                pass(plane, 1).await;
            }
        },
    );
}

/// CP-114: the grace period is that of the options, else of the pod.
#[test]
fn the_grace_period_of_a_deletion() {
    for (spec, options, expected) in [
        ("", json!({}), 30),
        ("terminationGracePeriodSeconds: 7, ", json!({}), 7),
        ("terminationGracePeriodSeconds: 7, ", json!({"gracePeriodSeconds": 9}), 9),
    ] {
        run_with(
            |builder| builder.simulate(Rule::pods("p").ignore_sigterm()),
            async |plane| {
                create(plane, &pod("", &format!("{spec}{CONTAINER}"))).await;
                let deleted = delete(plane, options).await;
                assert_eq!(deleted["metadata"]["deletionGracePeriodSeconds"], expected);
                let killed = format!("2026-01-01T00:00:{expected:02}Z");
                assert_eq!(deleted["metadata"]["deletionTimestamp"], killed);
                assert_eq!(pass(plane, expected - 1).await["status"]["phase"], "Running");
                assert_eq!(pass(plane, 1).await["code"], 404);
            },
        );
    }
}

/// CP-114: a second deletion shortens the period, and never lengthens it; one without a period removes the
/// pod.
#[test]
fn a_second_deletion_shortens_the_period() {
    for (second, ends) in [(10, 10), (60, 30), (0, 5)] {
        run_with(
            |builder| builder.simulate(Rule::pods("p").ignore_sigterm()),
            async |plane| {
                create(plane, &pod("", CONTAINER)).await;
                delete(plane, json!({})).await;
                pass(plane, 5).await;
                delete(plane, json!({"gracePeriodSeconds": second})).await;
                let left: u64 = ends - 5;
                if let Some(before) = left.checked_sub(1) {
                    assert_eq!(pass(plane, before).await["status"]["phase"], "Running", "{second}");
                    pass(plane, 1).await;
                }
                assert_eq!(get(plane).await["code"], 404, "{second}");
            },
        );
    }
}

/// CP-114: pods without a node, and those that have ended, go at once.
#[test]
fn pods_that_do_not_run_go_at_once() {
    for (rule, spec) in [
        (Rule::pods("p").stay_pending(), ""),
        (Rule::pods("p").exits(1), "restartPolicy: Never, "),
        (Rule::pods("p").exits(0), "restartPolicy: Never, "),
    ] {
        run_with(
            |builder| builder.simulate(rule.clone()),
            async |plane| {
                create(plane, &pod("", &format!("{spec}{CONTAINER}"))).await;
                let path = format!("{POD}?gracePeriodSeconds=20");
                let deleted = request(plane, "DELETE", &path, "").await;
                assert_eq!(deleted["metadata"]["deletionGracePeriodSeconds"], 0, "{rule:?}");
                assert_eq!(get(plane).await["code"], 404, "{rule:?}");
            },
        );
    }
}

/// CP-114: a finalizer keeps a pod that has ended, until it is gone.
#[test]
fn finalizers_keep_pods_that_have_ended() {
    run(async |plane| {
        create(plane, &pod(", finalizers: [x.io/f]", CONTAINER)).await;
        delete(plane, json!({})).await;
        let pod = pass(plane, 60).await;
        assert_eq!(pod["status"]["phase"], "Failed");
        assert_eq!(pod["metadata"]["deletionGracePeriodSeconds"], 0);
        let ended = &pod["status"]["containerStatuses"][0]["state"]["terminated"];
        assert_eq!(ended["exitCode"], 143);
        let patch = r#"{"metadata": {"finalizers": null}}"#;
        request(plane, "PATCH", POD, patch).await;
        assert_eq!(get(plane).await["code"], 404);
    });
}

/// CP-114: what a container does before it is stopped uses up part of the period.
#[test]
fn hooks_come_before_the_end() {
    for (sleeps, ends) in [(5, 5), (30, 30)] {
        run(async |plane| {
            let hook = format!("lifecycle: {{preStop: {{sleep: {{seconds: {sleeps}}}}}}}");
            let spec =
                format!("containers: [{{name: c, image: i, {hook}}}, {{name: d, image: i}}]");
            create(plane, &pod("", &spec)).await;
            delete(plane, json!({})).await;
            let pod = pass(plane, ends - 1).await;
            assert_eq!(state(&pod, "containerStatuses", 0).0, "running", "{sleeps}");
            assert_eq!(state(&pod, "containerStatuses", 1).0, "terminated Error");
            assert_eq!(pass(plane, 1).await["code"], 404);
        });
    }
}

/// CP-114: the last requests of a pod are the node's, and the deletion names the pod that it means.
#[test]
fn the_node_has_the_last_word() {
    run_with(
        |builder| {
            let server = Server::builder().bootstrap().log_requests();
            builder.server(server).report_containers()
        },
        async |plane| {
            create(plane, &pod("", CONTAINER)).await;
            let before = plane.server().requests().len();
            delete(plane, json!({})).await;
            let log = plane.server().requests().after(before).by("kubelet");
            let lines: Vec<_> = log.iter().map(|it| format!("{} {}", it.verb, it.path)).collect();
            let events = "/api/v1/namespaces/default/events";
            let expected = [
                format!("create {events}"),
                format!("patch {POD}/status"),
                format!("delete {POD}"),
            ];
            assert_eq!(lines, expected);
        },
    );
}

/// CP-114: endpoints leave a Service when the deletion of their pod begins.
#[test]
fn endpoints_react_to_the_beginning() {
    run_with(
        |builder| builder.simulate(Rule::pods("p").ignore_sigterm()),
        async |plane| {
            let service = "
apiVersion: v1
kind: Service
metadata: {name: s, namespace: default}
spec: {selector: {app: web}, ports: [{port: 80}]}
";
            create(plane, service).await;
            create(plane, &pod(", labels: {app: web}", CONTAINER)).await;
            delete(plane, json!({})).await;
            let endpoints = "/api/v1/namespaces/default/endpoints/s";
            let subsets = request(plane, "GET", endpoints, "").await["subsets"].clone();
            assert_eq!(subsets, Value::Null);
            let slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
            let terminating = column(plane, slices, "/endpoints/0/conditions/terminating").await;
            assert_eq!(terminating, ["true"]);
        },
    );
}

/// CP-117: addresses are different, in the order of the pods, and those of the node with its network.
#[test]
fn pods_have_addresses() {
    run(async |plane| {
        let mut pods = String::new();
        for (name, network) in [("a", false), ("b", true), ("c", false)] {
            let spec = format!("hostNetwork: {network}, {CONTAINER}");
            pods += &pod("", &spec).replace("name: p", &format!("name: {name}"));
            pods += "\n---\n";
        }
        create(plane, &pods).await;
        let addresses = column(plane, PODS, "/status/podIP").await;
        assert_eq!(addresses, ["10.244.0.1", "10.0.0.1", "10.244.0.2"]);
        let ids = column(plane, PODS, "/status/containerStatuses/0/containerID").await;
        for id in &ids {
            let hash = id.strip_prefix("sim://").unwrap();
            assert!(hash.len() >= 16 && hash.chars().all(|c| c.is_ascii_hexdigit()), "{id}");
        }
        assert!(ids[0] != ids[1] && ids[1] != ids[2], "{ids:?}");
        let images = column(plane, PODS, "/status/containerStatuses/0/imageID").await;
        assert_eq!(images, ["i"; 3]);
    });
}

/// CP-117: a control plane that takes over a server gives no address of a pod again.
#[test]
fn addresses_outlast_a_control_plane() {
    run(async |plane| {
        let named = |name: &str| pod("", CONTAINER).replace("name: p", &format!("name: {name}"));
        create(plane, &[named("a"), named("b")].join("\n---\n")).await;
        let (server, clock) = (plane.server().clone(), plane.clock().clone());
        let next = ControlPlane::builder().clock(clock).build_on(server).await;
        create(&next, &named("c")).await;
        let addresses = column(&next, PODS, "/status/podIP").await;
        assert_eq!(addresses, ["10.244.0.1", "10.244.0.2", "10.244.0.3"]);
    });
}

/// CP-117: conditions that others write stay.
#[test]
fn conditions_of_others_stay() {
    let loses = Rule::pods("p").lose_readiness().after(Duration::from_secs(5));
    run_with(
        |builder| builder.simulate(loses),
        async |plane| {
            create(plane, &pod("", CONTAINER)).await;
            let mut conditions =
                get(plane).await["status"]["conditions"].as_array().unwrap().clone();
            let other = json!({"type": "DisruptionTarget", "status": "True", "reason": "x"});
            conditions.push(other);
            let patch = json!({"status": {"conditions": conditions}}).to_string();
            request(plane, "PATCH", &format!("{POD}/status"), &patch).await;
            let pod = pass(plane, 6).await;
            let printed = self::conditions(&pod);
            assert!(printed.contains(&"DisruptionTarget=True x".to_owned()), "{printed:?}");
            assert!(printed.iter().any(|it| it.starts_with("Ready=False")), "{printed:?}");
        },
    );
}
