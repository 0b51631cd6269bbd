//! Cases that a test can cause: by rules in Rust, by rules in a file, and by an annotation of the pod
//! (CP-115, CP-116).

use std::time::Duration;

use billhook_control_plane::ControlPlane;
use billhook_control_plane::simulation::{Pods, Rule};
use serde_json::{Value, json};

use crate::support::{column, create, request, run, run_with, text};

const PODS: &str = "/api/v1/namespaces/default/pods";
const POD: &str = "/api/v1/namespaces/default/pods/p";
const EVENTS: &str = "/api/v1/namespaces/default/events";

fn pod(metadata: &str, spec: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: p, namespace: default{metadata}}}\n\
         spec: {{{spec}}}"
    )
}

const CONTAINER: &str = "containers: [{name: c, image: i}]";

async fn status(plane: &ControlPlane) -> Value {
    request(plane, "GET", POD, "").await["status"].clone()
}

fn condition(status: &Value, kind: &str) -> Value {
    let conditions = status["conditions"].as_array().into_iter().flatten();
    conditions.into_iter().find(|it| it["type"] == kind).cloned().unwrap_or_default()
}

/// Runs a test with a pod for each way to give the same rule: as it is in Rust, as a file has it, and as
/// an annotation has it. The pod has a container of some fields, and spec of others.
fn in_each_way(rule: &Rule, written: &Value, spec: &str, test: &impl AsyncFn(&ControlPlane)) {
    let mut of_file = written.clone();
    of_file["pods"] = "p".into();
    assert_eq!(&Rule::from_value(&of_file).unwrap(), rule, "{written}");
    run_with(
        |builder| builder.simulate(rule.clone()),
        async |plane| {
            create(plane, &pod("", spec)).await;
            test(plane).await;
        },
    );
    run(async |plane| {
        let annotation = json!({"billhook.dev/simulate": written.to_string()});
        create(plane, &pod(&format!(", annotations: {annotation}"), spec)).await;
        test(plane).await;
    });
}

fn p() -> Pods {
    Rule::pods("p")
}

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

async fn pass(plane: &ControlPlane, count: u64) -> Value {
    plane.advance(seconds(count)).await.unwrap();
    status(plane).await
}

