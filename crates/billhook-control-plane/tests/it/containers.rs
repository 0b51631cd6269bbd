//! The needs of containers, and the events of nodes about them (CP-111, CP-113, CP-114).

use std::time::Duration;

use billhook_control_plane::simulation::Rule;
use billhook_control_plane::{ControlPlane, ControlPlaneBuilder};
use serde_json::{Value, json};

use crate::support::{create, request, run, run_with};

const PODS: &str = "/api/v1/namespaces/default/pods";
const POD: &str = "/api/v1/namespaces/default/pods/p";
const EVENTS: &str = "/api/v1/namespaces/default/events";

fn pod(spec: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: p, namespace: default}}\nspec: {{{spec}}}"
    )
}

/// The reasons and messages of the events that nodes have written.
async fn events_of_nodes(plane: &ControlPlane) -> Vec<String> {
    let events = request(plane, "GET", EVENTS, "").await;
    let of_nodes = events["items"].as_array().unwrap().iter();
    let of_nodes = of_nodes.filter(|event| event["source"]["component"] == "kubelet");
    let text = |event: &Value, name: &str| event[name].as_str().unwrap().to_owned();
    of_nodes.map(|event| format!("{}: {}", text(event, "reason"), text(event, "message"))).collect()
}

async fn waiting(plane: &ControlPlane) -> [Value; 2] {
    let pod = request(plane, "GET", &format!("{PODS}/p"), "").await;
    let waiting = &pod["status"]["containerStatuses"][0]["state"]["waiting"];
    ["reason", "message"].map(|name| waiting[name].clone())
}

/// CP-111, CP-114: there are events of images, starts and stops.
#[test]
fn the_events_of_a_container() {
    run_with(ControlPlaneBuilder::report_containers, async |plane| {
        create(plane, &pod("containers: [{name: c, image: i, imagePullPolicy: Always}]")).await;
        request(plane, "DELETE", &format!("{PODS}/p"), "").await;
        plane.settled().await.unwrap();
        let expected = [
            "Pulling: Pulling image \"i\"",
            "Pulled: Successfully pulled image \"i\"",
            "Created: Created container: c",
            "Started: Started container c",
            "Killing: Stopping container c",
        ];
        assert_eq!(events_of_nodes(plane).await, expected);
    });
}

/// CP-113: there are events of crashes, and of images that cannot be pulled.
#[test]
fn the_events_of_failures() {
    for (rule, expected) in [
        (Rule::pods("p").exits(1), vec!["Pulled", "Created", "Started", "BackOff"]),
        (Rule::pods("p").fail_to_pull(), vec!["Pulling", "Failed", "BackOff"]),
    ] {
        run_with(
            |builder| builder.simulate(rule).report_containers(),
            async |plane| {
                create(plane, &pod("containers: [{name: c, image: 'i:1'}]")).await;
                plane.advance(Duration::from_secs(1)).await.unwrap();
                let events = events_of_nodes(plane).await;
                let reasons: Vec<_> =
                    events.iter().map(|it| it.split(':').next().unwrap()).collect();
                assert_eq!(reasons, expected);
            },
        );
    }
}

/// CP-113: a container waits for the Secrets and ConfigMaps that its environment is made of.
#[test]
fn the_environment_of_a_container() {
    let secret = |data: Value| json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "default"}, "stringData": data});
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "namespace": "default"}});
    let of_key = "env: [{name: E, valueFrom: {secretKeyRef: {name: s, key: k}}}]";
    let of_map = "envFrom: [{configMapRef: {name: m}}]";
    let optional = "envFrom: [{secretRef: {name: s, optional: true}}]";
    for (environment, objects, message) in [
        (of_key, vec![], json!("secret \"s\" not found")),
        (of_key, vec![secret(json!({}))], json!("couldn't find key k in Secret default/s")),
        (of_key, vec![secret(json!({"k": "v"}))], Value::Null),
        (of_map, vec![], json!("configmap \"m\" not found")),
        (of_map, vec![map], Value::Null),
        (optional, vec![], Value::Null),
    ] {
        run(async |plane| {
            plane.server().create_all(&objects).await.unwrap();
            create(plane, &pod(&format!("containers: [{{name: c, image: i, {environment}}}]")))
                .await;
            let reason = match &message {
                Value::Null => Value::Null,
                _ => "CreateContainerConfigError".into(),
            };
            assert_eq!(waiting(plane).await, [reason, message], "{environment}");
        });
    }
}

