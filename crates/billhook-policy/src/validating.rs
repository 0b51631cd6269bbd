//! Evaluating the validating policies for a request (PO-50 to PO-62).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use billhook::webhook::{AdmissionAttributes, ConditionInput, Match, RequestVariables};
use billhook_apimachinery::print::{compact_json, lossy};
use billhook_apimachinery::{GroupVersionKind, Status, StatusCause, StatusDetails};
use billhook_cel::Value;
use serde_json::Value as Json;

use crate::activation::Shared;
use crate::context::PolicyContext;
use crate::observer::{PolicyCheck, PolicyEffect};
use crate::params::Params;
use crate::program::{BUDGET, Role};
use crate::record::{PolicyRecord, PolicyVerdict};
use crate::request_objects::RequestObjects;
use crate::set::{
    Annotation, Binding, Compiled, Conditions, ConfigurationError, FailurePolicy, MatchedBinding,
    PolicySet, Validating, Validation, is_exempt, matching_bindings, matching_policies,
    other_kinds,
};

/// The longest usable result of a message expression (PO-51).
const MAX_MESSAGE: usize = 5 * 1024;
/// The longest value of an audit annotation (PO-61).
const MAX_ANNOTATION: usize = 10 * 1024;
/// The annotation of failures (PO-60).
const FAILURE_KEY: &str = "validation.policy.admission.k8s.io/validation_failure";

/// The verdict of the validating policies on a request.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ValidationOutcome {
    /// The answer of a server that refuses the request (PO-54).
    pub result: Result<(), Status>,
    /// The warnings, in order (PO-52).
    pub warnings: Vec<String>,
    /// The audit annotations in the order they are written; of several with the same key the first
    /// one counts (PO-60, PO-61).
    pub annotations: Vec<(String, String)>,
    /// The fate of each policy that was for the request.
    pub records: Vec<PolicyRecord>,
}

/// The outcome of one validation (PO-50).
enum Decision {
    Admit,
    /// An error that is ignored.
    Ignored(String),
    Deny {
        message: String,
        reason: Option<String>,
        is_error: bool,
    },
}

/// A denial that counts.
struct Denial {
    policy: String,
    binding: Option<String>,
    message: String,
    reason: Option<String>,
}

impl PolicySet {
    /// Returns the kinds other than the request's that validating policies match it in: the
    /// objects are converted into them.
    pub fn validating_kinds(
        &self,
        request: &AdmissionAttributes,
        context: &PolicyContext<'_>,
    ) -> BTreeSet<GroupVersionKind> {
        other_kinds(self.validating(), |policy| &policy.head, request, context)
    }

    /// Evaluates the validating policies for a request.
    pub fn validate(
        &self,
        request: &AdmissionAttributes,
        context: &PolicyContext<'_>,
    ) -> ValidationOutcome {
        let mut run = Run::default();
        let result = run.run(self, request, context);
        let result = result.and_then(|()| match run.denials.first() {
            None => Ok(()),
            Some(denial) => Err(denial.status(request)),
        });
        let Run { warnings, annotations, records, .. } = run;
        ValidationOutcome { result, warnings, annotations, records }
    }
}

#[derive(Default)]
struct Run {
    denials: Vec<Denial>,
    warnings: Vec<String>,
    annotations: Vec<(String, String)>,
    records: Vec<PolicyRecord>,
}

impl Run {
    fn run(
        &mut self,
        set: &PolicySet,
        request: &AdmissionAttributes,
        context: &PolicyContext<'_>,
    ) -> Result<(), Status> {
        if is_exempt(&request.resource) {
            return Ok(());
        }
        let mut shared = None;
        let policies = matching_policies(set.validating(), |it| &it.head, request, context);
        for (policy, matched) in policies {
            let matched = match matched {
                Ok(matched) => matched,
                Err(error) => {
                    self.misconfigured(policy, error);
                    continue;
                }
            };
            let bindings = matching_bindings(&policy.head, &matched, request, context);
            if bindings.is_empty() {
                continue;
            }
            let shared = match &shared {
                Some(shared) => shared,
                None => shared.insert(Shared::new(set, request, context)?),
            };
            self.policy(policy, &matched.matched, bindings, shared);
        }
        Ok(())
    }

