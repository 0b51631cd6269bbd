//! `allOf`, `anyOf`, `oneOf` and `not`: what follows from what is known, and what contradicts it.

use billhook_regex::Texts;
use billhook_schema::JsonSchemaProps;

use super::entries::Entries;
use super::known::Known;
use super::{Kinds, Prover};
use crate::limits::MAX_CASES;

impl<'s> Prover<'s> {
    pub(super) fn meets_junctors(&self, known: &Known<'s>, target: &'s JsonSchemaProps) -> bool {
        target.all_of.iter().all(|part| self.implies(known, part))
            && self.meets_any_of(known, &target.any_of)
            && self.meets_one_of(known, &target.one_of)
            && target.not.as_deref().is_none_or(|not| self.refutes(known, not))
    }

    /// Whether a value is valid for at least one of some schemas.
    pub(super) fn meets_any_of(&self, known: &Known<'s>, branches: &'s [JsonSchemaProps]) -> bool {
        branches.is_empty()
            || known.choices.iter().any(|choice| {
                // It is valid for one of these already.
                choice.branches.iter().all(|held| branches.contains(held))
            })
            || branches.iter().any(|branch| self.implies_within(known, branch, 1))
            || self.in_cases(known, MAX_CASES, &|case, _| self.meets_any_of(case, branches))
    }

    /// Whether a value is valid for exactly one of some schemas.
    pub(super) fn meets_one_of(&self, known: &Known<'s>, branches: &'s [JsonSchemaProps]) -> bool {
        let is_held = known.choices.iter().any(|choice| {
            let held = choice.branches;
            choice.exactly_one
                && held.len() == branches.len()
                && held.iter().all(|branch| branches.contains(branch))
                && branches.iter().all(|branch| held.contains(branch))
        });
        let is_the_one = |index: usize| {
            branches.iter().enumerate().all(|(other, branch)| match other == index {
                true => self.implies_within(known, branch, 1),
                false => self.refutes(known, branch),
            })
        };
        branches.is_empty()
            || is_held
            || (0..branches.len()).any(is_the_one)
            || self.in_cases(known, MAX_CASES, &|case, _| self.meets_one_of(case, branches))
    }

    /// Whether it is proved that a value of which this is known, and which is not null, is invalid
    /// for a schema.
    pub(crate) fn refutes(&self, known: &Known<'s>, target: &'s JsonSchemaProps) -> bool {
        self.step(|| {
            self.contradicts(known, target)
                || known.fails.iter().any(|failed| self.is_within(known, target, failed))
                || target.all_of.iter().any(|part| self.refutes(known, part))
                || target.not.as_deref().is_some_and(|not| self.implies_within(known, not, 1))
                || (!target.any_of.is_empty()
                    && target.any_of.iter().all(|part| self.refutes(known, part)))
                || (!target.one_of.is_empty()
                    && target.one_of.iter().all(|part| self.refutes(known, part)))
        })
    }

    /// Whether all values that are valid for a schema, beside what is known, are valid for one
    /// that the value is known to be invalid for.
    fn is_within(
        &self,
        known: &Known<'s>,
        target: &'s JsonSchemaProps,
        failed: &'s JsonSchemaProps,
    ) -> bool {
        if target == failed {
            return true;
        }
        let mut inside = Known { fails: Vec::new(), choices: Vec::new(), ..known.clone() };
        inside.hold(target);
        self.implies_within(&inside, failed, 1)
    }

    /// Whether a keyword of a schema contradicts what is known.
    fn contradicts(&self, known: &Known<'s>, target: &'s JsonSchemaProps) -> bool {
        let kinds = known.kinds.without(Kinds::NULL);
        if kinds.and(self.kinds_of(target)).is_empty() {
            return true;
        }
        if !target.enum_.is_empty()
            && kinds.is_within(Kinds::STRING.or(Kinds::BOOL))
            && let Some(mut entries) = known.enumeration()
        {
            let own = Entries::new(target.enum_.iter().map(|entry| &**entry));
            if !entries.any(|entry| own.contain(entry)) {
                return true;
            }
        }
        match kinds {
            Kinds::OBJECT => self.contradicts_members(known, target),
            Kinds::ARRAY => {
                let (min, max) =
                    (known.at_least(|it| it.min_items), known.at_most(|it| it.max_items));
                is_apart(min, max, target.min_items, target.max_items)
            }
            Kinds::STRING => self.contradicts_text(known, target),
            _ => false,
        }
    }

    fn contradicts_members(&self, known: &Known<'s>, target: &'s JsonSchemaProps) -> bool {
        let mut required = target.required.iter().flatten();
        let mut listed = target.properties.iter().flatten();
        let known_count = known.names().map(|names| names.len() as i64);
        required.any(|name| !known.can_have(name))
            || listed.any(|(name, part)| {
                let member = known.member(name);
                known.requires(name)
                    && !member.kinds.include(Kinds::NULL)
                    && self.refutes(&member, part)
            })
            || target.min_properties.zip(known_count).is_some_and(|(min, most)| min > most)
            || target.max_properties.is_some_and(|max| max < known.required_count() as i64)
    }

    fn contradicts_text(&self, known: &Known<'s>, target: &'s JsonSchemaProps) -> bool {
        let (min, max) = (known.at_least(|it| it.min_length), known.at_most(|it| it.max_length));
        if is_apart(min, max, target.min_length, target.max_length) {
            return true;
        }
        let Some(pattern) = Some(&target.pattern).filter(|pattern| !pattern.is_empty()) else {
            return false;
        };
        let Some(pattern) = self.pattern(pattern) else { return false };
        self.shortest(self.known_texts(known).map(|texts: Texts| texts.matching(&pattern)))
            .is_some_and(|found| found.is_none())
    }
}

/// Whether two ranges have nothing in common.
fn is_apart(min: i64, max: Option<i64>, own_min: Option<i64>, own_max: Option<i64>) -> bool {
    own_max.is_some_and(|own| own < min) || own_min.zip(max).is_some_and(|(own, max)| own > max)
}
