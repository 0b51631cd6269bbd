//! Objects that violate rules.

use billhook::{FieldError, FieldPath};
use billhook_apimachinery::value::deep_clone;
use serde_json::{Value, json};

use super::changes::{Hints, changes, near};
use super::constraints::{Broken, Constraints};
use super::oracle::{RulePlace, missed, ways};
use super::queue::{Candidate, Queue, TURN};
use super::sample::text;
use super::{find, replaced};

/// How many objects are tried to violate a rule.
const MAX_TRIES: usize = 800;
/// How many objects are tried until one violates nothing but the rule, once one violates it at all.
const MAX_MORE_TRIES: usize = 60;
/// How many objects are tried as those that are updated.
const MAX_OLD: usize = 12;

impl Constraints<'_> {
    /// Looks for an object that violates a rule and, if there is one, nothing else.
    pub(super) fn rule(
        &mut self,
        rule: &Value,
        place: RulePlace<'_>,
        schema: &Value,
        object: Option<&Value>,
        at: &FieldPath,
    ) {
        let name = words(rule);
        match object.and_then(|object| self.violation(rule, place, schema, object, at)) {
            Some(broken) => self.found.push(Broken { name: name.to_owned(), ..broken }),
            None => {
                self.leave("x-kubernetes-validations", at, name, self.reason(object));
            }
        }
    }

    fn violation(
        &self,
        rule: &Value,
        place: RulePlace<'_>,
        schema: &Value,
        object: &Value,
        at: &FieldPath,
    ) -> Option<Broken> {
        let hints = Hints::of([rule]);
        let uses_old = text(rule, "rule").contains("oldSelf");
        let mut queue = Queue::default();
        for (number, base) in self.bases(uses_old, schema, object, at, &hints).enumerate() {
            let old = uses_old.then(|| deep_clone(&base));
            let judged = self.oracle.judged(&base, old.as_ref());
            let missed = judged.map_or(0, |judged| judged.of_rule(place).map(missed).sum());
            queue.push(base, old, missed, vec![number.to_string()]);
        }
        let (mut fallback, mut tries, mut most) = (None, 0, MAX_TRIES);
        while let Some(candidate) = queue.pop() {
            let Candidate { object: from, known: old, tried, .. } = &candidate;
            let before = tries;
            let value = find(from, at)?;
            for changed in near(schema, value, &hints).skip(*tried).take(TURN) {
                tries += 1;
                let object = replaced(from, at, Some(changed));
                let Some(judged) = self.oracle.judged(&object, old.as_ref()) else { continue };
                if judged.of_rule(place).all(|verdict| verdict.is_kept) {
                    // One that takes another way through the rule leads on, the farther the better.
                    let missed = judged.of_rule(place).map(missed).sum();
                    let ways = judged.of_rule(place).map(ways).collect();
                    queue.push(object, old.as_ref().map(deep_clone), missed, ways);
                    continue;
                }
                let is_alone = judged.errors.len() == 1;
                let Some(error) = told(rule, judged.errors) else { continue };
                let status_of = self.oracle.status_of();
                let is_status = status_of.is_some();
                let old = old.as_ref().map(deep_clone).or(status_of);
                let (name, changed) = (String::new(), None);
                let needs_text = true;
                let broken = Broken { name, object, old, changed, is_status, error, needs_text };
                if is_alone {
                    return Some(broken);
                }
                if fallback.is_none() {
                    (fallback, most) = (Some(broken), tries + MAX_MORE_TRIES);
                }
            }
            if tries > most || self.oracle.is_exhausted() {
                break;
            }
            queue.give_back(candidate, tries - before);
        }
        fallback
    }

    /// The valid objects that are changed to violate a rule: the one that is given, one whose list is
    /// not empty and, if the rule compares with the old object, some with other values.
    fn bases(
        &self,
        uses_old: bool,
        schema: &Value,
        object: &Value,
        at: &FieldPath,
        hints: &Hints,
    ) -> impl Iterator<Item = Value> {
        let value = find(object, at);
        let items = schema.get("items").filter(|_| value.is_some_and(|it| *it == json!([])));
        let filled = items.and_then(|part| self.with(object, part, &at.clone().index(0)));
        let others = value.filter(|_| uses_old).map(|value| changes(schema, value, hints));
        let others = others.into_iter().flatten();
        let others = others.map(|value| replaced(object, at, Some(value)));
        let others = others.filter(|other| self.oracle.accepts(other, None)).take(MAX_OLD);
        [deep_clone(object)].into_iter().chain(filled).chain(others)
    }
}

/// A rule as its error shows it.
fn words(rule: &Value) -> &str {
    match text(rule, "message").trim() {
        "" => text(rule, "rule").trim(),
        message => message,
    }
}

/// The error about a rule; one with another message comes after those of the other
/// constraints.
fn told(rule: &Value, mut errors: Vec<FieldError>) -> Option<FieldError> {
    let last = errors.len().checked_sub(1)?;
    let is_told = |error: &FieldError| error.detail().contains(words(rule));
    let index = errors.iter().position(is_told).unwrap_or(last);
    Some(errors.swap_remove(index))
}
