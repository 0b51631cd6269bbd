//! Why policies apply to a request, and why others do not.

use std::fmt;
use std::sync::Arc;

use PolicyApplication::DoesNotApply;
use billhook::webhook::{
    AdmissionAttributes, CelConditions, ConditionInput, ConditionResult, Decision, Match,
    MatchCondition, MatchConditions as _, Operation, RequestMatcher, StepVerdict, Trace,
};
use billhook_apimachinery::aggregate;
use billhook_cel::ExpressionTrace;

use crate::activation::Shared;
use crate::context::PolicyContext;
use crate::document::PolicyKind;
use crate::request_objects::RequestObjects;
use crate::set::{Binding, Head, MatchedPolicy, PolicySet, is_exempt, param_kind, params_of};

/// Whether a policy applies to a request by a binding and with a parameter, and all that was tried
/// to find that out.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PolicyExplanation {
    /// The kind of the policy.
    pub kind: PolicyKind,
    /// The name of the policy.
    pub policy: String,
    /// The name of the binding; none if the policy itself decides.
    pub binding: Option<String>,
    /// `<namespace>/<name>` of the parameter; empty if absent.
    pub parameter: String,
    /// The outcome.
    pub application: PolicyApplication,
    /// How the match constraints of the policy decided, if they were looked at.
    pub constraints: Option<Trace>,
    /// How the match resources of the binding decided, if there are any.
    pub resources: Option<Trace>,
    /// The match conditions, if they were evaluated.
    pub conditions: Vec<ConditionExplanation>,
}

/// A match condition and how its expression came to its value.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ConditionExplanation {
    /// The name of the condition.
    pub name: String,
    /// The result; none if it depends on an authorizer that is not there.
    pub verdict: Option<StepVerdict>,
    /// The parts of the expression; none if it does not compile.
    pub trace: Option<ExpressionTrace>,
}

/// Whether a policy applies to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PolicyApplication {
    /// Its expressions are evaluated, with the objects in the kind that it matched.
    Applies(Match),
    /// It is not for the request.
    DoesNotApply(PolicyMismatch),
    /// It is unknown whether it applies, and it fails closed: a server refuses the request.
    Fails(String),
    /// It is unknown whether it applies, which it ignores.
    ErrorIgnored(String),
    /// A match condition asks an authorizer, which is absent.
    Undecided,
}

/// Why a policy does not apply to a request. The codes are stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum PolicyMismatch {
    /// No policy sees the resource (PO-21).
    ExemptResource,
    /// A mutating policy does not see deletions (PO-20).
    Deletion,
    /// No binding names the policy (PO-23).
    NoBinding,
    /// The policy that the binding names does not exist (PO-23).
    NoPolicy,
    /// The match constraints do not select the request (PO-26).
    MatchConstraints,
    /// The match resources of the binding do not select it (PO-26).
    MatchResources,
    /// No parameter is found, which the binding allows (PO-32).
    NoParameter,
    /// A match condition is false (PO-42).
    MatchCondition,
}

impl PolicyMismatch {
    /// The code, e.g. `MatchConstraints`.
    pub fn code(self) -> &'static str {
        self.texts().0
    }

    /// The code and the text.
    fn texts(self) -> (&'static str, &'static str) {
        match self {
            Self::ExemptResource => ("ExemptResource", "no policy sees this resource (PO-21)"),
            Self::Deletion => ("Deletion", "mutating policies do not see deletions (PO-20)"),
            Self::NoBinding => ("NoBinding", "no binding names it (PO-23)"),
            Self::NoPolicy => ("NoPolicy", "the policy does not exist (PO-23)"),
            Self::MatchConstraints => {
                ("MatchConstraints", "its match constraints do not fit (PO-26)")
            }
            Self::MatchResources => {
                ("MatchResources", "the match resources of the binding do not fit (PO-26)")
            }
            Self::NoParameter => {
                ("NoParameter", "no parameter is found, which the binding allows (PO-32)")
            }
            Self::MatchCondition => ("MatchCondition", "a match condition is false (PO-42)"),
        }
    }
}

