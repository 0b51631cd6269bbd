//! The state of one request in a chain: its time and its log.

use billhook::webhook::{CompiledWebhook, MatchConditions};

use super::builder::Chain;
use crate::audit::AuditLevel;
use crate::options::{Deadline, RequestOptions};
use crate::review::Verified;
use crate::trace::RequestLog;

/// A request's time and log, and the chain it goes through.
pub(crate) struct Context<'c> {
    pub(super) chain: &'c Chain,
    pub(super) options: &'c RequestOptions,
    pub(crate) deadline: Deadline<'c>,
    pub(crate) log: RequestLog,
    /// The evaluator of match conditions for this request, unless it is that of the chain.
    conditions: Option<Box<dyn MatchConditions + Send + Sync + 'c>>,
}

impl<'c> Context<'c> {
    pub(super) fn new(chain: &'c Chain, options: &'c RequestOptions) -> Self {
        let log = RequestLog { is_tracing: options.trace, ..RequestLog::default() };
        let conditions = chain.match_conditions().for_request();
        Context { chain, options, deadline: chain.deadline(options), log, conditions }
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
