//! Jobs (CP-60 to CP-68).

use std::time::Duration;

use billhook_apiserver::storage::Batch;
use billhook_control_plane::ControlPlane;
use billhook_control_plane::simulation::Rule;
use serde_json::Value;

use crate::support::{column, create, request, run, run_with};

const PATH: &str = "/apis/batch/v1/namespaces/default/jobs/work";
const PODS: &str = "/api/v1/namespaces/default/pods";
const EVENTS: &str = "/api/v1/namespaces/default/events";

/// Returns a Job with members of its spec.
fn job(spec: &str) -> String {
    format!(
        "
apiVersion: batch/v1
kind: Job
metadata: {{name: work, namespace: default}}
spec:
  template: {{spec: {{restartPolicy: Never, containers: [{{name: c, image: i}}]}}}}
{spec}
"
    )
}

async fn pass(plane: &ControlPlane, seconds: u64) {
    plane.advance(Duration::from_secs(seconds)).await.unwrap();
}

async fn status(plane: &ControlPlane) -> Value {
    request(plane, "GET", PATH, "").await["status"].take()
}

/// Returns the type, the reason and the message of each condition that is true.
fn conditions(status: &Value) -> Vec<String> {
    let conditions = status["conditions"].as_array().into_iter().flatten();
    let held = conditions.filter(|it| it["status"] == "True");
    let text = |it: &Value| {
        ["type", "reason", "message"].map(|name| it[name].as_str().unwrap().to_owned()).join(" ")
    };
    held.map(text).collect()
}

/// CP-61, CP-63, CP-64: pods are created until enough have succeeded, and none keeps its finalizer.
#[test]
fn a_job_completes() {
    run(async |plane| {
        create(plane, &job("  completions: 5\n  parallelism: 2")).await;
        assert_eq!(status(plane).await["active"], 2);
        pass(plane, 10).await;
        let status = status(plane).await;
        assert_eq!(status["succeeded"], 5);
        assert_eq!(status["uncountedTerminatedPods"], serde_json::json!({}));
        let reached = "CompletionsReached Reached expected number of succeeded pods";
        let expected = [format!("SuccessCriteriaMet {reached}"), format!("Complete {reached}")];
        assert_eq!(conditions(&status), expected);
        assert_eq!(column(plane, PODS, "/metadata/finalizers").await, [""; 5]);
    });
}

/// CP-60: changes of pods within a second are one sync; the creation of pods is in the status at once.
#[test]
fn changes_of_pods_are_gathered_for_a_second() {
    let runs = |builder: billhook_control_plane::ControlPlaneBuilder| {
        builder.simulate(Rule::pods("work-*").exits(0).after(Duration::from_secs(1000)))
    };
    run_with(runs, async |plane| {
        plane.server().load_text(&job("  parallelism: 5\n  completions: 5")).await.unwrap();
        let mut changes = plane.server().changes();
        let mut writes = || {
            let events = match changes.read().unwrap() {
                Batch::Events(events) => events,
                Batch::Objects(_) => Vec::new(),
            };
            events.iter().filter(|(name, _)| name.parts().1 == "jobs").count()
        };
        writes();
        plane.settled().await.unwrap();
        assert_eq!((writes(), status(plane).await["active"].as_i64()), (1, Some(5)));
        pass(plane, 3).await;
        assert_eq!((writes(), status(plane).await["ready"].as_i64()), (1, Some(5)));
        for pod in column(plane, PODS, "/metadata/name").await {
            let failed = r#"{"status": {"phase": "Failed"}}"#;
            request(plane, "PATCH", &format!("{PODS}/{pod}/status"), failed).await;
            plane.advance(Duration::from_millis(100)).await.unwrap();
        }
        assert_eq!(writes(), 0);
        plane.advance(Duration::from_millis(600)).await.unwrap();
        assert_eq!(writes(), 1);
        let uncounted = &status(plane).await["uncountedTerminatedPods"]["failed"];
        assert_eq!(uncounted.as_array().unwrap().len(), 5);
    });
}