/// CP-116: no node is found, as the scheduler says it.
#[test]
fn a_pod_is_unschedulable() {
    let written = json!({"areUnschedulable": true});
    in_each_way(&p().are_unschedulable(), &written, CONTAINER, &async |plane| {
        let status = status(plane).await;
        assert_eq!(status["phase"], "Pending");
        let scheduled = condition(&status, "PodScheduled");
        assert_eq!(text(&scheduled, "/reason"), "Unschedulable");
        let message = "0/1 nodes are available: 1 Insufficient cpu.";
        assert_eq!(text(&scheduled, "/message"), message);
        assert_eq!(column(plane, EVENTS, "/message").await, [message]);
        // It is scheduled as soon as nothing says otherwise.
        plane.simulate_nothing().await;
        request(plane, "PATCH", POD, r#"{"metadata": {"annotations": null}}"#).await;
        plane.settled().await.unwrap();
        assert_eq!(self::status(plane).await["phase"], "Running");
    });
}

/// CP-116: nothing is said about a pod that is not scheduled.
#[test]
fn a_pod_is_left_alone() {
    let written = json!({"stayPending": true});
    in_each_way(&p().stay_pending(), &written, CONTAINER, &async |plane| {
        assert_eq!(condition(&status(plane).await, "PodScheduled"), Value::Null);
    });
}

/// CP-115: the delays of an image, of a start and of readiness follow each other.
#[test]
fn a_container_takes_its_time() {
    for (rule, written, state) in [
        (p().are_pulled(), json!({"arePulled": true}), "waiting"),
        (p().start(), json!({"start": true}), "waiting"),
        (p().get_ready(), json!({"getReady": true}), "running"),
    ] {
        let mut written = written;
        written["after"] = "20s".into();
        in_each_way(&rule.after(seconds(20)), &written, CONTAINER, &async |plane| {
            let container = pass(plane, 19).await["containerStatuses"][0].clone();
            assert!(container["state"].get(state).is_some(), "{container}");
            assert_eq!(container["ready"], false);
            assert_eq!(pass(plane, 1).await["containerStatuses"][0]["ready"], true);
        });
    }
    let both = [p().are_pulled().after(seconds(5)), p().start().after(seconds(10))];
    run_with(
        |builder| both.into_iter().fold(builder.report_containers(), |it, rule| it.simulate(rule)),
        async |plane| {
            create(plane, &pod("", CONTAINER)).await;
            assert_eq!(pass(plane, 14).await["phase"], "Pending");
            assert_eq!(pass(plane, 1).await["phase"], "Running");
            let reasons = column(plane, EVENTS, "/reason").await.join(" ");
            assert!(reasons.contains("Pulling Pulled Created Started"), "{reasons}");
        },
    );
}

/// CP-115, CP-116: a container is ready late or never, is not ready any more, and is again.
#[test]
fn readiness_changes() {
    let never = json!({"neverGetReady": true});
    in_each_way(&p().never_get_ready(), &never, CONTAINER, &async |plane| {
        assert_eq!(pass(plane, 3600).await["containerStatuses"][0]["ready"], false);
    });
    let lost = json!({"loseReadiness": true, "after": "30s"});
    in_each_way(&p().lose_readiness().after(seconds(30)), &lost, CONTAINER, &async |plane| {
        assert_eq!(text(&condition(&pass(plane, 29).await, "Ready"), "/status"), "True");
        let ready = condition(&pass(plane, 1).await, "Ready");
        assert_eq!(text(&ready, "/status"), "False");
        assert_eq!(text(&ready, "/message"), "containers with unready status: [c]");
        // The probe is set by hand.
        plane.simulate(p().regain_readiness().after(seconds(40))).await;
        plane.settled().await.unwrap();
        let is_annotated =
            request(plane, "GET", POD, "").await["metadata"]["annotations"].is_object();
        if !is_annotated {
            assert_eq!(text(&condition(&pass(plane, 9).await, "Ready"), "/status"), "False");
            assert_eq!(text(&condition(&pass(plane, 1).await, "Ready"), "/status"), "True");
        }
    });
    // Several rules of one annotation.
    run(async |plane| {
        let rules = "[{loseReadiness: true, after: 10s}, {regainReadiness: true, after: 15s}, \
                      {loseReadiness: true, after: 1m}]";
        let annotation = json!({"billhook.dev/simulate": rules});
        create(plane, &pod(&format!(", annotations: {annotation}"), CONTAINER)).await;
        for (passed, expected) in [(9, true), (1, false), (5, true), (44, true), (1, false)] {
            let ready = pass(plane, passed).await["containerStatuses"][0]["ready"].clone();
            assert_eq!(ready, expected);
        }
    });
}

/// CP-115: the end of a container, with its words.
#[test]
fn a_container_ends_with_words() {
    let written = json!({"exit": 3, "after": "5s", "reason": "Starved", "message": "no disk",
        "signal": 9});
    let rule = p().exits(3).after(seconds(5)).words("Starved", "no disk", Some(9));
    let spec = "restartPolicy: Never, containers: [{name: c, image: i}]";
    in_each_way(&rule, &written, spec, &async |plane| {
        let status = pass(plane, 5).await;
        assert_eq!(status["phase"], "Failed");
        let ended = &status["containerStatuses"][0]["state"]["terminated"];
        assert_eq!((&ended["exitCode"], &ended["signal"]), (&json!(3), &json!(9)));
        assert_eq!((&ended["reason"], &ended["message"]), (&json!("Starved"), &json!("no disk")));
    });
    // They stay in the last state.
    run_with(
        |builder| builder.simulate(p().exits(3).words("Starved", "no disk", Some(9)).times(1)),
        async |plane| {
            create(plane, &pod("", CONTAINER)).await;
            let last = &pass(plane, 60).await["containerStatuses"][0]["lastState"]["terminated"];
            assert_eq!((&last["message"], &last["signal"]), (&json!("no disk"), &json!(9)));
        },
    );
}

/// CP-115: containers crash always, or a number of times, run out of memory, complete, or go on.
#[test]
fn containers_end() {
    for (rule, written, restarts, reason) in [
        (p().exits(1), json!({"exit": 1}), 2, "Error"),
        (p().exits(1).times(1), json!({"exit": 1, "times": 1}), 1, "Error"),
        (p().run_out_of_memory(), json!({"runOutOfMemory": true}), 2, "OOMKilled"),
        (p().exits(0), json!({"exit": 0}), 2, "Completed"),
        (p().fail_liveness(), json!({"failLiveness": true}), 2, "Error"),
    ] {
        in_each_way(&rule, &written, CONTAINER, &async |plane| {
            let container = pass(plane, 10).await["containerStatuses"][0].clone();
            assert_eq!(container["restartCount"], restarts, "{written}");
            assert_eq!(container["lastState"]["terminated"]["reason"], reason);
        });
    }
    run_with(
        |builder| builder.simulate(Rule::pods("*").keep_running()),
        async |plane| {
            let job = "
apiVersion: batch/v1
kind: Job
metadata: {name: j, namespace: default}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}
";
            create(plane, job).await;
            plane.advance(seconds(600)).await.unwrap();
            assert_eq!(column(plane, PODS, "/status/phase").await, ["Running"]);
        },
    );
    let running = json!({"keepRunning": true});
    in_each_way(&p().keep_running(), &running, CONTAINER, &async |plane| {
        assert_eq!(pass(plane, 60).await["phase"], "Running");
    });
}

