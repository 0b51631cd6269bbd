//! Requests that the old definition accepts and that violate a rule of the new one (CC-14).

use std::collections::BTreeSet;

use billhook::FieldPath;
use billhook_apimachinery::value::deep_clone;
use billhook_generation::{Fit, Hints, Oracle, RulePlace, find, near, replaced};
use billhook_schema::SchemaView;
use serde_json::Value;

use crate::inclusion::{Attempt, Obstacle};
use crate::limits::{MAX_MENDED, MAX_VALUES, MAX_VIOLATIONS};
use crate::search::elements;
use crate::search::run::{self, Unknown};
use crate::search::texts::texts_between;
use crate::version::{Candidate, Pair};

/// How many objects are tried until one that violates a rule is acceptable.
const MAX_TRIES: usize = 200;

impl<'s> Pair<'s> {
    /// A request that the old definition accepts and that violates a rule of the new one.
    pub(crate) fn violation(
        &self,
        index: usize,
        obstacle: &Obstacle<'s>,
        around: &Value,
    ) -> Option<Candidate> {
        let found = self.violation_that(index, obstacle, around, &mut |_| Fit::Good);
        if found.is_none() {
            self.unviolated.borrow_mut().insert(place_of(index, obstacle));
        }
        found
            .or_else(|| self.hinted(obstacle, around))
            .or_else(|| self.of_elements(obstacle, around))
    }

    /// The first of some violations of the rule of an obstacle that is what is looked for.
    pub(crate) fn violating<R>(
        &self,
        obstacle: &Obstacle<'s>,
        wanted: &mut dyn FnMut(&Candidate) -> Option<R>,
    ) -> Option<R> {
        let Some(Attempt::Rule(index)) = obstacle.attempts.first() else { return None };
        if self.unviolated.borrow().contains(&place_of(*index, obstacle)) {
            return None;
        }
        let (mut found, mut left) = (None, MAX_VIOLATIONS);
        self.old_builder.at(&obstacle.path, || {
            let around = self.old_builder.around(&obstacle.path)?;
            self.violation_that(*index, obstacle, &around, &mut |candidate| {
                found = wanted(candidate);
                left -= 1;
                if found.is_some() || left == 0 { Fit::Good } else { Fit::Fair }
            })
        });
        found
    }

    /// The best of the requests that the old definition accepts and that violate a rule of the new
    /// one.
    fn violation_that(
        &self,
        index: usize,
        obstacle: &Obstacle<'s>,
        around: &Value,
        fit: &mut dyn FnMut(&Candidate) -> Fit,
    ) -> Option<Candidate> {
        let (builder, path) = (&self.new_builder, &obstacle.path);
        let document = billhook_generation::schema_at(&self.new.document, path)?;
        let rule = document.get("x-kubernetes-validations")?.get(index)?;
        // The old definition has to accept the values.
        let from = billhook_generation::schema_at(&self.old.document, path)?;
        let object = match path.is_empty() {
            true => deep_clone(around),
            false => self.old_builder.oracle.with(around, SchemaView::new(from), path)?,
        };
        let (pointer, _) = place_of(index, obstacle);
        let place = (pointer.as_str(), index);
        let (mut best, mut refused) = (None, BTreeSet::new());
        builder.at(path, || {
            builder.oracle.allow_more();
            builder.oracle.violation(rule, place, from, &object, path, &mut |violation| {
                let (object, old) = (&violation.object, violation.old.as_ref());
                let found = Candidate { object: deep_clone(object), old: old.map(deep_clone) };
                let accepted = match self.accepts(&found, path) {
                    true => Some(found),
                    false => self.mended(&found, path, place, &mut refused),
                };
                let Some(candidate) = accepted else { return Fit::None };
                let fits = fit(&candidate);
                if fits == Fit::Good || (fits == Fit::Fair && best.is_none()) {
                    best = Some(candidate);
                }
                fits
            })
        });
        best
    }

    /// Whether the old definition accepts a request.
    fn accepts(&self, candidate: &Candidate, path: &FieldPath) -> bool {
        let (old, object) = (&self.old.version, &candidate.object);
        match &candidate.old {
            None => run::write(old, object, Unknown::Refused).is_ok(),
            Some(before) => run::write(old, before, Unknown::Refused).is_ok_and(|stored| {
                run::update(old, &stored, object, self.part(path), Unknown::Refused).is_ok()
            }),
        }
    }

