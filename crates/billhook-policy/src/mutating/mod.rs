//! Evaluating the mutating policies for a request (PO-63 to PO-87).

mod configuration;
mod patch;
mod reinvocation;
mod repetition;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use billhook::type_meta;
use billhook::webhook::{AdmissionAttributes, Match, Operation};
use billhook_apimachinery::value::{DeepValue, semantically_equal};
use billhook_apimachinery::{GroupVersionKind, Status, StatusCause};
use billhook_cel::Value;

pub use reinvocation::PolicyReinvocation;
pub use repetition::PolicyRepetition;

use crate::activation::Shared;
use crate::context::PolicyContext;
use crate::observer::{PolicyCheck, PolicyEffect};
use crate::params::Params;
use crate::program::{BUDGET, Role};
use crate::record::{PolicyRecord, PolicyVerdict};
use crate::request_objects::RequestObjects;
use crate::set::{
    Binding, Conditions, ConfigurationError, Mutating, PolicySet, is_exempt, matching_bindings,
    matching_policies, other_kinds,
};
use crate::validating::{denied, resulted_in};
use repetition::repeat;

/// The effect of the mutating policies on a request.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MutationOutcome {
    /// The answer of a server that refuses the request (PO-85).
    pub result: Result<(), Status>,
    /// The object, if a policy changed it. It is of the kind that the last policy matched: if that
    /// is not the request's, it has to be converted back (PO-63).
    pub object: Option<DeepValue>,
    /// The fate of each policy that was for the request.
    pub records: Vec<PolicyRecord>,
    /// The policies that change their own output, if that was to be checked.
    pub repetitions: Vec<PolicyRepetition>,
}

impl PolicySet {
    /// Returns the kinds other than the request's that mutating policies match it in: the objects
    /// are converted into them.
    pub fn mutating_kinds(
        &self,
        request: &AdmissionAttributes,
        context: &PolicyContext<'_>,
    ) -> BTreeSet<GroupVersionKind> {
        other_kinds(self.mutating(), |policy| &policy.head, request, context)
    }

    /// Evaluates the mutating policies for a request. `reinvocation` is that of the request, new
    /// for its first pass; its [`end_pass`](PolicyReinvocation::end_pass) has to be called with the
    /// object that results.
    pub fn mutate(
        &self,
        request: &AdmissionAttributes,
        context: &PolicyContext<'_>,
        reinvocation: &mut PolicyReinvocation,
    ) -> MutationOutcome {
        let mut run = Run::new(reinvocation);
        let is_involved = request.operation != Operation::Delete && !is_exempt(&request.resource);
        let result = match is_involved {
            true => run.run(self, request, context),
            false => Ok(None),
        };
        let Run { errors, records, repetitions, .. } = run;
        let (object, result) = match result {
            Ok(object) => (object, refusal(request, &errors)),
            Err(status) => (None, Err(status)),
        };
        MutationOutcome { result, object, records, repetitions }
    }
}

/// An error of a policy that fails closed.
struct Failure {
    text: String,
    is_configuration: bool,
}

/// PO-85
fn refusal(request: &AdmissionAttributes, errors: &[Failure]) -> Result<(), Status> {
    let configuration = errors.iter().filter(|error| error.is_configuration);
    let mut errors = configuration.chain(errors.iter().filter(|error| !error.is_configuration));
    let Some(first) = errors.next() else { return Ok(()) };
    let reason = if first.is_configuration { "Forbidden" } else { "Invalid" };
    let mut status = denied(request, &first.text, 403, reason);
    let causes = errors.map(|error| {
        let mut cause = StatusCause::default();
        cause.message.clone_from(&error.text);
        cause
    });
    if let Some(details) = &mut status.details {
        details.causes.extend(causes);
    }
    Err(status)
}

/// A policy with a binding and a parameter.
struct Tuple<'p> {
    policy: &'p Mutating,
    binding: &'p Binding,
    params: Params,
    matched: Match,
}

impl Tuple<'_> {
    fn key(&self) -> String {
        format!("{}/{}/{}", self.policy.head.name, self.binding.name, self.params.key())
    }

    fn record(&self, index: Option<usize>, verdict: PolicyVerdict) -> PolicyRecord {
        PolicyRecord::new(&self.policy.head, self.binding, &self.params, index, verdict)
    }

    /// Tells who watches that a mutation was evaluated (PO-95).
    fn note(
        &self,
        mutated: &Result<Option<DeepValue>, MutationError>,
        took: Duration,
        context: &PolicyContext<'_>,
    ) {
        let Some(observer) = context.observer else { return };
        let message = match mutated {
            Ok(_) => None,
            Err(MutationError::Policy(text)) => Some(&**text),
            Err(MutationError::Request(status)) => Some(&*status.message),
        };
        let (policy, binding) = (&*self.policy.head.name, &*self.binding.name);
        let effect = PolicyEffect::Mutate;
        observer.checked(&PolicyCheck { policy, binding, effect, message, took });
    }
}