/// CP-116: an image that is never there, and an init container that is never done.
#[test]
fn containers_wait() {
    let written = json!({"failToPull": true});
    in_each_way(&p().fail_to_pull(), &written, CONTAINER, &async |plane| {
        let waiting = &pass(plane, 60).await["containerStatuses"][0]["state"]["waiting"];
        assert_eq!(waiting["reason"], "ImagePullBackOff");
    });
    let spec = "initContainers: [{name: a, image: i}], containers: [{name: c, image: i}]";
    let written = json!({"container": "a", "keepRunning": true});
    in_each_way(&p().container("a").keep_running(), &written, spec, &async |plane| {
        let status = pass(plane, 3600).await;
        assert_eq!(status["phase"], "Pending");
        let initialized = condition(&status, "Initialized");
        assert_eq!(text(&initialized, "/message"), "containers with incomplete status: [a]");
    });
}

/// CP-116: the node ends a pod.
#[test]
fn nodes_end_pods() {
    for (rule, written, reason, message) in [
        (
            p().are_evicted(),
            json!({"areEvicted": true}),
            "Evicted",
            "The node was low on resource: memory. ",
        ),
        (
            p().are_shut_down(),
            json!({"areShutDown": true}),
            "Terminated",
            "Pod was terminated in response to imminent node shutdown.",
        ),
    ] {
        let mut written = written;
        written["after"] = "1m".into();
        in_each_way(&rule.after(seconds(60)), &written, CONTAINER, &async |plane| {
            assert_eq!(pass(plane, 59).await["phase"], "Running");
            let status = pass(plane, 1).await;
            assert_eq!(status["phase"], "Failed");
            assert_eq!((text(&status, "/reason"), text(&status, "/message")), (reason, message));
            let target = condition(&status, "DisruptionTarget");
            assert_eq!(text(&target, "/status"), "True");
            assert_eq!(text(&target, "/reason"), "TerminationByKubelet");
        });
    }
    let spec = "activeDeadlineSeconds: 30, containers: [{name: c, image: i}]";
    run(async |plane| {
        create(plane, &pod("", spec)).await;
        let status = pass(plane, 30).await;
        assert_eq!(text(&status, "/reason"), "DeadlineExceeded");
        let message = "Pod was active on the node longer than the specified deadline";
        assert_eq!(text(&status, "/message"), message);
    });
}