    /// Evaluates a policy for its bindings.
    fn policy(
        &mut self,
        policy: &Validating,
        matched: &Match,
        bindings: Vec<MatchedBinding<'_>>,
        shared: &Shared<'_>,
    ) {
        let objects = RequestObjects::matched(shared.request, matched, shared.context);
        let mut published = Published::default();
        for MatchedBinding { binding, params } in bindings {
            let evaluated = params.and_then(|params| {
                for params in &params {
                    let objects = objects.as_ref();
                    let objects =
                        objects.map_err(|error| ConfigurationError::unconverted(binding, error))?;
                    let evaluation =
                        Evaluation { policy, binding, params, matched, objects, shared };
                    self.take(&evaluation, &mut published);
                }
                Ok(())
            });
            if let Err(error) = evaluated {
                self.misconfigured(policy, error);
            }
        }
        self.annotations.extend(published.into_annotations(&policy.head.name));
    }

    /// PO-40
    fn misconfigured(&mut self, policy: &Validating, error: ConfigurationError) {
        let ConfigurationError { binding, text } = error;
        let what = if binding.is_some() { "binding" } else { "policy" };
        let head = &policy.head;
        let message = match &head.failure_policy {
            FailurePolicy::Unknown(written) => format!("unrecognized failure policy: '{written}'"),
            _ => format!("failed to configure {what}: {text}"),
        };
        self.records.push(PolicyRecord {
            policy: head.name.clone(),
            binding: binding.clone().unwrap_or_default(),
            parameter: String::new(),
            index: None,
            verdict: match head.fails_closed() {
                true => PolicyVerdict::failed(message.clone()),
                false => PolicyVerdict::ErrorIgnored(message.clone()),
            },
        });
        if head.fails_closed() {
            let policy = head.name.clone();
            self.denials.push(Denial { policy, binding, message, reason: None });
        }
    }

    /// Evaluates a policy for one binding and one parameter, and takes the consequences.
    fn take(&mut self, evaluation: &Evaluation<'_>, published: &mut Published) {
        let Evaluation { policy, binding, .. } = evaluation;
        let input = evaluation.input();
        let shared = evaluation.shared;
        let conditions = Conditions::of(&policy.head, &input, &shared.conditions, shared.context);
        let is_whole = matches!(conditions, Conditions::Failed(_));
        let decisions = match conditions {
            Conditions::DoNotHold => {
                self.records.push(evaluation.record(None, PolicyVerdict::ConditionsNotMet));
                return;
            }
            Conditions::Failed(text) if !policy.head.fails_closed() => {
                self.records.push(evaluation.record(None, PolicyVerdict::ErrorIgnored(text)));
                return;
            }
            Conditions::Failed(text) => (vec![Decision::error(text, true).timed()], Vec::new()),
            Conditions::Hold => evaluation.decide(&input),
        };
        let (decisions, annotations) = decisions;
        for (index, (decision, took)) in decisions.into_iter().enumerate() {
            let at = (!is_whole).then_some(index);
            self.records.push(evaluation.record(at, PolicyVerdict::from(&decision)));
            match decision {
                Decision::Admit => {}
                Decision::Ignored(error) => evaluation.note(PolicyEffect::Allow, &error, took),
                Decision::Deny { message, reason, .. } => {
                    for action in &binding.actions {
                        evaluation.note_action(action, &message, took);
                        self.act(action, evaluation, index, &message, reason.as_ref());
                    }
                }
            }
        }
        for (annotation, (value, took)) in annotations {
            match value {
                Ok(value) => published.add(&annotation.key, value),
                Err(message) if policy.head.fails_closed() => {
                    let verdict = PolicyVerdict::failed(message.clone());
                    self.records.push(evaluation.record(None, verdict));
                    evaluation.note(PolicyEffect::Deny, &message, took);
                    self.denials.push(evaluation.denial(message, None));
                }
                Err(_) => {}
            }
        }
    }