/// The object of a kind, and whether a mutation made it.
#[derive(Clone)]
struct Versioned {
    objects: RequestObjects,
    is_dirty: bool,
}

/// Why a mutation is not applied.
enum MutationError {
    /// The policy fails.
    Policy(String),
    /// The request fails under every failure policy.
    Request(Status),
}

struct Run<'r> {
    reinvocation: &'r mut PolicyReinvocation,
    errors: Vec<Failure>,
    records: Vec<PolicyRecord>,
    repetitions: Vec<PolicyRepetition>,
}

impl<'s> Run<'s> {
    fn new(reinvocation: &'s mut PolicyReinvocation) -> Self {
        Run { reinvocation, errors: Vec::new(), records: Vec::new(), repetitions: Vec::new() }
    }

    /// Returns the object of the last processed tuple if a mutation made it (PO-63, PO-81).
    fn run(
        &mut self,
        set: &PolicySet,
        request: &AdmissionAttributes,
        context: &PolicyContext<'_>,
    ) -> Result<Option<DeepValue>, Status> {
        self.reinvocation.start(request.object.as_ref());
        let mut versions = BTreeMap::new();
        let tuples = self.collect(set, request, context, &mut versions);
        let mut last = None;
        if !tuples.is_empty() {
            let shared = Shared::new(set, request, context)?;
            for tuple in &tuples {
                let Some(versioned) = versions.get_mut(&tuple.matched.kind) else { continue };
                let earlier = self.records.len();
                if self.process(tuple, versioned, &shared)? {
                    last = Some(&tuple.matched.kind);
                    if context.check_idempotence && !self.has_failed_since(earlier) {
                        self.repetitions.extend(repeat(tuple, versioned, set, &shared));
                    }
                }
            }
        }
        let last = last.and_then(|kind| versions.get(kind)).filter(|last| last.is_dirty);
        let object = last.and_then(|last| last.objects.object.as_ref());
        if object.is_some() {
            self.reinvocation.request();
        }
        Ok(object.cloned())
    }

    /// Returns all tuples that match, and converts the objects into the kinds that they match
    /// (PO-63).
    fn collect<'p>(
        &mut self,
        set: &'p PolicySet,
        request: &AdmissionAttributes,
        context: &PolicyContext<'_>,
        versions: &mut BTreeMap<GroupVersionKind, Versioned>,
    ) -> Vec<Tuple<'p>> {
        let mut tuples = Vec::new();
        let policies = matching_policies(set.mutating(), |it| &it.head, request, context);
        for (policy, matched) in policies {
            let matched = match matched {
                Ok(matched) => matched,
                Err(error) => {
                    self.misconfigured(policy, error);
                    continue;
                }
            };
            for bound in matching_bindings(&policy.head, &matched, request, context) {
                let matched = &matched.matched;
                let converted = match versions.contains_key(&matched.kind) {
                    true => Ok(()),
                    false => RequestObjects::matched(request, matched, context).map(|objects| {
                        let versioned = Versioned { objects, is_dirty: false };
                        versions.insert(matched.kind.clone(), versioned);
                    }),
                };
                let converted = converted
                    .map_err(|error| ConfigurationError::unconverted(bound.binding, &error));
                match bound.params.and_then(|params| converted.map(|()| params)) {
                    Ok(params) => tuples.extend(params.into_iter().map(|params| Tuple {
                        policy,
                        binding: bound.binding,
                        params,
                        matched: matched.clone(),
                    })),
                    Err(error) => self.misconfigured(policy, error),
                }
            }
        }
        tuples
    }

    /// PO-40, PO-85
    fn misconfigured(&mut self, policy: &Mutating, error: ConfigurationError) {
        let ConfigurationError { binding, text } = error;
        let name = &policy.head.name;
        let message = match &binding {
            Some(binding) => format!(
                "policy '{name}' with binding '{binding}' denied request: failed to configure \
                 binding: {text}"
            ),
            None => format!("policy \"{name}\" denied request: failed to configure policy: {text}"),
        };
        let verdict = self.failed(policy, message, true);
        self.records.push(PolicyRecord {
            policy: name.clone(),
            binding: binding.unwrap_or_default(),
            parameter: String::new(),
            index: None,
            verdict,
        });
    }

    fn failed(&mut self, policy: &Mutating, text: String, is_configuration: bool) -> PolicyVerdict {
        if !policy.head.fails_closed() {
            return PolicyVerdict::ErrorIgnored(text);
        }
        self.errors.push(Failure { text: text.clone(), is_configuration });
        PolicyVerdict::failed(text)
    }

    /// Whether a mutation after the first records failed.
    fn has_failed_since(&self, earlier: usize) -> bool {
        self.records.iter().skip(earlier).any(|record| record.verdict.error().is_some())
    }

    fn fail(&mut self, tuple: &Tuple<'_>, index: Option<usize>, error: &str) {
        let (policy, binding) = (&tuple.policy.head.name, &tuple.binding.name);
        let text = format!("policy '{policy}' with binding '{binding}' denied request: {error}");
        let verdict = self.failed(tuple.policy, text, false);
        self.records.push(tuple.record(index, verdict));
    }

    /// Runs the mutations of a tuple; whether it counts as processed (PO-64, PO-80 to PO-82).
    fn process(
        &mut self,
        tuple: &Tuple<'_>,
        versioned: &mut Versioned,
        shared: &Shared<'_>,
    ) -> Result<bool, Status> {
        let head = &tuple.policy.head;
        let input = versioned.objects.input(shared.request, &tuple.matched, tuple.params.value());
        match Conditions::of(head, &input, &shared.conditions, shared.context) {
            Conditions::Hold => {}
            Conditions::DoNotHold => {
                self.records.push(tuple.record(None, PolicyVerdict::ConditionsNotMet));
                return Ok(false);
            }
            Conditions::Failed(text) => {
                self.fail(tuple, None, &text);
                return Ok(false);
            }
        }
        let key = tuple.key();
        if self.reinvocation.skips(&key) {
            self.records.push(tuple.record(None, PolicyVerdict::NotReinvoked));
            return Ok(false);
        }
        let before = versioned.objects.object.clone();
        for index in 0..tuple.policy.mutations.len() {
            let Some(object) = versioned.objects.object.clone() else { break };
            let (mutated, took) = shared.context.timed(|| mutate(tuple, index, versioned, shared));
            tuple.note(&mutated, took, shared.context);
            match mutated {
                Ok(mutated) => {
                    versioned.is_dirty = true;
                    let changed = match mutated {
                        Some(mutated) => {
                            let changed = !semantically_equal(&object, &mutated);
                            versioned.objects.object = Some(mutated);
                            changed
                        }
                        None => false,
                    };
                    let verdict = PolicyVerdict::Mutated { changed };
                    self.records.push(tuple.record(Some(index), verdict));
                }
                Err(MutationError::Policy(text)) => self.fail(tuple, Some(index), &text),
                Err(MutationError::Request(status)) => return Err(status),
            }
        }
        let is_same = match (&before, &versioned.objects.object) {
            (Some(before), Some(after)) => semantically_equal(before, after),
            _ => true,
        };
        if !is_same {
            self.reinvocation.request();
        }
        if tuple.policy.is_reinvoked {
            self.reinvocation.note(key);
        }
        Ok(true)
    }
}

