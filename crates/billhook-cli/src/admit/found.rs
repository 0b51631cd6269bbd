//! The outcome of a request as findings: why the object is refused, what the client is warned of, and
//! which webhooks and policies fail without a word to the client.

use std::collections::BTreeSet;

use billhook::Status;
use billhook::webhook::{ConfigurationKind, DecisionReason};
use billhook_admission::{
    Action, AdmissionOutcome, HookResult, IdempotenceFinding, Mutator, Stage, Step,
};
use billhook_findings::{DeprecatedField, Finding, Label, Severity};
use billhook_policy::{PolicyKind, PolicyRecord, PolicyVerdict};

use crate::apply::{CONFLICT_HELP, is_conflict};
use crate::findings::{About, REFUSED, webhook_named};
use crate::problem::Problem;
use crate::setup::{CANNOT_BE_MATCHED, IGNORED, Origins};

/// The rules on denials by webhooks, on failures that refuse, and on those that are ignored.
const DENIED: &str = "AR-71";
const FAILED_CLOSED: &str = "AR-73";
const UNUSABLE: &str = "AR-75";
const NOT_FOR_DRY_RUNS: &str = "AR-74";
const FAILED_OPEN: &str = "DI-70";
/// The rule on webhooks and policies that change their own output.
const IDEMPOTENCE: &str = "DI-47";
/// The rules on denials by policies, on their warnings, and on errors that they ignore.
const POLICY_DENIED: &str = "PO-54";
const POLICY_ACTION: &str = "PO-52";
const POLICY_ERROR: &str = "PO-50";
const MUTATION_FAILED: &str = "PO-85";
/// The rule on fields that others own.
const CONFLICT: &str = "SA-80";

/// An outcome, with everything that explains it.
pub(super) struct Telling<'t> {
    pub(super) about: About<'t>,
    pub(super) origins: &'t Origins,
    pub(super) outcome: &'t AdmissionOutcome,
    /// The problem with decoding the object, as the client of a server sees it.
    pub(super) undecodable: Option<Box<Problem>>,
    /// The deprecated fields that the object sets.
    pub(super) deprecated: Vec<DeprecatedField>,
}

/// Why a request is refused.
struct Refusal {
    rule: &'static str,
    cause: Option<Label>,
}

