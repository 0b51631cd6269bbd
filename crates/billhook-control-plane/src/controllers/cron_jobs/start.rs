//! Starting the Job that is due (CP-69).

use std::sync::Arc;

use serde_json::{Value, json};

use super::Sync;
use super::times::{Times, rfc1123};
use crate::clock::Timestamp;
use crate::document::set;
use crate::event::Event;
use crate::object::Object;
use crate::plan::Plan;
use crate::request::{Outcome, Request};
use crate::resource::{CRON_JOBS, JOBS};

const SCHEDULED: &str = "batch.kubernetes.io/cronjob-scheduled-timestamp";

/// Starts the Job that is due, if one is, and looks again at the next time.
pub(super) fn start(sync: &Sync<'_>, times: &Times) -> Plan {
    let next = times.until_next().into_iter().fold(Plan::nothing(), Plan::again_after);
    let Some(due) = times.due() else { return next };
    let warned = match due.are_many {
        true => next.event(sync.warning(
            "TooManyMissedTimes",
            "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check \
             clock skew"
                .to_owned(),
        )),
        false => next,
    };
    if times.is_too_late(due.time) {
        let message = format!("Missed scheduled time to start a job: {}", rfc1123(due.time));
        return warned.event(sync.warning("MissSchedule", message));
    }
    warned.and(sync.start(times, due.time))
}

impl Sync<'_> {
    fn warning(&self, reason: &str, message: String) -> Event {
        Event::warning(&CRON_JOBS, self.owner.object, reason, message)
    }

    /// Starts the Job of a time, unless others that are active forbid it.
    fn start(&self, times: &Times, time: i64) -> Plan {
        let cron_job = self.owner.object;
        let active = cron_job.list("/status/active");
        let name = format!("{}-{}", cron_job.name(), time.div_euclid(60));
        if active.iter().any(|job| job.get("name").is_some_and(|it| *it == *name)) {
            return Plan::nothing();
        }
        let policy = cron_job.text("/spec/concurrencyPolicy");
        if policy == "Forbid" && !active.is_empty() {
            let message = "Not starting job because prior execution is running and concurrency \
                           policy is Forbid";
            let event = Event::normal(&CRON_JOBS, cron_job, "JobAlreadyActive", message.to_owned());
            return Plan::nothing().event(event);
        }
        let replaced = self.jobs.iter().filter(|job| policy == "Replace" && self.is_active(job));
        let replaced = replaced.map(|job| self.delete(job)).fold(Plan::nothing(), Plan::and);
        replaced.and(self.create(&name, &times.print(time), time, policy == "Replace"))
    }

    /// Creates a Job, and says in the status that it is active.
    fn create(&self, name: &str, printed: &str, time: i64, replaces: bool) -> Plan {
        let cron_job = self.owner.object;
        let create = Request::create(&JOBS, cron_job.namespace(), &self.job(name, printed));
        let key = [cron_job.namespace(), "/", name].concat();
        let known = self.view.get(&JOBS, &key).filter(|job| job.controller_uid() == cron_job.uid());
        let known = known.map(|job| job.copy());
        let mut status = cron_job.get("/status").clone();
        let scheduled = Timestamp::from_unix(std::time::Duration::from_secs(time.unsigned_abs()));
        set(&mut status, &["lastScheduleTime"], scheduled.to_rfc3339().into());
        let active = if replaces { &[] } else { cron_job.list("/status/active") };
        let (active, cron_job) = (active.to_vec(), Arc::clone(cron_job));
        Plan::nothing().then(vec![create], move |outcomes| {
            let Some(outcome) = outcomes.first() else { return Plan::nothing() };
            let job = match (outcome.code(), known) {
                (409, Some(known)) => known,
                _ if outcome.is_success() => outcome.object(),
                _ => return refused(&cron_job, outcome),
            };
            let mut active = active;
            active.push(reference(&job));
            set(&mut status, &["active"], active.into());
            let mut changed = cron_job.copy();
            set(&mut changed, &["status"], status);
            let write = Request::update_in(&CRON_JOBS, cron_job.key(), "status", &changed);
            let message = format!("Created job {}", name_of(&job));
            let event = Event::normal(&CRON_JOBS, &cron_job, "SuccessfulCreate", message);
            let created = match outcome.is_success() {
                true => Plan::nothing().event(event),
                false => Plan::nothing(),
            };
            created.request(write)
        })
    }

    /// Returns the Job of a time.
    fn job(&self, name: &str, printed: &str) -> Value {
        let template = self.owner.object.get("/spec/jobTemplate");
        let mut metadata = json!({"name": name, "ownerReferences": [self.owner.reference()]});
        for member in ["labels", "annotations"] {
            if let Some(value) = template.pointer(&format!("/metadata/{member}")) {
                set(&mut metadata, &[member], value.clone());
            }
        }
        set(&mut metadata, &["annotations", SCHEDULED], printed.into());
        json!({
            "apiVersion": JOBS.api_version(), "kind": JOBS.kind, "metadata": metadata,
            "spec": template.get("spec"),
        })
    }
}

fn refused(cron_job: &Object, outcome: &Outcome) -> Plan {
    let Some(failed) = Plan::of_outcome(outcome) else { return Plan::nothing() };
    let failure = outcome.failure().unwrap_or_default();
    if failure.reason == "AlreadyExists" {
        // Another owner has the name: the next time has a Job again.
        return Plan::nothing();
    }
    let message = format!("Error creating job: {}", failure.message);
    let event = Event::warning(&CRON_JOBS, cron_job, "FailedCreate", message);
    Plan::nothing().event(event).and(failed)
}

fn name_of(job: &Value) -> &str {
    job.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default()
}

/// Returns the reference to a Job that the status has.
fn reference(job: &Value) -> Value {
    let of = |pointer: &str| job.pointer(pointer).cloned().unwrap_or_default();
    json!({
        "kind": JOBS.kind, "apiVersion": JOBS.api_version(), "namespace": of("/metadata/namespace"),
        "name": of("/metadata/name"), "uid": of("/metadata/uid"),
        "resourceVersion": of("/metadata/resourceVersion"),
    })
}
