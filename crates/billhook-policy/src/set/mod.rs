//! The policies of a cluster, compiled once, found by an index.

mod compiled;
mod matching;

use std::collections::BTreeMap;
use std::sync::Arc;

use billhook::webhook::{CelConditions, MatcherIndex, RequestMatcher};
use billhook_apimachinery::KubernetesVersion;

pub(crate) use compiled::{
    Annotation, Binding, Compiled, FailurePolicy, Head, Mutating, Validating, Validation,
};
pub(crate) use matching::{
    Conditions, ConfigurationError, MatchedBinding, MatchedPolicy, is_exempt, is_selected,
    matching_bindings, matching_policies, namespace_not_found, other_kinds, param_kind, params_of,
};

use crate::document::{
    MutatingAdmissionPolicy, PolicyDocument, PolicyKind, ValidatingAdmissionPolicy,
};

/// Policies with their bindings, compiled once. A policy without a binding has no effect, and
/// neither has a binding without its policy (PO-23).
///
/// They are evaluated by the name of the policy, then by the name of the binding (PO-25). Of
/// several documents of the same kind and name the last one counts, as if it had been applied last.
#[derive(Clone, Default)]
pub struct PolicySet {
    validating: Arc<Indexed<Validating>>,
    mutating: Arc<Indexed<Mutating>>,
    /// Of validating and of mutating policies.
    without_effect: Arc<[Vec<WithoutEffect>; 2]>,
    /// Keeps match conditions that are compiled.
    conditions: CelConditions,
}

/// The name of a policy without a binding, or of a binding and of the policy that it lacks (PO-23).
type WithoutEffect = (String, Option<String>);

/// Bindings by the names of their policies.
type Bindings = BTreeMap<String, Vec<Binding>>;

/// Compiles the policies that have bindings; also returns what has no effect.
fn bound<D, P>(
    policies: BTreeMap<String, D>,
    mut bindings: Bindings,
    compile: impl Fn(String, D, Vec<Binding>) -> P,
) -> (Vec<P>, Vec<WithoutEffect>) {
    let (mut compiled, mut without_effect) = (Vec::new(), Vec::new());
    for (name, policy) in policies {
        match bindings.remove(&name) {
            Some(bindings) => compiled.push(compile(name, policy, bindings)),
            None => without_effect.push((name, None)),
        }
    }
    for (policy, bindings) in bindings {
        let lost = bindings.into_iter().map(|binding| (policy.clone(), Some(binding.name)));
        without_effect.extend(lost);
    }
    (compiled, without_effect)
}

/// Policies of a kind and their index.
pub(crate) struct Indexed<P> {
    pub(crate) policies: Vec<P>,
    pub(crate) index: MatcherIndex,
}

impl<P> Default for Indexed<P> {
    fn default() -> Self {
        Indexed { policies: Vec::new(), index: MatcherIndex::default() }
    }
}

impl<P> Indexed<P> {
    fn new(policies: Vec<P>, matcher: fn(&P) -> &RequestMatcher) -> Self {
        let index = MatcherIndex::new(policies.iter().map(matcher));
        Indexed { policies, index }
    }
}

impl std::fmt::Debug for PolicySet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PolicySet")
            .field("validating", &self.validating.policies.len())
            .field("mutating", &self.mutating.policies.len())
            .finish()
    }
}

impl PolicySet {
    /// Compiles policies and bindings.
    pub fn new(documents: impl IntoIterator<Item = PolicyDocument>) -> Self {
        Self::for_kubernetes(KubernetesVersion::default(), documents)
    }

    /// Compiles policies and bindings as a server of a version does (KV-30).
    pub fn for_kubernetes(
        kubernetes: KubernetesVersion,
        documents: impl IntoIterator<Item = PolicyDocument>,
    ) -> Self {
        let mut validating: BTreeMap<String, ValidatingAdmissionPolicy> = BTreeMap::new();
        let mut mutating: BTreeMap<String, MutatingAdmissionPolicy> = BTreeMap::new();
        let (mut of_validating, mut of_mutating) = (BTreeMap::new(), BTreeMap::new());
        for document in documents {
            let name = document.name().to_owned();
            match document {
                PolicyDocument::Validating(policy) => drop(validating.insert(name, policy)),
                PolicyDocument::Mutating(policy) => drop(mutating.insert(name, policy)),
                PolicyDocument::ValidatingBinding(binding) => {
                    of_validating.insert(name, binding);
                }
                PolicyDocument::MutatingBinding(binding) => {
                    of_mutating.insert(name, binding);
                }
            }
        }
        let mut bindings = Bindings::new();
        for (name, binding) in of_validating {
            let policy = binding.spec.policy_name.clone();
            bindings.entry(policy).or_default().push(Binding::validating(name, binding.spec));
        }
        let (validating, unbound_validating) = bound(validating, bindings, |name, it, bindings| {
            Validating::new(name, &it.spec, bindings, kubernetes)
        });
        let mut bindings = Bindings::new();
        for (name, binding) in of_mutating {
            let policy = binding.spec.policy_name.clone();
            bindings.entry(policy).or_default().push(Binding::mutating(name, &binding.spec));
        }
        let (mutating, unbound_mutating) = bound(mutating, bindings, |name, it, bindings| {
            Mutating::new(name, &it.spec, bindings, kubernetes)
        });
        PolicySet {
            validating: Arc::new(Indexed::new(validating, |it| &it.head.matcher)),
            mutating: Arc::new(Indexed::new(mutating, |it| &it.head.matcher)),
            without_effect: Arc::new([unbound_validating, unbound_mutating]),
            conditions: CelConditions::new().kubernetes(kubernetes),
        }
    }

    /// Returns whether it has no policy with a binding.
    pub fn is_empty(&self) -> bool {
        self.validating.policies.is_empty() && self.mutating.policies.is_empty()
    }

    pub(crate) fn validating(&self) -> &Indexed<Validating> {
        &self.validating
    }

    pub(crate) fn mutating(&self) -> &Indexed<Mutating> {
        &self.mutating
    }

    /// Returns the names of the policies, each with the name of each binding; empty for a policy
    /// without one, and a binding without its policy is among them.
    pub fn names(&self) -> impl Iterator<Item = (&str, &str)> {
        let kinds = [PolicyKind::Mutating, PolicyKind::Validating];
        let bound = kinds
            .into_iter()
            .flat_map(|kind| self.heads(kind))
            .flat_map(|head| head.bindings.iter().map(|binding| (&*head.name, &*binding.name)));
        let without = self.without_effect.iter().flatten();
        bound.chain(without.map(|(policy, binding)| (&**policy, binding.as_deref().unwrap_or(""))))
    }

    pub(crate) fn conditions(&self) -> &CelConditions {
        &self.conditions
    }

    /// Returns what all policies of a kind have, in order.
    pub(crate) fn heads(&self, kind: PolicyKind) -> Vec<&Head> {
        match kind {
            PolicyKind::Mutating => self.mutating.policies.iter().map(|it| &it.head).collect(),
            _ => self.validating.policies.iter().map(|it| &it.head).collect(),
        }
    }

    /// Returns the policies and bindings of a kind of policy that have no effect.
    pub(crate) fn without_effect(&self, kind: PolicyKind) -> &[WithoutEffect] {
        let [validating, mutating] = &*self.without_effect;
        if kind == PolicyKind::Mutating { mutating } else { validating }
    }
}
