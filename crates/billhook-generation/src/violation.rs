//! The search for objects that violate a rule.

use billhook::{FieldError, FieldPath};
use billhook_apimachinery::value::deep_clone;
use billhook_schema::SchemaView;
use serde_json::{Value, json};

use crate::changes::{changes, near};
use crate::hints::Hints;
use crate::oracle::{Oracle, RulePlace, missed, ways};
use crate::place::{find, replaced};
use crate::queue::{Candidate, Queue, TURN};
use crate::sample::sample;

/// How many objects are tried to violate a rule.
const MAX_TRIES: usize = 800;
/// How many objects are tried until one fits well, once one fits at all.
const MAX_MORE_TRIES: usize = 60;
/// How many objects are tried as those that are updated.
const MAX_OLD: usize = 12;

/// An object that violates a rule.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Violation {
    /// The object.
    pub object: Value,
    /// The object that it is an update of.
    pub old: Option<Value>,
    /// All its errors.
    pub errors: Vec<FieldError>,
}

/// How well a violation is what is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// Not at all.
    None,
    /// Unless there is a better one.
    Fair,
    /// There is none better.
    Good,
}

/// The values that are tried in place of another one.
type Values<'v> = Box<dyn Iterator<Item = Value> + 'v>;

impl Oracle<'_> {
    /// Looks for an object that violates a rule: near one that is accepted and has a value at the
    /// place of the rule. `fit` says how well each violation fits.
    pub fn violation(
        &self,
        rule: &Value,
        place: RulePlace<'_>,
        schema: &Value,
        object: &Value,
        at: &FieldPath,
        fit: &mut dyn FnMut(&Violation) -> Fit,
    ) -> Option<Violation> {
        let hints = Hints::of([rule]);
        let uses_old = SchemaView::new(rule).text("rule").contains("oldSelf");
        // With each object goes the one that it is an update of, and what is tried in its place.
        let mut queue: Queue<(Option<Value>, Option<Values<'_>>)> = Queue::default();
        for (number, base) in self.bases(uses_old, schema, object, at, &hints).enumerate() {
            let old = uses_old.then(|| deep_clone(&base));
            let judged = self.judged(&base, old.as_ref());
            let missed = judged.map_or(0, |judged| judged.of_rule(place).map(missed).sum());
            queue.push(base, (old, None), missed, vec![number.to_string()]);
        }
        let (mut fallback, mut tries, mut most) = (None, 0, MAX_TRIES);
        while let Some(mut candidate) = queue.pop() {
            let Candidate { object: from, known: (old, values), .. } = &mut candidate;
            let before = tries;
            let value = find(from, at)?;
            let values = values.get_or_insert_with(|| Box::new(near(schema, value, &hints)));
            for changed in values.by_ref().take(TURN) {
                tries += 1;
                let object = replaced(from, at, Some(changed));
                let Some(judged) = self.judged(&object, old.as_ref()) else { continue };
                if judged.of_rule(place).all(|verdict| verdict.is_kept) {
                    // One that takes another way through the rule leads on, the farther the better.
                    let missed = judged.of_rule(place).map(missed).sum();
                    let mut ways: Vec<String> = judged.of_rule(place).map(ways).collect();
                    ways.push(hints.outline(find(&object, at)));
                    queue.push(object, (old.as_ref().map(deep_clone), None), missed, ways);
                    continue;
                }
                let old = old.as_ref().map(deep_clone);
                let violation = Violation { object, old, errors: judged.errors };
                match fit(&violation) {
                    Fit::None => {}
                    Fit::Good => return Some(violation),
                    Fit::Fair if fallback.is_none() => {
                        (fallback, most) = (Some(violation), tries + MAX_MORE_TRIES);
                    }
                    Fit::Fair => {}
                }
            }
            if tries > most || self.is_exhausted() {
                break;
            }
            if tries > before {
                queue.give_back(candidate);
            }
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
        let is_empty = value.is_some_and(|it| *it == json!([]));
        let items = SchemaView::new(schema).items().filter(|_| is_empty);
        let first = at.clone().index(0);
        let filled = items.and_then(|part| self.with(object, part, &first));
        // It may be valid for another schema only.
        let with_item = items.map(|part| replaced(object, &first, Some(sample(part.written()))));
        let others = value.filter(|_| uses_old).map(|value| changes(schema, value, hints));
        let others = others.into_iter().flatten();
        let others = others.map(|value| replaced(object, at, Some(value)));
        let others = others.filter(|other| self.accepts(other, None)).take(MAX_OLD);
        [deep_clone(object)].into_iter().chain(filled).chain(others).chain(with_item)
    }
}
