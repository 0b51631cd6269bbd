//! Which matchers may select a request, found by operation, group and resource without looking at
//! the rules of all others.

use std::collections::HashMap;

use billhook_apimachinery::GroupVersionResource;
use indexmap::IndexSet;

use super::attributes::{AdmissionAttributes, Operation};
use super::equivalence::EquivalentResources;
use super::matcher::RequestMatcher;
use super::rule::{CompiledRule, Names};

/// A rule with more pairs of group and resource than this is not spread over all of them.
const MAX_PAIRS: usize = 64;

/// The number of a name in the index.
type Id = u32;
/// Stands for all names.
const ANY: Id = 0;

/// Finds the [`RequestMatcher`]s that may select a request by its operation, group and resource.
#[derive(Clone, Debug, Default)]
pub struct MatcherIndex {
    /// The names that rules have, numbered from 1.
    names: IndexSet<String>,
    /// Positions of matchers, ascending.
    positions: HashMap<(Operation, Id, Id), Vec<usize>>,
}

impl MatcherIndex {
    /// Returns an index of matchers, which are known by their positions.
    pub fn new<'m>(matchers: impl IntoIterator<Item = &'m RequestMatcher>) -> Self {
        let mut index = MatcherIndex::default();
        for (position, matcher) in matchers.into_iter().enumerate() {
            for rule in matcher.rules() {
                index.add(position, rule);
            }
            if matcher.selects_everything() {
                for operation in Operation::ALL {
                    index.add_to(operation, (ANY, ANY), position);
                }
            }
        }
        index
    }

    fn add(&mut self, position: usize, rule: &CompiledRule) {
        let groups = match rule.groups() {
            Names::Any => None,
            Names::Listed(groups) => Some(groups),
        };
        let pairs = groups.map_or(1, Vec::len).saturating_mul(rule.resources().len());
        let pairs = if pairs > MAX_PAIRS {
            vec![(ANY, ANY)]
        } else {
            let groups: Vec<Id> = match groups {
                None => vec![ANY],
                Some(groups) => groups.iter().map(|group| self.number(group)).collect(),
            };
            let mut pairs = Vec::new();
            for (resource, _) in rule.resources() {
                let resource = resource.as_ref().map_or(ANY, |resource| self.number(resource));
                pairs.extend(groups.iter().map(|group| (*group, resource)));
            }
            pairs
        };
        for operation in rule.operations() {
            for (group, resource) in &pairs {
                self.add_to(*operation, (*group, *resource), position);
            }
        }
    }

    fn add_to(&mut self, operation: Operation, (group, resource): (Id, Id), position: usize) {
        let list = self.positions.entry((operation, group, resource)).or_default();
        if list.last() != Some(&position) {
            list.push(position);
        }
    }

    fn number(&mut self, name: &str) -> Id {
        number(self.names.insert_full(name.to_owned()).0)
    }

    /// Returns the positions of matchers in ascending order; those left out have no rule that could
    /// match.
    pub fn candidates(
        &self,
        attributes: &AdmissionAttributes,
        equivalents: &EquivalentResources,
    ) -> Vec<usize> {
        let AdmissionAttributes { operation, resource, subresource, .. } = attributes;
        let mut found: Vec<usize> = self.lists(*operation, resource).flatten().copied().collect();
        for other in equivalents.equivalents(resource, subresource) {
            // Versions of the same resource are found together.
            if (&other.group, &other.resource) != (&resource.group, &resource.resource) {
                found.extend(self.lists(*operation, other).flatten());
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Whether any matcher has a rule that could match the request's own resource.
    pub(super) fn has_candidates(&self, attributes: &AdmissionAttributes) -> bool {
        self.lists(attributes.operation, &attributes.resource).flatten().next().is_some()
    }

    /// The matchers with rules for an operation and a resource, in lists that may overlap.
    fn lists(
        &self,
        operation: Operation,
        resource: &GroupVersionResource,
    ) -> impl Iterator<Item = &Vec<usize>> {
        let known = |name: &str| self.names.get_index_of(name).map(number);
        let groups = [Some(ANY), known(&resource.group)];
        let names = [Some(ANY), known(&resource.resource)];
        let pairs = groups.into_iter().flatten().flat_map(move |group| {
            names.into_iter().flatten().map(move |name| (operation, group, name))
        });
        pairs.filter_map(|key| self.positions.get(&key))
    }
}

/// More names than numbers cannot be held in memory; all beyond would share the last one.
fn number(position: usize) -> Id {
    Id::try_from(position + 1).unwrap_or(Id::MAX)
}
