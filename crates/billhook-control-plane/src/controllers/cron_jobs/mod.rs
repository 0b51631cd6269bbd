//! CronJobs start Jobs at times (CP-69).

mod history;
mod start;
mod times;

use std::sync::Arc;

use serde_json::{Value, json};

use self::history::surplus;
use self::start::start;
use self::times::Times;
use super::jobs::end_of;
use crate::account::Account;
use crate::clock::Timestamp;
use crate::controller::{Controller, Keys};
use crate::document::{remove, set};
use crate::event::Event;
use crate::object::Object;
use crate::ownership::Owner;
use crate::plan::Plan;
use crate::request::Request;
use crate::resource::{CRON_JOBS, JOBS, Resource};
use crate::view::{Change, View};

#[derive(Debug)]
pub(crate) struct CronJobs;

impl Controller for CronJobs {
    fn name(&self) -> &'static str {
        "cronjob-controller"
    }

    fn account(&self) -> Account {
        Account::of_controller(self.name())
    }

    fn watches(&self) -> Vec<&'static Resource> {
        vec![&CRON_JOBS, &JOBS]
    }

    fn concerns(&self, change: &Change, _: &View, keys: &mut Keys) {
        if !keys.add_changed(change, &CRON_JOBS) {
            keys.add_controllers(change, &CRON_JOBS);
        }
    }

    fn sync(&self, key: &str, view: &View, now: Timestamp) -> Plan {
        let cron_job = view.get(&CRON_JOBS, key).filter(|cron_job| !cron_job.is_deleting());
        let Some(cron_job) = cron_job else { return Plan::nothing() };
        let owner = Owner { resource: &CRON_JOBS, object: cron_job };
        let jobs = view.controlled(&JOBS, cron_job.uid()).cloned().collect();
        Sync { owner, view, jobs, now }.plan()
    }
}

/// A CronJob and its Jobs.
struct Sync<'s> {
    owner: Owner<'s>,
    view: &'s View,
    jobs: Vec<Arc<Object>>,
    now: Timestamp,
}

impl Sync<'_> {
    /// Brings the status up to date; when it is, starts what is due.
    fn plan(self) -> Plan {
        let cron_job = self.owner.object;
        let (status, events) = self.status();
        let surplus = surplus(cron_job, &self.jobs);
        let tidied = surplus.into_iter().fold(events, |plan, job| plan.and(self.delete(job)));
        if status != *cron_job.get("/status") {
            return tidied.request(self.write(status));
        }
        if cron_job.get("/spec/suspend").as_bool() == Some(true) {
            return tidied;
        }
        tidied.and(match Times::of(cron_job, self.now) {
            Ok(times) => start(&self, &times),
            Err((reason, message)) => {
                Plan::nothing().event(Event::warning(&CRON_JOBS, cron_job, reason, message))
            }
        })
    }

    /// Returns the status by the Jobs, and the events about them.
    fn status(&self) -> (Value, Plan) {
        let cron_job = self.owner.object;
        let (mut active, mut plan) = (Vec::new(), Plan::nothing());
        for reference in cron_job.list("/status/active") {
            let uid = reference.get("uid").and_then(Value::as_str).unwrap_or_default();
            let name = reference.get("name").and_then(Value::as_str).unwrap_or_default();
            let job = self.jobs.iter().find(|job| job.uid() == uid);
            let event = match job.map(|job| end_of(job)) {
                Some(None) => {
                    active.push(reference.clone());
                    continue;
                }
                Some(Some(end)) => {
                    let end = end.get("type").and_then(Value::as_str).unwrap_or_default();
                    let message = format!("Saw completed job: {name}, condition: {end}");
                    Event::normal(&CRON_JOBS, cron_job, "SawCompletedJob", message)
                }
                None => {
                    let message = format!("Active job went missing: {name}");
                    Event::normal(&CRON_JOBS, cron_job, "MissingJob", message)
                }
            };
            plan = plan.event(event);
        }
        for job in self.jobs.iter().filter(|job| end_of(job).is_none() && !self.is_active(job)) {
            let name = job.name();
            let message = format!("Saw a job that the controller did not create or forgot: {name}");
            plan = plan.event(Event::warning(&CRON_JOBS, cron_job, "UnexpectedJob", message));
        }
        let mut status = cron_job.get("/status").clone();
        match active.is_empty() {
            true => remove(&mut status, &["active"]),
            false => set(&mut status, &["active"], active.into()),
        }
        let succeeded = self.jobs.iter().filter(|job| job.is_condition_true("Complete"));
        let last = succeeded.filter_map(|job| job.time("/status/completionTime")).max();
        if let Some(last) = last.max(cron_job.time("/status/lastSuccessfulTime")) {
            set(&mut status, &["lastSuccessfulTime"], last.to_rfc3339().into());
        }
        (status, plan)
    }

    /// Whether a Job is among the active ones of the status.
    fn is_active(&self, job: &Object) -> bool {
        let active = self.owner.object.list("/status/active").iter();
        active.filter_map(|it| it.get("uid")).any(|uid| uid == job.uid())
    }

    fn write(&self, status: Value) -> Request {
        let cron_job = self.owner.object;
        let mut changed = cron_job.copy();
        set(&mut changed, &["status"], status);
        Request::update_in(&CRON_JOBS, cron_job.key(), "status", &changed)
    }

    /// Deletes a Job in the background.
    fn delete(&self, job: &Object) -> Plan {
        let options = json!({"propagationPolicy": "Background"});
        let delete = Request::delete(&JOBS, job.key(), &options);
        let (cron_job, name) = (Arc::clone(self.owner.object), job.name().to_owned());
        Plan::nothing().then(vec![delete], move |outcomes| {
            let Some(outcome) = outcomes.first() else { return Plan::nothing() };
            let event = match outcome.failure() {
                None => {
                    let message = format!("Deleted job {name}");
                    Event::normal(&CRON_JOBS, &cron_job, "SuccessfulDelete", message)
                }
                Some(_) if outcome.code() == 404 => return Plan::nothing(),
                Some(failure) => {
                    let message = format!("Deleted job: {}", failure.message);
                    Event::warning(&CRON_JOBS, &cron_job, "FailedDelete", message)
                }
            };
            Plan::nothing().event(event).and(Plan::of_outcome(outcome).unwrap_or_default())
        })
    }
}