/// CP-113: containers start when what is mounted is there.
#[test]
fn the_volumes_of_a_pod() {
    run(async |plane| {
        let volumes = "volumes: [{name: v, projected: {sources: [{secret: {name: s}}]}}]";
        create(plane, &pod(&format!("containers: [{{name: c, image: i}}], {volumes}"))).await;
        assert_eq!(waiting(plane).await[0], "ContainerCreating");
        let expected =
            "FailedMount: MountVolume.SetUp failed for volume \"v\" : secret \"s\" not found";
        assert_eq!(events_of_nodes(plane).await, [expected]);
        let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: default}";
        create(plane, secret).await;
        assert_eq!(waiting(plane).await[0], Value::Null);
        let pod = request(plane, "GET", &format!("{PODS}/p"), "").await;
        assert_eq!(pod["status"]["phase"], "Running");
    });
}

/// CP-113: the delay of restarts doubles, and begins again after ten minutes of running.
#[test]
fn the_delay_of_restarts_begins_again() {
    let exits = |after| Rule::pods("p").exits(1).after(Duration::from_secs(after));
    let backoff =
        |seconds: u64| format!("back-off {seconds}s restarting failed container=c pod=p_");
    run_with(
        |builder| builder.simulate(exits(1)),
        async |plane| {
            create(plane, &pod("containers: [{name: c, image: i}]")).await;
            for (passed, seconds) in [(2, 10), (11, 20), (21, 40), (41, 80)] {
                plane.advance(Duration::from_secs(passed)).await.unwrap();
                let [reason, message] = waiting(plane).await;
                assert_eq!(reason, "CrashLoopBackOff");
                assert!(message.as_str().unwrap().starts_with(&backoff(seconds)), "{message}");
            }
            plane.simulate(exits(700)).await;
            plane.advance(Duration::from_secs(79 + 700)).await.unwrap();
            plane.simulate(exits(1)).await;
            plane.advance(Duration::from_secs(3)).await.unwrap();
            let [_, message] = waiting(plane).await;
            assert!(message.as_str().unwrap().starts_with(&backoff(10)), "{message}");
        },
    );
}

/// CP-112: a pod that has succeeded is initialized because it has completed.
#[test]
fn the_conditions_of_a_pod_that_has_succeeded() {
    run_with(
        |builder| builder.simulate(Rule::pods("p").exits(0)),
        async |plane| {
            create(plane, &pod("restartPolicy: Never, containers: [{name: c, image: i}]")).await;
            plane.advance(Duration::from_secs(1)).await.unwrap();
            let pod = request(plane, "GET", &format!("{PODS}/p"), "").await;
            let conditions = pod["status"]["conditions"].as_array().unwrap().iter();
            let text = |it: &Value, name: &str| it[name].as_str().unwrap_or_default().to_owned();
            let mut conditions: Vec<String> = conditions
                .map(|it| ["type", "status", "reason"].map(|name| text(it, name)).join(" "))
                .collect();
            conditions.sort();
            assert_eq!(pod["status"]["phase"], "Succeeded");
            let expected = [
                "ContainersReady False PodCompleted",
                "Initialized True PodCompleted",
                "PodReadyToStartContainers False ",
                "PodScheduled True ",
                "Ready False PodCompleted",
            ];
            assert_eq!(conditions, expected);
        },
    );
}

/// CP-113: a container that starts again looks for what its environment is made of, too.
#[test]
fn a_restart_needs_the_environment() {
    run_with(
        |builder| builder.simulate(Rule::pods("p").exits(1).after(Duration::from_secs(1)).times(1)),
        async |plane| {
            let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: default}";
            create(plane, secret).await;
            let environment = "envFrom: [{secretRef: {name: s}}]";
            create(plane, &pod(&format!("containers: [{{name: c, image: i, {environment}}}]")))
                .await;
            request(plane, "DELETE", "/api/v1/namespaces/default/secrets/s", "").await;
            plane.advance(Duration::from_secs(2)).await.unwrap();
            let missing = ["CreateContainerConfigError", "secret \"s\" not found"];
            assert_eq!(waiting(plane).await, missing);
            create(plane, secret).await;
            let pod = request(plane, "GET", &format!("{PODS}/p"), "").await;
            let status = &pod["status"]["containerStatuses"][0];
            assert_eq!((&status["restartCount"], &status["ready"]), (&json!(1), &json!(true)));
        },
    );
}

/// CP-115: a container whose liveness probe fails is killed, and starts again.
#[test]
fn the_liveness_of_a_container() {
    let fails = Rule::pods("p").fail_liveness().after(Duration::from_secs(5)).times(1);
    run_with(
        |builder| builder.simulate(fails).report_containers(),
        async |plane| {
            create(plane, &pod("containers: [{name: c, image: 'i:1'}]")).await;
            plane.advance(Duration::from_secs(60)).await.unwrap();
            let pod = request(plane, "GET", &format!("{PODS}/p"), "").await;
            let status = &pod["status"]["containerStatuses"][0];
            assert_eq!((&status["restartCount"], &status["ready"]), (&json!(1), &json!(true)));
            assert_eq!(status["lastState"]["terminated"]["exitCode"], 137);
            let events = events_of_nodes(plane).await;
            let reasons: Vec<_> = events.iter().map(|it| it.split(':').next().unwrap()).collect();
            let start = ["Pulled", "Created", "Started"];
            assert_eq!(reasons, [&start[..], &["Unhealthy", "Killing"]].concat());
        },
    );
}

