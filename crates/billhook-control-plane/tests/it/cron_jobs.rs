//! CronJobs (CP-69).

use std::time::Duration;

use billhook_control_plane::ControlPlane;
use billhook_control_plane::simulation::Rule;

use crate::support::{column, create, request, run, run_with};

const PATH: &str = "/apis/batch/v1/namespaces/default/cronjobs/tick";
const JOBS: &str = "/apis/batch/v1/namespaces/default/jobs";
const EVENTS: &str = "/api/v1/namespaces/default/events";

/// Returns a CronJob with members of its spec.
fn cron_job(spec: &str) -> String {
    format!(
        "
apiVersion: batch/v1
kind: CronJob
metadata: {{name: tick, namespace: default}}
spec:
  jobTemplate:
    metadata: {{labels: {{a: b}}, annotations: {{c: d}}}}
    spec: {{template: {{spec: {{restartPolicy: Never, containers: [{{name: c, image: i}}]}}}}}}
{spec}
"
    )
}

/// Lets the time pass, which begins at 2026-01-01T00:00:00Z.
async fn pass(plane: &ControlPlane, seconds: u64) {
    plane.advance(Duration::from_secs(seconds)).await.unwrap();
}

async fn has_event(plane: &ControlPlane, reason: &str, message: &str) -> bool {
    let reasons = column(plane, EVENTS, "/reason").await;
    let messages = column(plane, EVENTS, "/message").await;
    reasons.iter().zip(&messages).any(|event| event == (&reason.to_owned(), &message.to_owned()))
}

#[test]
fn a_job_is_started_at_its_time() {
    run(async |plane| {
        create(plane, &cron_job("  schedule: '*/2 * * * *'")).await;
        pass(plane, 119).await;
        assert_eq!(column(plane, JOBS, "/metadata/name").await, [""; 0]);
        pass(plane, 1).await;
        plane.advance(Duration::from_millis(500)).await.unwrap();
        assert_eq!(column(plane, JOBS, "/metadata/name").await, ["tick-29453762"]);
        let scheduled = "/metadata/annotations/batch.kubernetes.io~1cronjob-scheduled-timestamp";
        assert_eq!(column(plane, JOBS, scheduled).await, ["2026-01-01T00:02:00Z"]);
        assert_eq!(column(plane, JOBS, "/metadata/labels/a").await, ["b"]);
        let status = request(plane, "GET", PATH, "").await["status"].take();
        assert_eq!(status["active"][0]["name"], "tick-29453762");
        assert_eq!(status["lastScheduleTime"], "2026-01-01T00:02:00Z");
        pass(plane, 10).await;
        let status = request(plane, "GET", PATH, "").await["status"].take();
        assert_eq!(status.get("active"), None);
        assert_eq!(status["lastSuccessfulTime"], "2026-01-01T00:02:02Z");
        let seen = "Saw completed job: tick-29453762, condition: Complete";
        assert!(has_event(plane, "SawCompletedJob", seen).await);
        assert!(has_event(plane, "SuccessfulCreate", "Created job tick-29453762").await);
    });
}

/// The annotation has the offset of the time zone.
#[test]
fn a_time_zone_decides_when_it_is_time() {
    run(async |plane| {
        let spec = "  schedule: '30 9 * * *'\n  timeZone: Asia/Kolkata";
        create(plane, &cron_job(spec)).await;
        pass(plane, 4 * 3600 + 1).await;
        let scheduled = "/metadata/annotations/batch.kubernetes.io~1cronjob-scheduled-timestamp";
        assert_eq!(column(plane, JOBS, scheduled).await, ["2026-01-01T09:30:00+05:30"]);
    });
}

/// A Job may be active when it is time for the next one.
#[test]
fn a_policy_decides_about_jobs_side_by_side() {
    let cases = [
        ("Allow", &["tick-29453761", "tick-29453762", "tick-29453763"][..]),
        ("Forbid", &["tick-29453761"]),
        ("Replace", &["tick-29453763"]),
    ];
    for (policy, jobs) in cases {
        let runs = |builder: billhook_control_plane::ControlPlaneBuilder| {
            builder.simulate(Rule::pods("tick-*").exits(0).after(Duration::from_secs(1000)))
        };
        run_with(runs, async |plane| {
            let spec = format!("  schedule: '* * * * *'\n  concurrencyPolicy: {policy}");
            create(plane, &cron_job(&spec)).await;
            pass(plane, 185).await;
            assert_eq!(column(plane, JOBS, "/metadata/name").await, jobs, "{policy}");
            let message = "Not starting job because prior execution is running and concurrency policy is Forbid";
            let is_reported = has_event(plane, "JobAlreadyActive", message).await;
            assert_eq!(is_reported, policy == "Forbid", "{policy}");
        });
    }
}

/// Of the times that were missed while it was suspended only the last one is made up for.
#[test]
fn the_last_missed_time_is_made_up_for() {
    for (deadline, jobs) in [("", &["tick-29453960"][..]), ("  startingDeadlineSeconds: 20", &[])] {
        run(async |plane| {
            let spec = format!("  schedule: '* * * * *'\n  suspend: true\n{deadline}");
            create(plane, &cron_job(&spec)).await;
            pass(plane, 200 * 60 + 30).await;
            assert_eq!(column(plane, JOBS, "/metadata/name").await, [""; 0]);
            request(plane, "PATCH", PATH, r#"{"spec": {"suspend": false}}"#).await;
            plane.settled().await.unwrap();
            assert_eq!(column(plane, JOBS, "/metadata/name").await, jobs);
            let reasons = column(plane, EVENTS, "/reason").await;
            let is_warned = reasons.iter().any(|reason| reason == "TooManyMissedTimes");
            assert_eq!(is_warned, deadline.is_empty());
        });
    }
}

#[test]
fn old_jobs_are_deleted() {
    run(async |plane| {
        let spec = "  schedule: '* * * * *'\n  successfulJobsHistoryLimit: 2";
        create(plane, &cron_job(spec)).await;
        pass(plane, 5 * 60 + 10).await;
        assert_eq!(column(plane, JOBS, "/metadata/name").await, ["tick-29453764", "tick-29453765"]);
        assert!(has_event(plane, "SuccessfulDelete", "Deleted job tick-29453761").await);
    });
}

/// CP-69: a Job of another owner that has the name keeps one time from having its Job, not the next one.
#[test]
fn a_name_that_is_taken_costs_one_time() {
    run(async |plane| {
        let taken = "
apiVersion: batch/v1
kind: Job
metadata: {name: tick-29453762, namespace: default}
spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}
";
        create(plane, taken).await;
        create(plane, &cron_job("  schedule: '*/2 * * * *'")).await;
        pass(plane, 241).await;
        let names = column(plane, JOBS, "/metadata/name").await;
        assert_eq!(names, ["tick-29453762", "tick-29453764"]);
        let status = request(plane, "GET", PATH, "").await["status"].take();
        assert_eq!(status["lastScheduleTime"], "2026-01-01T00:04:00Z");
    });
}