/// CP-66: the status of a suspended Job does not count the pods that are deleted with it.
#[test]
fn a_suspended_job_has_no_active_pods() {
    run(async |plane| {
        create(plane, &job("  parallelism: 2\n  completions: 2")).await;
        request(plane, "PATCH", PATH, r#"{"spec": {"suspend": true}}"#).await;
        plane.settled().await.unwrap();
        let status = status(plane).await;
        assert_eq!(conditions(&status), ["Suspended JobSuspended Job suspended"]);
        assert_eq!((status.get("active"), status["ready"].as_i64()), (None, Some(0)));
    });
}

/// CP-62: after n failures 10 s · 2^(n−1) pass before the next pod.
#[test]
fn failures_delay_the_next_pod() {
    let fails = |builder: billhook_control_plane::ControlPlaneBuilder| {
        builder.simulate(Rule::pods("work-*").exits(1))
    };
    run_with(fails, async |plane| {
        create(plane, &job("  backoffLimit: 3")).await;
        for (seconds, pods) in [(1, 1), (8, 1), (2, 2), (18, 2), (3, 3), (37, 3), (4, 4)] {
            pass(plane, seconds).await;
            assert_eq!(column(plane, PODS, "/status/phase").await.len(), pods, "{seconds}");
        }
        let status = status(plane).await;
        assert_eq!(status["failed"], 4);
        let reached = "BackoffLimitExceeded Job has reached the specified backoff limit";
        let expected = [format!("FailureTarget {reached}"), format!("Failed {reached}")];
        assert_eq!(conditions(&status), expected);
    });
}

/// CP-63, CP-114: a pod that is deleted without a delay has its finalizer still; its node stops it, so that it
/// can be replaced.
#[test]
fn a_killed_pod_is_replaced_when_it_has_ended() {
    run(async |plane| {
        create(plane, &job("  podReplacementPolicy: Failed\n  completions: 2")).await;
        let pods = column(plane, PODS, "/metadata/name").await;
        let pod = format!("{PODS}/{}", pods[0]);
        request(plane, "DELETE", &pod, r#"{"gracePeriodSeconds": 0}"#).await;
        plane.settled().await.unwrap();
        pass(plane, 30).await;
        assert_eq!(request(plane, "GET", &pod, "").await["code"], 404);
        assert_eq!(conditions(&status(plane).await).len(), 2);
        assert_eq!(status(plane).await["succeeded"], 2);
    });
}

/// CP-62: the delay holds though the failed pod is gone.
#[test]
fn a_pod_that_is_deleted_delays_the_next_one() {
    let runs = |builder: billhook_control_plane::ControlPlaneBuilder| {
        builder.simulate(Rule::pods("work-*").exits(0).after(Duration::from_secs(100)))
    };
    run_with(runs, async |plane| {
        create(plane, &job("  parallelism: 1")).await;
        request(plane, "DELETE", PODS, "").await;
        pass(plane, 5).await;
        assert_eq!(column(plane, PODS, "/status/phase").await, [""; 0]);
        assert_eq!(status(plane).await["failed"], 1);
        pass(plane, 7).await;
        assert_eq!(column(plane, PODS, "/status/phase").await, ["Running"]);
    });
}

/// CP-67: indexes that follow each other are a range, unless they are two.
#[test]
fn completed_indexes_are_ranges() {
    let fails = |builder: billhook_control_plane::ControlPlaneBuilder| {
        builder.simulate(Rule::pods("work-3-*").exits(1)).simulate(Rule::pods("work-6-*").exits(1))
    };
    run_with(fails, async |plane| {
        let spec = "  completionMode: Indexed\n  completions: 9\n  parallelism: 9\n  backoffLimitPerIndex: 0";
        create(plane, &job(spec)).await;
        pass(plane, 3).await;
        let status = status(plane).await;
        assert_eq!(status["completedIndexes"], "0-2,4,5,7,8");
        assert_eq!(status["failedIndexes"], "3,6");
        assert_eq!(status["succeeded"], 7);
        let failed = "FailedIndexes Job has failed indexes";
        let expected = [format!("FailureTarget {failed}"), format!("Failed {failed}")];
        assert_eq!(conditions(&status), expected);
    });
}

/// CP-61, CP-62: an index that fails gets another pod after its own delay, which knows the failures.
#[test]
fn an_index_is_tried_again() {
    let fails = |builder: billhook_control_plane::ControlPlaneBuilder| {
        builder.simulate(Rule::pods("work-0-*").exits(1))
    };
    run_with(fails, async |plane| {
        let spec = "  completionMode: Indexed\n  completions: 2\n  parallelism: 2\n  backoffLimitPerIndex: 1\n  maxFailedIndexes: 0";
        create(plane, &job(spec)).await;
        pass(plane, 5).await;
        assert_eq!(status(plane).await["failedIndexes"], "");
        pass(plane, 10).await;
        let count = "/metadata/annotations/batch.kubernetes.io~1job-index-failure-count";
        let mut counts = column(plane, PODS, count).await;
        counts.sort();
        assert_eq!(counts, ["0", "0", "1"]);
        let status = status(plane).await;
        assert_eq!(status["failed"], 2);
        let expected = "MaxFailedIndexesExceeded Job has exceeded the specified maximal number of failed indexes";
        assert_eq!(conditions(&status)[1], format!("Failed {expected}"));
    });
}

/// CP-65: rules in order; the first that matches decides.
#[test]
fn a_policy_decides_about_failures() {
    let cases = [
        ("{action: Ignore, onExitCodes: {operator: In, values: [3]}}", "", 0),
        ("{action: Count, onExitCodes: {operator: NotIn, values: [4]}}", "BackoffLimitExceeded", 1),
        (
            "{action: FailJob, onExitCodes: {containerName: c, operator: In, values: [3]}}",
            "PodFailurePolicy",
            1,
        ),
        ("{action: FailJob, onExitCodes: {operator: In, values: [4]}}", "BackoffLimitExceeded", 1),
    ];
    for (rule, reason, failed) in cases {
        let fails = |builder: billhook_control_plane::ControlPlaneBuilder| {
            builder.simulate(Rule::pods("work-*").exits(3))
        };
        run_with(fails, async |plane| {
            let spec = format!("  backoffLimit: 0\n  podFailurePolicy: {{rules: [{rule}]}}");
            create(plane, &job(&spec)).await;
            pass(plane, 5).await;
            let status = status(plane).await;
            assert_eq!(status["failed"].as_i64().unwrap_or_default(), failed, "{rule}");
            let found = conditions(&status);
            let found = found.first().map(|it| it.split(' ').nth(1).unwrap());
            assert_eq!(found.unwrap_or_default(), reason, "{rule}");
        });
    }
}

/// CP-64: a rule of success may ask for indexes, for a number, or for both.
#[test]
fn a_policy_decides_about_success() {
    let cases = [
        ("{succeededIndexes: '1-2'}", true),
        ("{succeededIndexes: '0-3', succeededCount: 2}", true),
        ("{succeededCount: 3}", true),
        ("{succeededIndexes: '0,1'}", false),
        ("{succeededCount: 4}", false),
    ];
    for (rule, is_met) in cases {
        let hangs = |builder: billhook_control_plane::ControlPlaneBuilder| {
            builder.simulate(Rule::pods("work-0-*").exits(0).after(Duration::from_secs(100)))
        };
        run_with(hangs, async |plane| {
            let spec = format!(
                "  completionMode: Indexed\n  completions: 4\n  parallelism: 4\n  successPolicy: {{rules: [{rule}]}}"
            );
            create(plane, &job(&spec)).await;
            pass(plane, 10).await;
            let found = conditions(&status(plane).await);
            let met = "SuccessPolicy Matched rules at index 0";
            let expected = [format!("SuccessCriteriaMet {met}"), format!("Complete {met}")];
            assert_eq!(found == expected, is_met, "{rule}: {found:?}");
        });
    }
}

/// CP-66: no pod is active while a Job is suspended, and those deleted do not count as failed.
#[test]
fn a_job_is_suspended_and_resumed() {
    run(async |plane| {
        create(plane, &job("  parallelism: 2\n  completions: 2")).await;
        request(plane, "PATCH", PATH, r#"{"spec": {"suspend": true}}"#).await;
        pass(plane, 40).await;
        let suspended = status(plane).await;
        assert_eq!(conditions(&suspended), ["Suspended JobSuspended Job suspended"]);
        assert_eq!(suspended.get("startTime"), None);
        assert_eq!(suspended.get("failed"), None);
        assert_eq!(column(plane, PODS, "/status/phase").await, [""; 0]);
        request(plane, "PATCH", PATH, r#"{"spec": {"suspend": false}}"#).await;
        pass(plane, 10).await;
        assert_eq!(status(plane).await["succeeded"], 2);
        let reasons = column(plane, EVENTS, "/reason").await;
        for reason in ["Suspended", "Resumed", "SuccessfulDelete", "Completed"] {
            assert!(reasons.iter().any(|it| it == reason), "{reason}");
        }
    });
}

/// CP-64: a Job that is active for too long fails, and its pods count as failed.
#[test]
fn a_deadline_ends_a_job() {
    let runs = |builder: billhook_control_plane::ControlPlaneBuilder| {
        builder.simulate(Rule::pods("work-*").exits(0).after(Duration::from_secs(1000)))
    };
    run_with(runs, async |plane| {
        create(plane, &job("  parallelism: 2\n  activeDeadlineSeconds: 30")).await;
        pass(plane, 29).await;
        assert_eq!(status(plane).await["active"], 2);
        pass(plane, 40).await;
        let status = status(plane).await;
        assert_eq!(status["failed"], 2);
        let late = "Failed DeadlineExceeded Job was active longer than specified deadline";
        assert_eq!(conditions(&status)[1], late);
    });
}

/// CP-60: another controller may work on a Job.
#[test]
fn a_job_of_another_controller_is_left_alone() {
    run(async |plane| {
        create(plane, &job("  managedBy: example.com/own")).await;
        assert_eq!(column(plane, PODS, "/metadata/name").await, [""; 0]);
    });
}

/// CP-68: a Job goes with its pods some time after its end.
#[test]
fn a_job_is_deleted_after_its_end() {
    run(async |plane| {
        create(plane, &job("  ttlSecondsAfterFinished: 60")).await;
        pass(plane, 50).await;
        assert_eq!(status(plane).await["succeeded"], 1);
        pass(plane, 20).await;
        assert_eq!(request(plane, "GET", PATH, "").await["code"], 404);
        assert_eq!(column(plane, PODS, "/metadata/name").await, [""; 0]);
    });
}

/// CP-63: the pods of a Job that is deleted go as well.
#[test]
fn pods_of_a_deleted_job_lose_their_finalizers() {
    for policy in ["Background", "Foreground"] {
        run(async |plane| {
            create(plane, &job("  parallelism: 3")).await;
            let path = format!("{PATH}?propagationPolicy={policy}");
            request(plane, "DELETE", &path, "").await;
            pass(plane, 60).await;
            assert_eq!(column(plane, PODS, "/metadata/name").await, [""; 0], "{policy}");
            assert_eq!(request(plane, "GET", PATH, "").await["code"], 404, "{policy}");
        });
    }
}