/// CP-114, CP-116: a pod that is deleted stops slowly, at the end of its time, or never.
#[test]
fn pods_stop_slowly() {
    let delete = async |plane: &ControlPlane| {
        request(plane, "DELETE", POD, "").await;
        plane.settled().await.unwrap();
    };
    let is_there = async |plane: &ControlPlane, passed: u64| {
        plane.advance(seconds(passed)).await.unwrap();
        !column(plane, PODS, "/metadata/name").await.is_empty()
    };
    let written = json!({"stop": true, "after": "12s"});
    in_each_way(&p().stop().after(seconds(12)), &written, CONTAINER, &async |plane| {
        delete(plane).await;
        let container = &pass(plane, 11).await["containerStatuses"][0];
        assert!(container["state"].get("running").is_some());
        assert!(!is_there(plane, 1).await);
    });
    for (rule, written) in [
        (p().ignore_sigterm(), json!({"ignoreSigterm": true})),
        (p().stop().after(seconds(100)), json!({"stop": true, "after": "100s"})),
    ] {
        in_each_way(&rule, &written, CONTAINER, &async |plane| {
            delete(plane).await;
            assert!(is_there(plane, 29).await);
            assert!(!is_there(plane, 1).await);
        });
    }
    let written = json!({"ignoreDeletion": true});
    in_each_way(&p().ignore_deletion(), &written, CONTAINER, &async |plane| {
        delete(plane).await;
        assert!(is_there(plane, 3600).await);
        // Who asks for it, deletes it without the node.
        request(plane, "DELETE", &format!("{POD}?gracePeriodSeconds=0"), "").await;
        assert!(!is_there(plane, 0).await);
    });
}

/// CP-115: a pod logs what the rule says.
#[test]
fn containers_log() {
    let log = "one\ntwo\nthree\n";
    in_each_way(&p().log(log), &json!({"log": log}), CONTAINER, &async |plane| {
        for (query, expected) in [
            ("", log),
            ("?container=c", log),
            ("?tailLines=2", "two\nthree\n"),
            ("?tailLines=0", ""),
            ("?tailLines=9", log),
            ("?limitBytes=5", "one\nt"),
            ("?tailLines=1&limitBytes=3", "thr"),
        ] {
            let found = crate::support::body(plane, &format!("{POD}/log{query}")).await;
            assert_eq!(found, expected, "{query}");
        }
    });
    run(async |plane| {
        create(plane, &pod("", CONTAINER)).await;
        assert_eq!(crate::support::body(plane, &format!("{POD}/log")).await, "");
    });
}

