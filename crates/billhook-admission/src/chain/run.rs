//! One request on its way through a chain: the mutating stage, what is done between the stages, and
//! the validating stage, each of which may be taken again (DI-03, DI-04, AR-31, AR-32).

use super::builder::Chain;
use crate::audit::Warnings;
use crate::observe::request_ended;
use crate::options::{Deadline, RequestOptions};
use crate::stage::Stage;
use crate::trace::{Action, Record};
use billhook::webhook::{AdmissionAttributes, Operation};
use billhook_apimachinery::Status;

/// A request's way: the time it has, and what it leaves behind.
pub(crate) struct Passage<'c> {
    chain: &'c Chain,
    pub(crate) deadline: Deadline<'c>,
    pub(crate) record: Record,
    pub(crate) validating_errors: Vec<Status>,
}

impl<'c> Passage<'c> {
    pub(crate) fn new(chain: &'c Chain, options: &'c RequestOptions) -> Self {
        let record = Record {
            is_tracing: options.trace,
            checks_idempotence: options.check_idempotence,
            ..Record::default()
        };
        let deadline = chain.deadline(options);
        Passage { chain, deadline, record, validating_errors: Vec::new() }
    }

    /// All of it, once.
    pub(crate) async fn through(
        &mut self,
        request: &mut AdmissionAttributes,
        prepare: impl FnOnce(&mut AdmissionAttributes, &mut Warnings) -> Result<(), Status>,
    ) -> Result<(), Status> {
        self.mutate(request).await?;
        self.prepare(request, prepare)?;
        self.validate(request).await
    }

    /// The mutating stage (DI-10 to DI-49).
    pub(crate) async fn mutate(&mut self, request: &mut AdmissionAttributes) -> Result<(), Status> {
        if request.operation == Operation::Connect && request.dry_run {
            return Err(Status::bad_request("dryRun is not supported"));
        }
        let earlier = std::mem::take(&mut self.record.annotations);
        let began = self.deadline.now();
        let result = self.chain.mutating_stage(request, self.deadline, &mut self.record).await;
        self.chain.stage_finished(Stage::Mutating, request, self.deadline, began, result.is_err());
        self.record.continue_annotations(earlier);
        result
    }

    /// What is done to the object between the stages, and its validation (DI-03).
    pub(crate) fn prepare(
        &mut self,
        request: &mut AdmissionAttributes,
        prepare: impl FnOnce(&mut AdmissionAttributes, &mut Warnings) -> Result<(), Status>,
    ) -> Result<(), Status> {
        let began = self.deadline.now();
        let before = if self.record.is_tracing { request.object.clone() } else { None };
        let prepared = prepare(request, &mut self.record.warnings);
        let took = self.deadline.now().saturating_duration_since(began);
        if request.object.is_some() {
            let after = request.object.as_ref();
            self.record.step_with(Action::Validate, took, before.as_ref(), after);
        }
        prepared
    }

    /// The validating stage (DI-60 to DI-69).
    pub(crate) async fn validate(
        &mut self,
        request: &mut AdmissionAttributes,
    ) -> Result<(), Status> {
        // It has annotations of its own (DI-04).
        let earlier = std::mem::take(&mut self.record.annotations);
        let began = self.deadline.now();
        let (record, errors) = (&mut self.record, &mut self.validating_errors);
        let result = self.chain.validating_stage(request, self.deadline, record, errors).await;
        self.chain.stage_finished(
            Stage::Validating,
            request,
            self.deadline,
            began,
            result.is_err(),
        );
        self.record.continue_annotations(earlier);
        result
    }

    /// The end of the way.
    pub(crate) fn finish(self) -> (Record, Vec<Status>) {
        request_ended(&self.record, self.validating_errors.get(1..).unwrap_or_default());
        (self.record, self.validating_errors)
    }
}
