//! The policies of a cluster, compiled once, found by an index.

mod compiled;
mod matching;

use std::collections::BTreeMap;
use std::sync::Arc;

use billhook::webhook::{MatcherIndex, RequestMatcher};

pub(crate) use compiled::{Annotation, Binding, Mutating, Mutation, Validating, Validation};
pub(crate) use matching::{
    Conditions, ConfigurationError, is_exempt, matching_bindings, matching_policy,
    namespace_not_found, other_kinds,
};

use crate::document::{MutatingAdmissionPolicy, PolicyDocument, ValidatingAdmissionPolicy};

/// Policies with their bindings, compiled once. A policy without a binding has no effect, and
/// neither has a binding without its policy (PO-23).
///
/// They are evaluated by the name of the policy, then by the name of the binding (PO-25). Of
/// several documents of the same kind and name the last one counts, as if it had been applied last.
#[derive(Clone, Default)]
pub struct PolicySet {
    validating: Arc<Indexed<Validating>>,
    mutating: Arc<Indexed<Mutating>>,
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
        let mut bindings: BTreeMap<String, Vec<Binding>> = BTreeMap::new();
        for (name, binding) in of_validating {
            let policy = binding.spec.policy_name.clone();
            bindings.entry(policy).or_default().push(Binding::validating(name, binding.spec));
        }
        let policies = validating.into_iter().filter_map(|(name, policy)| {
            Some(Validating::new(name.clone(), policy.spec, bindings.remove(&name)?))
        });
        let validating = Indexed::new(policies.collect(), |policy| &policy.head.matcher);
        let mut bindings: BTreeMap<String, Vec<Binding>> = BTreeMap::new();
        for (name, binding) in of_mutating {
            let policy = binding.spec.policy_name.clone();
            bindings.entry(policy).or_default().push(Binding::mutating(name, &binding.spec));
        }
        let policies = mutating.into_iter().filter_map(|(name, policy)| {
            Some(Mutating::new(name.clone(), policy.spec, bindings.remove(&name)?))
        });
        let mutating = Indexed::new(policies.collect(), |policy| &policy.head.matcher);
        PolicySet { validating: Arc::new(validating), mutating: Arc::new(mutating) }
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
}