    /// A request like one that the old definition refuses, which it accepts, and which violates the
    /// rule as well. Of those that are refused alike, one is looked at.
    fn mended(
        &self,
        candidate: &Candidate,
        path: &FieldPath,
        place: RulePlace<'_>,
        refused: &mut BTreeSet<Vec<String>>,
    ) -> Option<Candidate> {
        if candidate.old.is_some() || refused.len() >= MAX_MENDED {
            return None;
        }
        self.mending(|mender| {
            let errors = mender.errors(&candidate.object, None);
            let errors = errors.iter().map(|it| format!("{} {}", it.field(), it.detail()));
            if !refused.insert(errors.collect()) {
                return None;
            }
            let violates = |object: &Value| {
                let judged = self.new_builder.oracle.judged(object, None);
                judged.is_some_and(|judged| judged.violates(place))
            };
            let object = mender.valid_within(MAX_TRIES, &candidate.object, &violates)?;
            Some(Candidate { object, old: None }).filter(|mended| self.accepts(mended, path))
        })
    }

    /// Does something to objects that the old definition is to accept, with a budget of its own.
    fn mending<R>(&self, work: impl FnOnce(&Oracle<'s>) -> Option<R>) -> Option<R> {
        let Some(base) = self.old_builder.oracle.status_of() else { return work(&self.mender) };
        let mut result = None;
        self.mender.with_status_of(&base, || result = work(&self.mender));
        result
    }

    /// An object with values that the rules of either definition mention, which only the old one
    /// accepts.
    fn hinted(&self, obstacle: &Obstacle<'s>, around: &Value) -> Option<Candidate> {
        let path = &obstacle.path;
        let document = billhook_generation::schema_at(&self.old.document, path)?;
        let hints = self.hints(obstacle)?;
        let object = match path.is_empty() {
            true => deep_clone(around),
            false => self.old_builder.oracle.with(around, SchemaView::new(document), path)?,
        };
        let values = near(document, find(&object, path)?, &hints).take(MAX_VALUES);
        let objects = values.map(|value| replaced(&object, path, Some(value)));
        // A rule that cannot be evaluated refuses all.
        let mut objects = [deep_clone(&object)].into_iter().chain(objects);
        let object = objects.find(|object| self.is_told_apart(obstacle, object))?;
        Some(Candidate { object, old: None })
    }

    /// The names and literals of the rules of both definitions at the place of an obstacle.
    fn hints(&self, obstacle: &Obstacle<'s>) -> Option<Hints> {
        let old = billhook_generation::schema_at(&self.old.document, &obstacle.path)?;
        let new = billhook_generation::schema_at(&self.new.document, &obstacle.path)?;
        let rules = |document: &'s Value| document.get("x-kubernetes-validations")?.as_array();
        let (held, wanted) = (rules(old), rules(new));
        let texts = texts_between(old, held.into_iter().flatten(), wanted.into_iter().flatten());
        let all = [held, wanted].into_iter().flatten().flatten();
        Some(Hints::of(all).with_texts(texts))
    }

    /// Whether only the old definition accepts an object, because of an obstacle.
    fn is_told_apart(&self, obstacle: &Obstacle<'_>, object: &Value) -> bool {
        run::write(&self.old.version, object, Unknown::Refused).is_ok()
            && run::write(&self.new.version, object, Unknown::Dropped)
                .is_err_and(|refusal| self.is_refused_for(obstacle, &refusal, (object, None)))
    }

    /// A list with several elements of which each is accepted alone, which only the old definition
    /// accepts.
    fn of_elements(&self, obstacle: &Obstacle<'s>, around: &Value) -> Option<Candidate> {
        let (path, hints) = (&obstacle.path, self.hints(obstacle)?);
        let object = self.mending(|mender| {
            let elements = elements::elements(mender, around, path, &hints);
            let mut lists = elements::lists(mender, around, path, &elements, &hints);
            lists.find(|object| self.is_told_apart(obstacle, object))
        })?;
        Some(Candidate { object, old: None })
    }
}

/// The place of a rule in the new schema.
fn place_of(index: usize, obstacle: &Obstacle<'_>) -> (String, usize) {
    (obstacle.places.1.to_json_pointer(), index)
}
