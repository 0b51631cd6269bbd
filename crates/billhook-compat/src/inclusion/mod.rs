//! Whether all values that one schema admits are admitted by another one (CC-10 to CC-14).
//!
//! [`Prover::implies`] is a proof or nothing: where it says no, the question is open, and the caller
//! asks looks for a witness. [`walk`] goes through two structural schemas together and collects the
//! places without a proof.

mod attempt;
mod effects;
mod entries;
mod junctors;
mod kinds;
mod known;
mod names;
mod null;
mod numbers;
mod obstacle;
mod texts;
mod unmet;
mod walk;
mod words;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use billhook::{FieldPath, Segment};
use billhook_apimachinery::value::grow;
use billhook_regex::{Pattern, Patterns};
use billhook_schema::JsonSchemaProps;
use billhook_schema::props::SchemaOrBool;

use crate::limits::{MAX_CASES, MAX_PROOF_DEPTH, MAX_PROOF_STEPS, MAX_TEXT_SEARCHES};

pub(crate) use attempt::Attempt;
pub(crate) use kinds::Kinds;
pub(crate) use known::{Bare, Known, Shape, Unlisted};
pub(crate) use obstacle::{Mode, Obstacle, StoredEffect};
pub(crate) use walk::walk;
pub(crate) use words::{change, shown};

/// Looks for proofs, a bounded number of steps long.
pub(crate) struct Prover<'s> {
    pub(crate) bare: &'s Bare,
    /// Whether an update of the status forgives what has not changed (KV-80).
    pub(crate) ratchets_status: bool,
    /// Whether new objects are stored without a status.
    pub(crate) drops_status: bool,
    /// The names on the way to the replicas of a scale subresource, which are integers (RP-75).
    replicas: Option<Vec<String>>,
    steps: Cell<usize>,
    depth: Cell<usize>,
    text_searches: Cell<usize>,
    patterns: Patterns,
    /// The results of searches for texts.
    texts: RefCell<HashMap<texts::Query, Option<Option<String>>>>,
}

impl<'s> Prover<'s> {
    pub(crate) fn new(bare: &'s Bare) -> Self {
        Prover {
            bare,
            ratchets_status: false,
            drops_status: false,
            replicas: None,
            steps: Cell::new(MAX_PROOF_STEPS),
            depth: Cell::new(0),
            text_searches: Cell::new(MAX_TEXT_SEARCHES),
            patterns: Patterns::default(),
            texts: RefCell::default(),
        }
    }

    /// The same for a server that forgives what has not changed in a status, or does not.
    pub(crate) fn ratcheting_status(self, ratchets_status: bool) -> Self {
        Prover { ratchets_status, ..self }
    }

    /// Knows that new objects are stored without a status, whatever its default is.
    pub(crate) fn dropping_status(self, drops_status: bool) -> Self {
        Prover { drops_status, ..self }
    }

    /// Knows the place of the replicas, as it is written in a definition.
    pub(crate) fn with_replicas(self, path: Option<&str>) -> Self {
        let names = |path: &str| {
            path.split('.').filter(|name| !name.is_empty()).map(str::to_owned).collect()
        };
        Prover { replicas: path.map(names), ..self }
    }

