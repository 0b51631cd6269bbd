//! The state of one request in a chain: its time and its log.

use std::time::{Duration, Instant};

use billhook::webhook::{AdmissionAttributes, CompiledWebhook, MatchConditions};
use billhook_apimachinery::value::DeepValue;
use billhook_policy::Cluster;

use super::builder::Chain;
use crate::audit::AuditLevel;
use crate::options::{Deadline, RequestOptions};
use crate::review::Verified;
use crate::trace::RequestLog;

/// A request's time and log, the chain it goes through and the cluster around it.
pub(crate) struct Context<'c> {
    pub(super) chain: &'c Chain,
    pub(super) cluster: &'c dyn Cluster,
    pub(super) options: &'c RequestOptions,
    pub(crate) deadline: Deadline<'c>,
    pub(crate) log: RequestLog,
    /// Whether the object of the request was changed.
    pub(crate) is_changed: bool,
    /// The object that the request came with, if its owners may have been changed.
    pub(crate) replaced: Option<DeepValue>,
    /// Whether an observer wants to know how long the stages take.
    is_timed: bool,
    /// The evaluator of match conditions for this request, unless it is that of the chain.
    conditions: Option<Box<dyn MatchConditions + Send + Sync + 'c>>,
}

impl<'c> Context<'c> {
    pub(super) fn new(
        chain: &'c Chain,
        cluster: &'c dyn Cluster,
        options: &'c RequestOptions,
    ) -> Self {
        let log = RequestLog { is_tracing: options.trace, ..RequestLog::default() };
        let conditions = chain.request_conditions(cluster.authorizer());
        let deadline = chain.deadline(options);
        let is_timed = options.trace || chain.watcher().is_some();
        Context {
            chain,
            cluster,
            options,
            deadline,
            log,
            is_changed: false,
            replaced: None,
            is_timed,
            conditions,
        }
    }

    /// Returns when something begins, if an observer wants to know how long it takes.
    pub(super) fn begin(&self) -> Option<Instant> {
        self.is_timed.then(|| self.deadline.now())
    }

    /// Returns how long something took.
    pub(super) fn since(&self, began: Option<Instant>) -> Duration {
        began.map_or(Duration::ZERO, |began| self.deadline.since(began))
    }

    /// Puts another object in the place of the request's one.
    pub(super) fn replace_object(&mut self, request: &mut AdmissionAttributes, object: DeepValue) {
        self.keep_replaced(request.object.replace(object));
    }

    /// Keeps the object that another one took the place of, if it is the first.
    pub(super) fn keep_replaced(&mut self, object: Option<DeepValue>) {
        self.is_changed |= object.is_some();
        if self.replaced.is_none() {
            self.replaced = object;
        }
    }

    pub(super) fn match_conditions(&self) -> &dyn MatchConditions {
        match &self.conditions {
            Some(conditions) => &**conditions,
            None => self.chain.match_conditions(),
        }
    }

    /// Logs the audit annotations and warnings of an answer, whether it allows or denies (AR-93).
    pub(super) fn note_answer(&mut self, hook: &CompiledWebhook, answer: &Verified) {
        for (key, value) in &answer.audit_annotations {
            let key = format!("{}/{key}", hook.name());
            self.log.annotations.add(&key, value, AuditLevel::Metadata);
        }
        for warning in &answer.warnings {
            self.log.warnings.add(warning);
        }
    }
}
