//! The status of a Job (CP-66, CP-67).

use std::sync::Arc;

use serde_json::{Map, Value};

use super::ending::Ending;
use super::spec::is_suspended;
use super::tally::Tally;
use crate::clock::Timestamp;
use crate::conditions::set_condition;
use crate::document::set;
use crate::event::Event;
use crate::object::Object;
use crate::plan::Plan;
use crate::pods::{is_active, is_ready, is_terminal};
use crate::request::Request;
use crate::resource::JOBS;

/// How many pods are in which state.
#[derive(Debug)]
pub(super) struct Counts {
    pub(super) active: usize,
    ready: usize,
    pub(super) terminating: usize,
}

impl Counts {
    pub(super) fn of(pods: &[Arc<Object>]) -> Self {
        let active = || pods.iter().filter(|pod| is_active(pod));
        let terminating = pods.iter().filter(|pod| pod.is_deleting() && !is_terminal(pod));
        Counts {
            active: active().count(),
            ready: active().filter(|pod| is_ready(pod)).count(),
            terminating: terminating.count(),
        }
    }

    /// Returns the counts when more pods have been created.
    pub(super) fn with(self, created: usize) -> Self {
        Counts { active: self.active.saturating_add(created), ..self }
    }

    /// Returns the counts when active pods are being deleted.
    pub(super) fn without(self, deleted: &[Arc<Object>]) -> Self {
        let ready = deleted.iter().filter(|pod| is_ready(pod)).count();
        Counts {
            active: self.active.saturating_sub(deleted.len()),
            ready: self.ready.saturating_sub(ready),
            terminating: self.terminating.saturating_add(deleted.len()),
        }
    }

    fn put(&self, status: &mut Map<String, Value>) {
        if self.active > 0 {
            status.insert("active".to_owned(), self.active.into());
        }
        status.insert("terminating".to_owned(), self.terminating.into());
        status.insert("ready".to_owned(), self.ready.into());
    }
}

/// A status of a Job, and the events about it.
#[derive(Debug)]
pub(super) struct Status {
    job: Arc<Object>,
    now: Timestamp,
    conditions: Vec<Value>,
    started: Value,
    completed: Value,
    events: Vec<Event>,
}

impl Status {
    pub(super) fn of(job: &Arc<Object>, now: Timestamp) -> Self {
        Status {
            job: Arc::clone(job),
            now,
            conditions: job.list("/status/conditions").to_vec(),
            started: job.get("/status/startTime").clone(),
            completed: job.get("/status/completionTime").clone(),
            events: Vec::new(),
        }
    }

    /// Starts a Job that has not been started, and is not suspended (CP-60).
    pub(super) fn start(&mut self) {
        if self.started.is_null() && !is_suspended(&self.job) {
            self.started = self.now.to_rfc3339().into();
        }
    }

    /// Says whether the Job is suspended, if that has changed (CP-66).
    pub(super) fn suspend(&mut self) {
        let (is_suspended, is_known) =
            (is_suspended(&self.job), self.job.condition("Suspended").is_some());
        if is_suspended == self.job.is_condition_true("Suspended") || !(is_suspended || is_known) {
            return;
        }
        let (status, condition_reason, reason, message) = match is_suspended {
            true => ("True", "JobSuspended", "Suspended", "Job suspended"),
            false => ("False", "JobResumed", "Resumed", "Job resumed"),
        };
        self.set_condition(["Suspended", status, condition_reason, message]);
        self.started = match is_suspended {
            true => Value::Null,
            false => self.now.to_rfc3339().into(),
        };
        self.events.push(Event::normal(&JOBS, &self.job, reason, message.to_owned()));
    }

    /// Says that the end has begun.
    pub(super) fn begin_end(&mut self, ending: &Ending) {
        if !self.job.is_condition_true(ending.begun()) {
            self.set_condition([ending.begun(), "True", &ending.reason, &ending.message]);
        }
    }

    /// Says that all is over (CP-64).
    pub(super) fn end(&mut self, ending: &Ending) {
        self.set_condition([ending.over(), "True", &ending.reason, &ending.message]);
        let job = &self.job;
        self.events.push(match ending.is_success {
            true => {
                self.completed = self.now.to_rfc3339().into();
                Event::normal(&JOBS, job, "Completed", "Job completed".to_owned())
            }
            false => Event::warning(&JOBS, job, &ending.reason, ending.message.clone()),
        });
    }

    fn set_condition(&mut self, condition: [&str; 4]) {
        set_condition(&mut self.conditions, condition, self.now);
        let [kind, ..] = condition;
        let is_set = |it: &&mut Value| it.get("type").is_some_and(|it| it == kind);
        if let Some(set) = self.conditions.iter_mut().find(is_set).and_then(Value::as_object_mut) {
            set.insert("lastProbeTime".to_owned(), self.now.to_rfc3339().into());
        }
    }

    /// Writes the status, if it differs from what the Job has, and records the events.
    pub(super) fn write(self, counts: &Counts, tally: &Tally) -> Plan {
        let mut status = Map::new();
        if !self.conditions.is_empty() {
            status.insert("conditions".to_owned(), self.conditions.into());
        }
        let times = [("startTime", self.started), ("completionTime", self.completed)];
        for (name, time) in times.into_iter().filter(|(_, time)| !time.is_null()) {
            status.insert(name.to_owned(), time);
        }
        counts.put(&mut status);
        tally.put(&mut status);
        let status = Value::Object(status);
        if status == *self.job.get("/status") {
            return Plan::nothing();
        }
        let mut changed = self.job.copy();
        set(&mut changed, &["status"], status);
        let write = Request::update_in(&JOBS, self.job.key(), "status", &changed);
        self.events.into_iter().fold(Plan::nothing().request(write), Plan::event)
    }
}
