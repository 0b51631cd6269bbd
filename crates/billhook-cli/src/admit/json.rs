//! The outcomes of requests as JSON.

use std::io;

use billhook_admission::{
    Action, AdmissionOutcome, Difference, HookResult, IdempotenceFinding, Mutator, Stage, Step,
};
use billhook_apimachinery::value::deep_clone;
use serde_json::Value;

use crate::identity::Identity;
use crate::json::{self, Fields, Items};
use crate::problem::{Place, Problem};

/// Prints outcomes as they come.
#[derive(Debug)]
pub(crate) struct JsonReport(Items);

impl JsonReport {
    pub(crate) fn new() -> Self {
        JsonReport(Items::new("AdmitReport"))
    }

    pub(crate) fn outcome(
        &mut self,
        outcome: &AdmissionOutcome,
        place: Place,
        identity: Identity,
    ) -> io::Result<()> {
        let mut item = Fields::of_object(place, identity);
        let verdict = match &outcome.result {
            Ok(accepted) if accepted.unchanged => "unchanged",
            Ok(_) => "admitted",
            Err(_) => "refused",
        };
        item.text("verdict", Some(verdict.to_owned()));
        match &outcome.result {
            Ok(accepted) => {
                if let Some(object) = &accepted.returned {
                    item.value("object", deep_clone(object));
                }
            }
            Err(status) => item.value("status", status.to_value().into_inner()),
        }
        item.value("warnings", Value::from(outcome.warnings.texts()));
        let annotations = outcome.annotations.iter().map(|(key, annotation)| {
            let mut fields = Fields::default();
            fields.text("key", Some(key.to_owned()));
            fields.text("value", Some(annotation.value.clone()));
            fields.text("level", Some(annotation.level.name().to_owned()));
            fields.into_value()
        });
        item.value("annotations", annotations.collect());
        item.value("steps", outcome.steps.iter().map(step).collect());
        item.value("findings", outcome.findings.iter().map(finding).collect());
        self.0.add(item)
    }

    /// An object that made no request.
    pub(crate) fn problem(&mut self, problem: Problem, identity: Identity) -> io::Result<()> {
        let mut item = Fields::of_object(problem.place.clone(), identity);
        item.value("error", json::error(problem));
        self.0.add(item)
    }

    /// Ends the document.
    pub(crate) fn finish(self) -> io::Result<()> {
        self.0.finish()
    }
}

fn step(step: &Step) -> Value {
    let mut fields = Fields::default();
    let mut text = |name: &str, value: &str| fields.text(name, Some(value.to_owned()));
    let round = match &step.action {
        Action::Decode => {
            text("action", "decode");
            None
        }
        Action::Validate => {
            text("action", "validate");
            None
        }
        Action::Store => {
            text("action", "store");
            None
        }
        Action::Plugin { name, stage, round, error, .. } => {
            text("action", "plugin");
            text("plugin", name);
            text("stage", stage_name(*stage));
            if let Some(error) = error {
                text("error", error);
            }
            Some(*round)
        }
        Action::Webhook { configuration, hook, stage, round, result, .. } => {
            text("action", "webhook");
            text("configuration", configuration);
            text("webhook", hook);
            text("stage", stage_name(*stage));
            let (result, error) = hook_result(result);
            text("result", result);
            if let Some(error) = error {
                text("error", error);
            }
            Some(*round)
        }
        Action::Skipped { configuration, hook, stage, round, reason, .. } => {
            text("action", "skipped");
            text("configuration", configuration);
            text("webhook", hook);
            text("stage", stage_name(*stage));
            text("reason", reason.code());
            Some(*round)
        }
        Action::MatchFailed { configuration, hook, stage, round, reason, error, .. } => {
            text("action", "matchFailed");
            text("configuration", configuration);
            text("webhook", hook);
            text("stage", stage_name(*stage));
            text("reason", reason.code());
            text("error", error);
            Some(*round)
        }
        Action::Policy { stage, round, record, .. } => {
            text("action", "policy");
            text("stage", stage_name(*stage));
            text("policy", &record.policy);
            text("binding", &record.binding);
            if !record.parameter.is_empty() {
                text("parameter", &record.parameter);
            }
            text("result", &record.verdict.to_string());
            fields.number("index", record.index);
            Some(*round)
        }
        Action::Policies { stage, round, .. } => {
            text("action", "policies");
            text("stage", stage_name(*stage));
            Some(*round)
        }
        Action::WriteRefused { name } => {
            text("action", "writeRefused");
            text("name", name);
            None
        }
        _ => None,
    };
    fields.number("round", round.map(usize::from));
    if !matches!(step.action, Action::Skipped { .. } | Action::MatchFailed { .. }) {
        let micros = usize::try_from(step.took.as_micros()).unwrap_or(usize::MAX);
        fields.number("microseconds", Some(micros));
    }
    fields.value("changes", step.changes.iter().map(difference).collect());
    fields.into_value()
}

fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::Mutating => "mutating",
        Stage::Validating => "validating",
    }
}

fn hook_result(result: &HookResult) -> (&'static str, Option<&str>) {
    match result {
        HookResult::Allowed => ("allowed", None),
        HookResult::Rejected(error) => ("refused", Some(error)),
        HookResult::FailedOpen(error) => ("failedOpen", Some(error)),
        HookResult::FailedClosed(error) => ("failedClosed", Some(error)),
        HookResult::Unusable(error) => ("unusable", Some(error)),
        _ => ("unknown", None),
    }
}

fn difference(difference: &Difference) -> Value {
    let mut fields = Fields::default();
    fields.text("path", Some(difference.path.to_string()));
    fields.text("pointer", Some(difference.path.to_json_pointer()));
    if let Some(before) = &difference.before {
        fields.value("before", deep_clone(before));
    }
    if let Some(after) = &difference.after {
        fields.value("after", deep_clone(after));
    }
    fields.into_value()
}

fn finding(finding: &IdempotenceFinding) -> Value {
    let mut fields = Fields::default();
    match &finding.mutator {
        Mutator::Webhook { configuration, hook } => {
            fields.text("configuration", Some(configuration.clone()));
            fields.text("webhook", Some(hook.clone()));
        }
        Mutator::Policy { policy, binding, parameter } => {
            fields.text("policy", Some(policy.clone()));
            fields.text("binding", Some(binding.clone()));
            fields.text("parameter", Some(parameter.clone()).filter(|it| !it.is_empty()));
        }
        _ => {}
    }
    fields.text("error", finding.error.clone());
    fields.value("changes", finding.changes.iter().map(difference).collect());
    fields.into_value()
}