impl fmt::Display for PolicyMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.texts().1)
    }
}

/// Prints a line for each step, each match condition with the parts of its expression, and at the end
/// whether the policy applies.
impl fmt::Display for PolicyExplanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (field, trace) in
            [("matchConstraints", &self.constraints), ("matchResources", &self.resources)]
        {
            for step in trace.iter().flat_map(Trace::steps) {
                writeln!(f, "{field}: {step}")?;
            }
        }
        for condition in &self.conditions {
            writeln!(f, "{condition}")?;
        }
        match (&self.application, self.summary()) {
            (PolicyApplication::Applies(matched), _) => write!(f, "applies with {}", matched.kind),
            (PolicyApplication::DoesNotApply(mismatch), _) => {
                write!(f, "does not apply: {mismatch}")
            }
            (_, summary) => f.write_str(&summary.unwrap_or_default()),
        }
    }
}

/// Prints the result, and a line for each part of the expression.
impl fmt::Display for ConditionExplanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match &self.verdict {
            None => "undecided",
            Some(StepVerdict::Passed) => "true",
            Some(StepVerdict::Failed) => "false",
            Some(StepVerdict::Error(error)) => error,
        };
        write!(f, "matchConditions: `{}` {word} (PO-42)", self.name)?;
        if let Some(trace) = self.trace.as_ref().filter(|_| self.verdict.is_some()) {
            for line in trace.to_string().lines() {
                write!(f, "\n  {line}")?;
            }
        }
        Ok(())
    }
}

impl PolicyExplanation {
    /// Returns the reason that the policy does not apply, or cannot be evaluated, in one line; none
    /// if it applies.
    pub fn summary(&self) -> Option<String> {
        let of_trace = |field: &str, trace: &Option<Trace>| {
            Some(format!("{field}: {}", trace.as_ref()?.summary()?))
        };
        match &self.application {
            PolicyApplication::Applies(_) => None,
            PolicyApplication::DoesNotApply(mismatch) => match mismatch {
                PolicyMismatch::MatchConstraints => of_trace("matchConstraints", &self.constraints),
                PolicyMismatch::MatchResources => of_trace("matchResources", &self.resources),
                PolicyMismatch::MatchCondition => {
                    let failed =
                        |it: &&ConditionExplanation| it.verdict == Some(StepVerdict::Failed);
                    let name = self.conditions.iter().find(failed).map(|it| it.name.as_str());
                    Some(format!("match condition `{}` is false (PO-42)", name.unwrap_or_default()))
                }
                mismatch => Some(mismatch.to_string()),
            },
            PolicyApplication::Fails(error) => Some(format!("the request is refused: {error}")),
            PolicyApplication::ErrorIgnored(error) => Some(format!("error ignored: {error}")),
            PolicyApplication::Undecided => {
                Some("a match condition asks for permissions of the user".to_owned())
            }
        }
    }
}

impl PolicySet {
    /// Explains for each policy whether it applies to a request, by each of its bindings and with
    /// each of its parameters: the mutating policies first, in the order in which they are evaluated
    /// (PO-25). The expressions of the policies themselves are not evaluated.
    pub fn explain(
        &self,
        request: &AdmissionAttributes,
        context: &PolicyContext<'_>,
    ) -> Vec<PolicyExplanation> {
        let mut found = Vec::new();
        for kind in [PolicyKind::Mutating, PolicyKind::Validating] {
            let mut explainer = Explainer::new(self, kind, request, context);
            self.heads(kind).into_iter().for_each(|head| explainer.policy(head));
            for (policy, binding) in self.without_effect(kind) {
                let mut explanation = explainer.of(policy);
                explanation.binding.clone_from(binding);
                let mismatch = match binding {
                    None => PolicyMismatch::NoBinding,
                    Some(_) => PolicyMismatch::NoPolicy,
                };
                explainer.add(explanation, DoesNotApply(mismatch));
            }
            explainer.found.sort_by(|a, b| (&a.policy, &a.binding).cmp(&(&b.policy, &b.binding)));
            found.append(&mut explainer.found);
        }
        found
    }
}