    /// PO-52
    fn act(
        &mut self,
        action: &str,
        evaluation: &Evaluation<'_>,
        index: usize,
        message: &str,
        reason: Option<&String>,
    ) {
        let (policy, binding) = (&evaluation.policy.head.name, evaluation.binding);
        match action {
            "Deny" => self.denials.push(evaluation.denial(message.to_owned(), reason.cloned())),
            "Warn" => self.warnings.push(format!(
                "Validation failed for ValidatingAdmissionPolicy '{policy}' with binding '{}': \
                 {message}",
                binding.name
            )),
            "Audit" => {
                let text = |text: &str| compact_json(&text.into());
                let actions: Vec<String> = binding.actions.iter().map(|it| text(it)).collect();
                let value = format!(
                    "[{{\"message\":{},\"policy\":{},\"binding\":{},\"expressionIndex\":{index},\
                     \"validationActions\":[{}]}}]",
                    text(message),
                    text(policy),
                    text(&binding.name),
                    actions.join(",")
                );
                self.annotations.push((FAILURE_KEY.to_owned(), value));
            }
            _ => {}
        }
    }
}

/// One evaluation: a policy, a binding and a parameter.
struct Evaluation<'e> {
    policy: &'e Validating,
    binding: &'e Binding,
    params: &'e Params,
    matched: &'e Match,
    objects: &'e RequestObjects,
    shared: &'e Shared<'e>,
}

/// The outcome of an expression, and how long that took.
type Timed<T> = (T, Duration);

/// The results of expressions, or the texts of their errors, and what is left of the budget.
type Evaluated<T> = (Vec<Timed<Result<T, String>>>, u64);

/// An annotation with its value, none if it is to be left out, or the text of its error.
type Annotated<'e> = (&'e Annotation, Timed<Result<Option<String>, String>>);