    /// The names that lead from a place to the replicas, if any do.
    fn replicas_from(&self, place: &FieldPath) -> Option<&[String]> {
        let names = self.replicas.as_deref()?;
        let is_there = |(segment, name): (Segment<'_>, &String)| segment == Segment::Name(name);
        let is_on_the_way = place.segments().zip(names).all(is_there);
        names.get(place.segments().count()..).filter(|_| is_on_the_way)
    }

    /// The kinds that a schema admits.
    pub(crate) fn kinds_of(&self, schema: &JsonSchemaProps) -> Kinds {
        Kinds::of(schema, self.bare.kubernetes)
    }

    /// Takes a step of a proof; false if there have been too many, or it leads too deep.
    fn step(&self, step: impl FnOnce() -> bool) -> bool {
        let (left, depth) = (self.steps.get(), self.depth.get());
        if left == 0 || depth >= MAX_PROOF_DEPTH {
            return false;
        }
        self.steps.set(left - 1);
        self.depth.set(depth + 1);
        let holds = grow(step);
        self.depth.set(depth);
        holds
    }

    fn pattern(&self, written: &str) -> Option<Pattern> {
        self.patterns.get(written).ok()
    }

    /// Whether it is proved that a value of which this is known is valid for a schema.
    pub(crate) fn implies(&self, known: &Known<'s>, target: &'s JsonSchemaProps) -> bool {
        self.implies_within(known, target, MAX_CASES)
    }

    fn implies_within(&self, known: &Known<'s>, target: &'s JsonSchemaProps, cases: usize) -> bool {
        if known.kinds.include(Kinds::NULL) {
            if !self.kinds_of(target).include(Kinds::NULL) || !target.enum_.is_empty() {
                return false;
            }
            let kinds = known.kinds.without(Kinds::NULL);
            return self.implies_within(&Known { kinds, ..known.clone() }, target, cases);
        }
        self.step(|| {
            self.meets(known, target)
                || self.in_cases(known, cases, &|known, cases| {
                    self.implies_within(known, target, cases)
                })
        })
    }

    /// Whether something holds in each case that a choice makes; false if there is none.
    fn in_cases(
        &self,
        known: &Known<'s>,
        cases: usize,
        holds: &dyn Fn(&Known<'s>, usize) -> bool,
    ) -> bool {
        let mut rest = known.clone();
        if let Some(choice) = rest.choices.pop() {
            let count = choice.branches.len();
            if count > cases {
                return false;
            }
            return (0..count).all(|index| {
                let mut case = rest.clone();
                for (other, branch) in choice.branches.iter().enumerate() {
                    if other == index {
                        case.hold(branch);
                    } else if choice.exactly_one {
                        case.fails.push(branch);
                    }
                }
                let impossible = |branch| self.refutes(&rest, branch);
                choice.branches.get(index).is_some_and(impossible) || holds(&case, cases / count)
            });
        }
        let kinds: Vec<Kinds> = known.kinds.each().collect();
        kinds.len() > 1
            && kinds.len() <= cases
            && kinds.iter().all(|kind| {
                let case = Known { kinds: *kind, ..known.clone() };
                holds(&case, cases / kinds.len())
            })
    }

    /// Whether each part of a schema is implied by itself.
    fn meets(&self, known: &Known<'s>, target: &'s JsonSchemaProps) -> bool {
        // These are compared where structures are.
        let has_list_type = target.list_type.as_deref().is_some_and(|list| list != "atomic");
        let has_rules = target.validations.as_ref().is_some_and(|rules| !rules.is_empty());
        if has_list_type || has_rules || target.embedded_resource {
            return false;
        }
        if known.kinds.is_empty() || known.holds.iter().any(|held| std::ptr::eq(*held, target)) {
            return true;
        }
        self.unmet(known, target).is_empty()
            && self.meets_members(known, target)
            && self.meets_junctors(known, target)
    }

    fn meets_members(&self, known: &Known<'s>, target: &'s JsonSchemaProps) -> bool {
        if known.kinds.include(Kinds::ARRAY)
            && let Some(items) = target.items_schema()
            && known.at_most(|schema| schema.max_items) != Some(0)
            && !self.implies(&known.items(), items)
        {
            return false;
        }
        if !known.kinds.include(Kinds::OBJECT) {
            return true;
        }
        let listed = target.properties.iter().flatten();
        let mut listed = listed.filter(|(name, _)| known.can_have(name));
        if !listed.all(|(name, part)| self.implies(&known.member(name), part)) {
            return false;
        }
        let is_other = |name: &&str| target.property(name).is_none();
        match (&target.additional_properties, known.names()) {
            (None | Some(SchemaOrBool::Bool(true)), _) => true,
            (Some(SchemaOrBool::Bool(false)), names) => {
                names.is_some_and(|names| !names.iter().any(is_other))
            }
            (Some(SchemaOrBool::Schema(part)), Some(names)) => {
                let mut others = names.into_iter().filter(is_other);
                others.all(|name| self.implies(&known.member(name), part))
            }
            (Some(SchemaOrBool::Schema(part)), None) => {
                let shape = known.shape.and_then(|shape| shape.schema.properties.as_ref());
                shape.is_none_or(|listed| listed.is_empty())
                    && self.implies(&known.unlisted_member(), part)
            }
        }
    }
}
