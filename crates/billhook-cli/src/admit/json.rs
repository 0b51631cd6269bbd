//! The outcomes of requests as JSON.

use billhook_admission::{
    Action, AdmissionOutcome, FieldDifference, HookResult, IdempotenceFinding, Mutator, Stage, Step,
};
use billhook_apimachinery::value::deep_clone;
use serde_json::Value;

use crate::identity::Identity;
use crate::json::{self, Fields};
use crate::problem::{Place, Problem};

pub(super) fn item(outcome: &AdmissionOutcome, place: Place, identity: Identity) -> Fields {
    let mut item = Fields::of_object(place, identity);
    let verdict = match &outcome.result {
        Ok(accepted) if accepted.unchanged => "unchanged",
        Ok(_) => "admitted",
        Err(_) => "refused",
    };
    item.text("verdict", Some(verdict.to_owned()));
    match &outcome.result {
        Ok(accepted) => {
            if let Some(object) = accepted.returned() {
                item.value("object", object.into_owned().into_inner());
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
    item
}

/// An object that made no request.
pub(super) fn unusable(problem: Problem, identity: Identity) -> Fields {
    let mut item = Fields::of_object(problem.place.clone(), identity);
    item.value("error", json::error(problem));
    item
}

fn step(step: &Step) -> Value {
    let mut fields = Fields::default();
    if let Some((action, pass)) = details(&step.action, &mut fields) {
        fields.text("action", Some(action.to_owned()));
        fields.text("stage", pass.map(|(stage, _)| stage.name().to_owned()));
        fields.number("round", pass.map(|(_, round)| round.into()));
    }
    if !matches!(step.action, Action::Skipped { .. } | Action::MatchFailed { .. }) {
        let micros = usize::try_from(step.took.as_micros()).unwrap_or(usize::MAX);
        fields.number("microseconds", Some(micros));
    }
    fields.value("changes", step.changes.iter().map(difference).collect());
    fields.into_value()
}

/// Adds what only some actions have; returns the name of the action, and its stage and round.
fn details(action: &Action, fields: &mut Fields) -> Option<(&'static str, Option<(Stage, u8)>)> {
    let mut text = |name: &str, value: &str| fields.text(name, Some(value.to_owned()));
    if let Action::Webhook { configuration, hook, .. }
    | Action::Skipped { configuration, hook, .. }
    | Action::MatchFailed { configuration, hook, .. } = action
    {
        text("configuration", configuration);
        text("webhook", hook);
    }
    Some(match action {
        Action::Decode => ("decode", None),
        Action::Validate => ("validate", None),
        Action::Store => ("store", None),
        Action::Plugin { name, stage, round, error, .. } => {
            text("plugin", name);
            fields.text("error", error.clone());
            ("plugin", Some((*stage, *round)))
        }
        Action::Webhook { stage, round, result, .. } => {
            let (result, error) = hook_result(result);
            text("result", result);
            fields.text("error", error.map(str::to_owned));
            ("webhook", Some((*stage, *round)))
        }
        Action::Skipped { stage, round, reason, .. } => {
            text("reason", reason.code());
            ("skipped", Some((*stage, *round)))
        }
        Action::MatchFailed { stage, round, reason, error, .. } => {
            text("reason", reason.code());
            text("error", error);
            ("matchFailed", Some((*stage, *round)))
        }
        Action::Policy { stage, round, record, .. } => {
            text("policy", &record.policy);
            text("binding", &record.binding);
            text("result", &record.verdict.to_string());
            let parameter = Some(&record.parameter).filter(|parameter| !parameter.is_empty());
            fields.text("parameter", parameter.cloned());
            fields.number("index", record.index);
            ("policy", Some((*stage, *round)))
        }
        Action::Policies { stage, round, .. } => ("policies", Some((*stage, *round))),
        Action::WriteRefused { name } => {
            text("name", name);
            ("writeRefused", None)
        }
        _ => return None,
    })
}

fn hook_result(result: &HookResult) -> (&'static str, Option<&str>) {
    match result {
        HookResult::Allowed => ("allowed", None),
        HookResult::Rejected(error) => ("refused", Some(error)),
        HookResult::FailedOpen(error) => ("failedOpen", Some(error)),
        HookResult::FailedClosed(error) => ("failedClosed", Some(error)),
        HookResult::Unusable(error) => ("unusable", Some(error)),
        HookResult::NotForDryRuns(error) => ("notForDryRuns", Some(error)),
        _ => ("unknown", None),
    }
}

fn difference(difference: &FieldDifference) -> Value {
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