impl<'e> Evaluation<'e> {
    fn input(&self) -> ConditionInput<'_> {
        self.objects.input(self.shared.request, self.matched, self.params.value())
    }

    fn record(&self, index: Option<usize>, verdict: PolicyVerdict) -> PolicyRecord {
        PolicyRecord::new(&self.policy.head, self.binding, self.params, index, verdict)
    }

    fn denial(&self, message: String, reason: Option<String>) -> Denial {
        let (policy, binding) = (&self.policy.head.name, &self.binding.name);
        Denial { policy: policy.clone(), binding: Some(binding.clone()), message, reason }
    }

    /// Tells who watches (PO-95).
    fn note(&self, effect: PolicyEffect, message: &str, took: Duration) {
        if let Some(observer) = self.shared.context.observer {
            let (policy, binding) = (&*self.policy.head.name, &*self.binding.name);
            let message = Some(message);
            observer.checked(&PolicyCheck { policy, binding, effect, message, took });
        }
    }

    fn note_action(&self, action: &str, message: &str, took: Duration) {
        match action {
            "Deny" => self.note(PolicyEffect::Deny, message, took),
            "Warn" => self.note(PolicyEffect::Warn, message, took),
            "Audit" => self.note(PolicyEffect::Audit, message, took),
            _ => {}
        }
    }

    /// Returns the decisions and the annotations (PO-50).
    fn decide(&self, input: &ConditionInput<'_>) -> (Vec<Timed<Decision>>, Vec<Annotated<'e>>) {
        let fails_closed = self.policy.head.fails_closed();
        let known = self.shared.known(&self.policy.head, input);
        let whole = |text: String| (vec![Decision::error(text, fails_closed).timed()], Vec::new());
        let (decisions, left) = match self.validations(&known) {
            Ok((results, left)) => (results, left),
            Err(text) => return whole(text),
        };
        let messages = self.messages(&known, left);
        let validations = self.policy.validations.iter().zip(decisions).enumerate();
        let decisions = validations.map(|(index, (validation, (result, took)))| {
            let decision = match (result, &messages) {
                (Err(text), _) => Decision::error(text, fails_closed),
                (_, Err(text)) => {
                    Decision::error(format!("failed messageExpression: {text}"), fails_closed)
                }
                (Ok(true), _) => Decision::Admit,
                (Ok(false), Ok(messages)) => {
                    let message = messages.get(index).cloned().flatten();
                    let message = message.unwrap_or_else(|| written_message(validation));
                    Decision::Deny { message, reason: validation.reason.clone(), is_error: false }
                }
            };
            (decision, took)
        });
        let decisions = decisions.collect();
        match self.annotations(&known) {
            Ok(annotations) => (decisions, annotations),
            Err(text) => whole(text),
        }
    }

    /// Evaluates expressions of a kind, each within what the ones before it have left of the budget.
    fn evaluate<'p, T>(
        &self,
        known: &RequestVariables<'_>,
        role: Role,
        expressions: impl Iterator<Item = (&'p str, &'p Compiled)>,
        read: impl Fn(Value<'_>) -> T,
    ) -> Result<Evaluated<T>, String> {
        let head = &self.policy.head;
        let activation = self.shared.activation(known, head, role == Role::Validation)?;
        let pass = self.shared.pass(head, &activation);
        let mut left = BUDGET;
        let mut results = Vec::new();
        for (index, (expression, program)) in expressions.enumerate() {
            let program = match program {
                Ok(program) => program,
                Err(text) => {
                    results.push((Err(format!("compilation error: {text}")), Duration::ZERO));
                    continue;
                }
            };
            let context = self.shared.context;
            let (evaluated, took) = context.timed(|| pass.evaluate(program, (role, index), left));
            let evaluated = evaluated?;
            left = evaluated.left;
            let result = evaluated.result.map(&read);
            results.push((result.map_err(|error| resulted_in(expression, &error)), took));
        }
        Ok((results, left))
    }

    /// Returns the results of all validations and what is left of the budget.
    fn validations(&self, known: &RequestVariables<'_>) -> Result<Evaluated<bool>, String> {
        let expressions = self.policy.validations.iter().map(|it| (&*it.expression, &it.program));
        let is_true = |value: Value<'_>| matches!(value, Value::Bool(true));
        self.evaluate(known, Role::Validation, expressions, is_true)
    }

    /// Returns the usable results of the message expressions (PO-51).
    fn messages(
        &self,
        known: &RequestVariables<'_>,
        mut left: u64,
    ) -> Result<Vec<Option<String>>, String> {
        if self.policy.validations.iter().all(|it| it.message_program.is_none()) {
            return Ok(Vec::new());
        }
        let activation = self.shared.activation(known, &self.policy.head, false)?;
        let pass = self.shared.pass(&self.policy.head, &activation);
        let mut messages = Vec::with_capacity(self.policy.validations.len());
        for (index, validation) in self.policy.validations.iter().enumerate() {
            let Some(Ok(program)) = &validation.message_program else {
                messages.push(None);
                continue;
            };
            let evaluated = pass.evaluate(program, (Role::Message, index), left)?;
            left = evaluated.left;
            messages.push(match evaluated.result {
                Ok(Value::String(text)) => {
                    let text = text.as_str().trim();
                    let is_usable =
                        !text.is_empty() && text.len() <= MAX_MESSAGE && !text.contains('\n');
                    is_usable.then(|| text.to_owned())
                }
                _ => None,
            });
        }
        Ok(messages)
    }

    /// Returns the values of the audit annotations (PO-61).
    fn annotations(&self, known: &RequestVariables<'_>) -> Result<Vec<Annotated<'e>>, String> {
        let annotations = &self.policy.annotations;
        if annotations.is_empty() {
            return Ok(Vec::new());
        }
        let expressions = annotations.iter().map(|it| (&*it.expression, &it.program));
        let text = |value: Value<'_>| match value {
            Value::String(text) => {
                Some(text.as_str().trim()).filter(|text| !text.is_empty()).map(cut)
            }
            _ => None,
        };
        let (values, _) = self.evaluate(known, Role::Annotation, expressions, text)?;
        Ok(annotations.iter().zip(values).collect())
    }
}