impl Telling<'_> {
    /// The errors first, then warnings and notes, each once.
    pub(super) fn findings(&self) -> Vec<Finding> {
        let mut found = self.errors();
        let idempotence = self.outcome.findings.iter();
        found.extend(idempotence.map(|finding| self.not_idempotent(finding)));
        let warnings = self.outcome.warnings.texts();
        found.extend(self.about.each(warnings, |text| self.warning(&text)));
        found.extend(self.outcome.steps.iter().filter_map(|step| self.ignored(step)));
        found.extend(self.about.each(&self.deprecated, |field| self.about.deprecated(field)));
        let mut seen = BTreeSet::new();
        found.retain(|finding| seen.insert((finding.text.clone(), finding.path.to_string())));
        found
    }

    fn errors(&self) -> Vec<Finding> {
        let Err(status) = &self.outcome.result else { return Vec::new() };
        let fields = &self.outcome.field_errors;
        if !fields.is_empty() {
            return self.about.each(fields, |error| self.about.error(error));
        }
        if let Some(problem) = &self.undecodable
            && problem.answer.as_deref() == Some(status)
        {
            return self.about.problem(problem);
        }
        // Of several webhooks that refuse, a server names the first one only.
        let others = self.outcome.validating_errors.iter().filter(|other| *other != status);
        std::iter::once(status).chain(others).map(|status| self.refused(status)).collect()
    }

    fn refused(&self, status: &Status) -> Finding {
        if is_conflict(status) {
            let finding = self.about.whole(Severity::Error, CONFLICT, &status.message);
            return finding.help(CONFLICT_HELP);
        }
        let refusal = self.outcome.steps.iter().rev().find_map(|step| self.refusal(step, status));
        let refusal = refusal.unwrap_or(Refusal { rule: REFUSED, cause: None });
        self.about.whole(Severity::Error, refusal.rule, &status.message).because(refusal.cause)
    }

    /// The reason of a refusal, if it lies in a step.
    fn refusal(&self, step: &Step, status: &Status) -> Option<Refusal> {
        match &step.action {
            Action::Webhook { configuration, hook, stage, result, .. } => {
                let (rule, text, label) = match result {
                    HookResult::Rejected(text) => (DENIED, text, "this webhook denies it"),
                    HookResult::FailedClosed(text) => (FAILED_CLOSED, text, "this webhook fails"),
                    HookResult::Unusable(text) => {
                        (UNUSABLE, text, "the answer of this webhook cannot be used")
                    }
                    HookResult::NotForDryRuns(text) => {
                        (NOT_FOR_DRY_RUNS, text, "this webhook may have side effects")
                    }
                    _ => return None,
                };
                let is_it = !text.is_empty() && status.message.contains(text.as_str());
                let cause = || self.webhook(*stage, (configuration, hook), "name", label);
                is_it.then(|| Refusal { rule, cause: cause() })
            }
            Action::Policy { stage, record, .. } => {
                let PolicyVerdict::Denied { message, .. } = &record.verdict else { return None };
                let policy = &record.policy;
                let is_it = status.message.contains(policy.as_str())
                    && status.message.contains(message.as_str());
                let rule = match stage {
                    Stage::Mutating => MUTATION_FAILED,
                    Stage::Validating => POLICY_DENIED,
                };
                is_it.then(|| Refusal { rule, cause: self.policy(*stage, record) })
            }
            Action::MatchFailed { configuration, hook, stage, reason, error, .. } => {
                let at = (configuration.as_str(), hook.as_str());
                let cause = || self.webhook(*stage, at, "name", CANNOT_BE_MATCHED);
                let rule = reason.rule();
                (status.message == *error).then(|| Refusal { rule, cause: cause() })
            }
            _ => None,
        }
    }

    fn warning(&self, text: &str) -> Finding {
        let mut finding = self.about.warning(text);
        let denials = self.outcome.steps.iter().filter_map(denial);
        let mut warned = denials.filter(|(record, message)| {
            let binding = &record.binding;
            let who = format!("'{}' with binding '{binding}': {message}", record.policy);
            text == format!("Validation failed for ValidatingAdmissionPolicy {who}")
        });
        if let Some((record, _)) = warned.next() {
            finding.rule = POLICY_ACTION.to_owned();
            finding = finding.because(self.policy(Stage::Validating, record));
        }
        finding
    }

    /// A failure that neither refuses the request nor is reported to the client.
    fn ignored(&self, step: &Step) -> Option<Finding> {
        match &step.action {
            Action::Webhook { configuration, hook, stage, result, .. } => {
                let HookResult::FailedOpen(text) = result else { return None };
                let at = (configuration.as_str(), hook.as_str());
                let cause = self.webhook(*stage, at, "failurePolicy", IGNORED);
                let webhook = webhook_named(configuration, hook);
                let text = format!("{webhook} fails, which is ignored: {text}");
                let finding = self.about.whole(Severity::Warning, FAILED_OPEN, &text);
                Some(finding.because(cause))
            }
            Action::Policy { stage, record, .. } => {
                let PolicyVerdict::ErrorIgnored(text) = &record.verdict else { return None };
                let text = format!("policy `{}` fails, which is ignored: {text}", record.policy);
                let finding = self.about.whole(Severity::Warning, POLICY_ERROR, &text);
                Some(finding.because(self.policy(*stage, record)))
            }
            Action::Skipped { configuration, hook, stage, reason, .. } => {
                if *reason != DecisionReason::MatchConditionErrorIgnored {
                    return None;
                }
                let at = (configuration.as_str(), hook.as_str());
                let cause = self.webhook(*stage, at, "failurePolicy", IGNORED);
                let webhook = webhook_named(configuration, hook);
                let text = format!("{webhook} is not called: a match condition fails");
                let finding = self.about.whole(Severity::Warning, reason.rule(), &text);
                Some(finding.because(cause))
            }
            _ => None,
        }
    }

    fn not_idempotent(&self, finding: &IdempotenceFinding) -> Finding {
        const LABEL: &str = "it changes its own output";
        let cause = match &finding.mutator {
            Mutator::Webhook { configuration, hook } => {
                self.webhook(Stage::Mutating, (configuration, hook), "name", LABEL)
            }
            Mutator::Policy { policy, .. } => {
                self.origins.policy(PolicyKind::Mutating, policy, None, LABEL)
            }
            _ => None,
        };
        let mut text = format!("{} is not idempotent", finding.mutator);
        if let Some(error) = &finding.error {
            text.push_str(&format!(": run on its own output it fails: {error}"));
        }
        let found = self.about.whole(Severity::Error, IDEMPOTENCE, &text).because(cause);
        match finding.changes.first() {
            Some(first) => found.help(format!("run on its own output, it {first}")),
            None => found,
        }
    }

    fn webhook(
        &self,
        stage: Stage,
        webhook: (&str, &str),
        field: &str,
        text: &str,
    ) -> Option<Label> {
        let kind = match stage {
            Stage::Mutating => ConfigurationKind::Mutating,
            Stage::Validating => ConfigurationKind::Validating,
        };
        self.origins.webhook(kind, webhook, field, text)
    }

    /// The part of a policy that decides, and how.
    fn policy(&self, stage: Stage, record: &PolicyRecord) -> Option<Label> {
        let text = match record.verdict {
            PolicyVerdict::Denied { is_error: false, .. } => "this is not met",
            _ => "this could not be evaluated",
        };
        let kind = match stage {
            Stage::Mutating => PolicyKind::Mutating,
            Stage::Validating => PolicyKind::Validating,
        };
        self.origins.policy(kind, &record.policy, record.index, text)
    }
}

/// The record of a validation that is not met, and its message.
fn denial(step: &Step) -> Option<(&PolicyRecord, &str)> {
    match &step.action {
        Action::Policy { record, .. } => match &record.verdict {
            PolicyVerdict::Denied { message, .. } => Some((record, message)),
            _ => None,
        },
        _ => None,
    }
}