/// CP-112: the policy and the rules of a container come before the policy of its pod.
#[test]
fn containers_have_restart_policies() {
    let rule = |operator: &str| {
        format!("[{{action: Restart, exitCodes: {{operator: {operator}, values: [3, 42]}}}}]")
    };
    let (of_some, of_others) = (rule("In"), rule("NotIn"));
    for (of_pod, own, rules, code, phase, restarts) in [
        ("Always", "", "", 1, "Running", 1),
        ("Never", "", "", 1, "Failed", 0),
        ("Never", "Always", "", 0, "Running", 1),
        ("Never", "OnFailure", "", 1, "Running", 1),
        ("Never", "OnFailure", "", 0, "Succeeded", 0),
        ("Always", "Never", "", 1, "Failed", 0),
        ("Always", "Never", "", 0, "Succeeded", 0),
        ("Always", "Never", &*of_some, 42, "Running", 1),
        ("Always", "Never", &*of_some, 1, "Failed", 0),
        ("Never", "Never", &*of_others, 1, "Running", 1),
        ("Never", "Never", &*of_others, 3, "Failed", 0),
        ("OnFailure", "OnFailure", &*of_some, 1, "Running", 1),
    ] {
        let mut container = "name: c, image: i".to_owned();
        if !own.is_empty() {
            container += &format!(", restartPolicy: {own}");
        }
        if !rules.is_empty() {
            container += &format!(", restartPolicyRules: {rules}");
        }
        let spec = format!("restartPolicy: {of_pod}, containers: [{{{container}}}]");
        run_with(
            |builder| builder.simulate(Rule::pods("p").exits(code)),
            async |plane| {
                create(plane, &pod(&spec)).await;
                let status = request(plane, "GET", POD, "").await["status"].clone();
                let found = &status["containerStatuses"][0]["restartCount"];
                assert_eq!((&status["phase"], found), (&json!(phase), &json!(restarts)), "{spec}");
            },
        );
    }
    // One that goes on keeps the pod running; an init container has a policy, too.
    run_with(
        |builder| builder.simulate(Rule::pods("p").container("i").exits(0)),
        async |plane| {
            let init = "initContainers: [{name: i, image: i, restartPolicy: Never}]";
            let containers =
                "containers: [{name: a, image: i, restartPolicy: Never}, {name: b, image: i}]";
            create(plane, &pod(&format!("{init}, {containers}"))).await;
            plane.simulate(Rule::pods("p").container("a").exits(1)).await;
            plane.settled().await.unwrap();
            let status = request(plane, "GET", POD, "").await["status"].clone();
            assert_eq!(status["phase"], "Running");
            assert!(status["containerStatuses"][0]["state"].get("terminated").is_some());
        },
    );
    run_with(
        |builder| builder.simulate(Rule::pods("p").container("i").exits(1)),
        async |plane| {
            let init = "initContainers: [{name: i, image: i, restartPolicy: Never}]";
            create(plane, &pod(&format!("{init}, containers: [{{name: c, image: i}}]"))).await;
            let status = request(plane, "GET", POD, "").await["status"].clone();
            assert_eq!(status["phase"], "Failed");
        },
    );
}

/// CP-113: the end of a container names the start that has ended.
#[test]
fn an_end_has_the_id_of_its_start() {
    let crashes = Rule::pods("p").exits(1).after(Duration::from_secs(1));
    run_with(
        |builder| builder.simulate(crashes),
        async |plane| {
            create(plane, &pod("containers: [{name: c, image: i}]")).await;
            let status = async || {
                let pod = request(plane, "GET", POD, "").await;
                pod["status"]["containerStatuses"][0].clone()
            };
            let first = status().await["containerID"].clone();
            plane.advance(Duration::from_secs(1)).await.unwrap();
            plane.settled().await.unwrap();
            let running = status().await;
            assert_eq!(running["lastState"]["terminated"]["containerID"], first);
            assert_ne!(running["containerID"], first);
            plane.advance(Duration::from_secs(1)).await.unwrap();
            plane.settled().await.unwrap();
            let waiting = status().await;
            assert_eq!(waiting["state"]["waiting"]["reason"], "CrashLoopBackOff");
            assert_eq!(waiting["lastState"]["terminated"]["containerID"], running["containerID"]);
            assert_eq!(waiting["containerID"], running["containerID"]);
        },
    );
}