/// Explains policies of a kind for a request.
struct Explainer<'e> {
    set: &'e PolicySet,
    kind: PolicyKind,
    request: &'e AdmissionAttributes,
    context: &'e PolicyContext<'e>,
    conditions: CelConditions,
    found: Vec<PolicyExplanation>,
}

impl<'e> Explainer<'e> {
    fn new(
        set: &'e PolicySet,
        kind: PolicyKind,
        request: &'e AdmissionAttributes,
        context: &'e PolicyContext<'e>,
    ) -> Self {
        let conditions = set.conditions().of_request().leave_authorization_open();
        let conditions = match context.cluster.authorizer() {
            Some(authorizer) => conditions.authorizer(Arc::clone(authorizer)),
            None => conditions,
        };
        Explainer { set, kind, request, context, conditions, found: Vec::new() }
    }

    /// Returns an explanation that says nothing yet.
    fn of(&self, policy: &str) -> PolicyExplanation {
        PolicyExplanation {
            kind: self.kind,
            policy: policy.to_owned(),
            binding: None,
            parameter: String::new(),
            application: PolicyApplication::Undecided,
            constraints: None,
            resources: None,
            conditions: Vec::new(),
        }
    }

    fn add(&mut self, mut explanation: PolicyExplanation, application: PolicyApplication) {
        explanation.application = application;
        self.found.push(explanation);
    }

    fn policy(&mut self, head: &Head) {
        let mut explanation = self.of(&head.name);
        let is_deletion =
            self.kind == PolicyKind::Mutating && self.request.operation == Operation::Delete;
        if is_exempt(&self.request.resource) {
            return self.add(explanation, DoesNotApply(PolicyMismatch::ExemptResource));
        }
        if is_deletion {
            return self.add(explanation, DoesNotApply(PolicyMismatch::Deletion));
        }
        if let Err(text) = head.check_constraints() {
            return self
                .add(explanation, error(head, format!("failed to configure policy: {text}")));
        }
        let trace = self.matching(&head.matcher);
        let decided = decision(&trace, PolicyMismatch::MatchConstraints);
        explanation.constraints = Some(trace);
        let decided = decided.and_then(|matched| {
            let kind = param_kind(head, self.context).map_err(Mismatch::Error)?;
            Ok(MatchedPolicy { matched, param_kind: kind })
        });
        match decided {
            Ok(matched) => {
                for binding in &head.bindings {
                    let mut explanation = explanation.clone();
                    explanation.binding = Some(binding.name.clone());
                    self.binding(head, binding, &matched, explanation);
                }
            }
            Err(Mismatch::No(mismatch)) => self.add(explanation, DoesNotApply(mismatch)),
            Err(Mismatch::Error(text)) => {
                self.add(explanation, error(head, format!("failed to configure policy: {text}")));
            }
        }
    }

    fn matching(&self, matcher: &RequestMatcher) -> Trace {
        matcher.explain(self.request, self.context.cluster, self.context.equivalents)
    }