/// PO-49
pub(crate) fn resulted_in(expression: &str, error: &dyn std::fmt::Display) -> String {
    format!("expression '{expression}' resulted in error: {error}")
}

/// The message of a validation without a usable message expression (PO-51).
fn written_message(validation: &Validation) -> String {
    match validation.message.trim() {
        "" => format!("failed expression: {}", validation.expression.trim()),
        message => message.to_owned(),
    }
}

/// Cuts a value to the most bytes that an annotation may have (PO-61, PO-62).
fn cut(text: &str) -> String {
    let bytes = text.as_bytes();
    lossy(bytes.get(..MAX_ANNOTATION).unwrap_or(bytes))
}

impl Decision {
    /// PO-50
    fn error(text: String, fails_closed: bool) -> Self {
        match fails_closed {
            true => Decision::Deny { message: text, reason: None, is_error: true },
            false => Decision::Ignored(text),
        }
    }

    fn timed(self) -> Timed<Self> {
        (self, Duration::ZERO)
    }
}

impl From<&Decision> for PolicyVerdict {
    fn from(decision: &Decision) -> Self {
        match decision {
            Decision::Admit => PolicyVerdict::Admitted,
            Decision::Ignored(text) => PolicyVerdict::ErrorIgnored(text.clone()),
            Decision::Deny { message, reason, is_error } => PolicyVerdict::Denied {
                message: message.clone(),
                reason: reason.clone().unwrap_or_default(),
                is_error: *is_error,
            },
        }
    }
}

impl Denial {
    /// PO-54
    fn status(&self, request: &AdmissionAttributes) -> Status {
        let binding = self.binding.as_ref().map(|name| format!(" with binding '{name}'"));
        let message = format!(
            "ValidatingAdmissionPolicy '{}'{} denied request: {}",
            self.policy,
            binding.unwrap_or_default(),
            self.message
        );
        let reason = self.reason.as_deref().unwrap_or("Invalid");
        let code = match reason {
            "Forbidden" => 403,
            "Unauthorized" => 401,
            "RequestEntityTooLarge" => 413,
            _ => 422,
        };
        let mut status = denied(request, &message, code, reason);
        let name = status.details.as_ref().map(|it| it.name.clone()).unwrap_or_default();
        status.message =
            format!("{} \"{name}\" is forbidden: {message}", request.resource.qualified());
        status
    }
}

/// A status with the details of the request and the message as its cause.
pub(crate) fn denied(
    request: &AdmissionAttributes,
    message: &str,
    code: i32,
    reason: &str,
) -> Status {
    let mut status = Status::failure(code, reason, message);
    let mut details = StatusDetails::default();
    details.name = shown_name(request);
    details.group.clone_from(&request.resource.group);
    details.kind.clone_from(&request.resource.resource);
    let mut cause = StatusCause::default();
    message.clone_into(&mut cause.message);
    details.causes.push(cause);
    status.details = Some(Box::new(details));
    status
}

/// The name that errors about a request show (PO-54).
fn shown_name(request: &AdmissionAttributes) -> String {
    let of_object = |name: &str| {
        let metadata = request.object.as_deref().and_then(|object| object.get("metadata"));
        metadata.and_then(|it| it.get(name)).and_then(Json::as_str).unwrap_or_default()
    };
    let names = [request.name.as_str(), of_object("name"), of_object("generateName")];
    names.into_iter().find(|name| !name.is_empty()).unwrap_or("Unknown").to_owned()
}

/// The audit annotations of a policy: by key the distinct values in the order they came (PO-61).
#[derive(Default)]
struct Published(BTreeMap<String, Vec<String>>);

impl Published {
    fn add(&mut self, key: &str, value: Option<String>) {
        let Some(value) = value else { return };
        let values = self.0.entry(key.to_owned()).or_default();
        if !values.contains(&value) {
            values.push(value);
        }
    }

    fn into_annotations(self, policy: &str) -> Vec<(String, String)> {
        let annotation =
            |(key, values): (String, Vec<String>)| (format!("{policy}/{key}"), values.join(", "));
        self.0.into_iter().map(annotation).collect()
    }
}