/// CP-115: pods are meant by their names, labels and images, containers by their names and images.
#[test]
fn rules_are_about_pods_and_containers() {
    let named = |name: &str, labels: &str, image: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, namespace: default, \
             labels: {{{labels}}}}}\nspec: {{containers: [{{name: c, image: \"{image}\"}}, \
             {{name: d, image: other}}]}}\n---\n"
        )
    };
    let pods = [
        named("a", "app: web", "nginx:1"),
        named("b", "app: web, track: canary", "nginx:2"),
        named("e", "app: db", "postgres:1"),
    ]
    .concat();
    let never = |written: Value| {
        let mut written = written;
        written["neverGetReady"] = true.into();
        Rule::from_value(&written).unwrap()
    };
    let labels = |selector: &str| Rule::pods("*").labels(selector).unwrap();
    for (written, rule, unready) in [
        (json!({"labels": "app=web"}), labels("app=web"), "a/c a/d b/c b/d"),
        (json!({"labels": "app=web,!track"}), labels("app=web,!track"), "a/c a/d"),
        (json!({"pods": "b", "labels": "app in (db)"}), Rule::pods("b"), ""),
        (json!({"image": "nginx:*"}), Rule::pods("*").image("nginx:*"), "a/c b/c"),
        (json!({"image": "*:1", "labels": "app=db"}), labels("app=db").image("*:1"), "e/c"),
        (json!({"image": "other", "container": "c"}), Rule::pods("-"), ""),
    ] {
        let of_file = never(written.clone());
        if !unready.is_empty() {
            assert_eq!(of_file, rule.never_get_ready(), "{written}");
        }
        run(async |plane| {
            // Rules count at any time.
            create(plane, &pods).await;
            plane.simulate(of_file).await;
            plane.settled().await.unwrap();
            let list = request(plane, "GET", PODS, "").await;
            let mut found = Vec::new();
            for pod in list["items"].as_array().unwrap() {
                for container in pod["status"]["containerStatuses"].as_array().unwrap() {
                    if container["ready"] == false {
                        let (pod, name) = (text(pod, "/metadata/name"), text(container, "/name"));
                        found.push(format!("{pod}/{name}"));
                    }
                }
            }
            assert_eq!(found.join(" "), unready, "{written}");
        });
    }
    let of_pod = Rule::pods("*").image("postgres:*").stay_pending();
    run_with(
        |builder| builder.simulate(of_pod),
        async |plane| {
            create(plane, &pods).await;
            let phases = column(plane, PODS, "/status/phase").await;
            assert_eq!(phases, ["Running", "Running", "Pending"]);
        },
    );
}

/// CP-115: a rule that is not understood is said to be.
#[test]
fn wrong_rules_are_refused() {
    let effects = "a rule has one of areEvicted, arePulled, areShutDown, areUnschedulable, exit, \
        failLiveness, failToPull, getReady, ignoreDeletion, ignoreSigterm, keepRunning, log, \
        loseReadiness, neverGetReady, regainReadiness, runOutOfMemory, start, stayPending, stop";
    for (written, expected) in [
        (json!([]), "not an object"),
        (json!({"exit": 1}), "pods is missing: a pattern of names"),
        (
            json!({"pods": "*", "labels": "a b", "exit": 1}),
            "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt",
        ),
        (json!({"pods": "*", "labels": 1, "exit": 1}), "labels is a text"),
        (json!({"pods": 1, "exit": 1}), "pods is a pattern of names"),
        (json!({"pods": "*"}), effects),
        (json!({"pods": "*", "exit": "1"}), "exit is an exit code"),
        (json!({"pods": "*", "log": 1}), "log is a text"),
        (json!({"pods": "*", "stop": false}), "stop is true or absent"),
        (json!({"pods": "*", "exit": 1, "signal": "KILL"}), "signal is a whole number"),
        (
            json!({"pods": "*", "stop": true, "reason": "x"}),
            "reason, message and signal belong to exit",
        ),
        (json!({"pods": "*", "stop": true, "after": "x"}), "after is a time such as 3s or 500ms"),
        (json!({"pods": "*", "exit": 1, "when": 1}), "unknown member \"when\""),
    ] {
        assert_eq!(Rule::from_value(&written).unwrap_err().to_string(), expected, "{written}");
    }
    run(async |plane| {
        let annotation = json!({"billhook.dev/simulate": "{pods: x, exit: 1}"});
        create(plane, &pod(&format!(", annotations: {annotation}"), CONTAINER)).await;
        assert_eq!(status(plane).await["phase"], "Running");
        assert_eq!(column(plane, EVENTS, "/reason").await, ["Scheduled", "InvalidSimulation"]);
        let why = "annotation billhook.dev/simulate: pods is the pod with the annotation";
        assert!(column(plane, EVENTS, "/message").await.contains(&why.to_owned()));
    });
}