    fn binding(
        &mut self,
        head: &Head,
        binding: &Binding,
        policy: &MatchedPolicy<'_>,
        mut explanation: PolicyExplanation,
    ) {
        explanation.resources = binding.matcher.as_ref().map(|matcher| self.matching(matcher));
        let selected = match &explanation.resources {
            None => Ok(()),
            Some(trace) => decision(trace, PolicyMismatch::MatchResources).map(drop),
        };
        let found = selected.and_then(|()| {
            let found = params_of(policy, binding, self.request, self.context);
            let found = found.map_err(Mismatch::Error)?;
            if found.is_empty() {
                return Err(Mismatch::No(PolicyMismatch::NoParameter));
            }
            let objects = RequestObjects::matched(self.request, &policy.matched, self.context);
            let unconverted =
                |error| Mismatch::Error(format!("failed to convert object version: {error}"));
            Ok((found, objects.map_err(unconverted)?))
        });
        match found {
            Ok((found, objects)) => {
                for params in found {
                    let mut explanation = explanation.clone();
                    explanation.parameter = params.key();
                    let input = objects.input(self.request, &policy.matched, params.value());
                    let application = self.conditions(head, &input, &mut explanation);
                    self.add(explanation, application);
                }
            }
            Err(Mismatch::No(mismatch)) => self.add(explanation, DoesNotApply(mismatch)),
            Err(Mismatch::Error(text)) => {
                self.add(explanation, error(head, format!("failed to configure binding: {text}")));
            }
        }
    }

    /// Evaluates the match conditions for a parameter (PO-42).
    fn conditions(
        &self,
        head: &Head,
        input: &ConditionInput<'_>,
        explanation: &mut PolicyExplanation,
    ) -> PolicyApplication {
        // A missing namespace refuses the request as soon as anything is evaluated (PO-41).
        if let Err(status) = Shared::new(self.set, self.request, self.context) {
            return PolicyApplication::Fails(status.message);
        }
        let results = self.conditions.evaluate(&head.conditions, input);
        let traces = self.conditions.trace(&head.conditions, input);
        let (results, traces) = match (results, traces) {
            (Ok(results), Ok(traces)) => (results, traces),
            (Err(text), _) | (_, Err(text)) => return error(head, text.to_string()),
        };
        let evaluated = head.conditions.iter().zip(&results).zip(traces);
        explanation.conditions =
            evaluated.map(|((it, result), trace)| explained(it, result, trace)).collect();
        let errors = explanation.conditions.iter().filter_map(|it| match &it.verdict {
            Some(StepVerdict::Error(text)) => Some(text.clone()),
            _ => None,
        });
        let errors: Vec<String> = errors.collect();
        if results.contains(&ConditionResult::False) {
            DoesNotApply(PolicyMismatch::MatchCondition)
        } else if !errors.is_empty() {
            error(head, aggregate(&errors))
        } else if results.contains(&ConditionResult::Undecided) {
            PolicyApplication::Undecided
        } else {
            PolicyApplication::Applies(input.matched.clone())
        }
    }
}

fn explained(
    condition: &MatchCondition,
    result: &ConditionResult,
    trace: Option<ExpressionTrace>,
) -> ConditionExplanation {
    let verdict = match (result, condition.error_of(result)) {
        (ConditionResult::Undecided, _) => None,
        (_, Some(error)) => Some(StepVerdict::Error(error)),
        (ConditionResult::True, None) => Some(StepVerdict::Passed),
        (_, None) => Some(StepVerdict::Failed),
    };
    ConditionExplanation { name: condition.name.clone(), verdict, trace }
}

/// PO-40, PO-42
fn error(head: &Head, text: String) -> PolicyApplication {
    match head.fails_closed() {
        true => PolicyApplication::Fails(text),
        false => PolicyApplication::ErrorIgnored(text),
    }
}

/// Why a policy or a binding is not for a request.
enum Mismatch {
    No(PolicyMismatch),
    Error(String),
}

/// Returns the selection of a matcher.
fn decision(trace: &Trace, otherwise: PolicyMismatch) -> Result<Match, Mismatch> {
    match trace.decision() {
        Decision::Called(matched) | Decision::NotEvaluated(matched) => Ok(matched.clone()),
        Decision::Skipped(_) => Err(Mismatch::No(otherwise)),
        Decision::Rejected(_, status) => Err(Mismatch::Error(status.message.clone())),
    }
}