/// Evaluates a mutation and applies it; none if it leaves the object as it is (PO-66 to PO-75).
fn mutate(
    tuple: &Tuple<'_>,
    index: usize,
    versioned: &Versioned,
    shared: &Shared<'_>,
) -> Result<Option<DeepValue>, MutationError> {
    let policy_error = MutationError::Policy;
    let Some(object) = &versioned.objects.object else { return Ok(None) };
    let Some(mutation) = tuple.policy.mutations.get(index) else { return Ok(None) };
    let (kind, model) = (&tuple.matched.kind, shared.context.model);
    let input = versioned.objects.input(shared.request, &tuple.matched, tuple.params.value());
    let known = shared.known(&tuple.policy.head, &input);
    let activation = shared.activation(&known, &tuple.policy.head, true).map_err(policy_error)?;
    let program = mutation.program.as_ref().map_err(|text| policy_error(text.clone()))?;
    let pass = shared.pass(&tuple.policy.head, &activation);
    let evaluated = pass.evaluate(program, (mutation.role, index), BUDGET).map_err(policy_error)?;
    let made = evaluated
        .result
        .map_err(|error| policy_error(resulted_in(&mutation.expression, &error)))?;
    let schema = model.merge_schema(kind);
    let mut mutated = match (&made, mutation.role) {
        (Value::List(made), Role::JsonPatch) => {
            let Some(patched) = patch::apply(made, object).map_err(policy_error)? else {
                return Ok(None);
            };
            let unreadable = |text: String| MutationError::Request(Status::internal_error(&text));
            type_meta(&patched, &kind.kind).map_err(|error| unreadable(error.to_string()))?;
            let readable = model.check_readable(&patched, kind);
            readable.map_err(|error| unreadable(error.to_string()))?;
            if schema.is_none() {
                // A kind without a type cannot be made of what the patch leaves.
                return Err(policy_error(format!(
                    "request to convert CR to an invalid group/version: {}",
                    kind.api_version()
                )));
            }
            patched
        }
        _ => {
            let schema = schema.as_ref();
            configuration::apply(&made, object, schema, kind).map_err(policy_error)?
        }
    };
    let defaulted = model.apply_defaults(&mut mutated, kind);
    defaulted.map_err(|error| policy_error(error.to_string()))?;
    Ok(Some(mutated))
}
