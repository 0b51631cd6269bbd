//! Objects that violate rules.

use billhook_apimachinery::value::deep_clone;
use serde_json::Value;

use super::changes::{Hints, changes, hinted};
use super::constraints::{Broken, Constraints};
use super::sample::text;
use super::{Step, find, replaced};

/// How many objects are tried to violate a rule.
const MAX_TRIES: usize = 1_500;
/// How many objects are tried as those that are updated.
const MAX_OLD: usize = 12;

impl Constraints<'_> {
    /// Looks for an object that violates a rule and, if there is one, nothing else.
    pub(super) fn rule(
        &mut self,
        rule: &Value,
        place: (&str, usize),
        schema: &Value,
        object: Option<&Value>,
        steps: &[Step],
    ) {
        let name = match text(rule, "message").trim() {
            "" => text(rule, "rule").trim(),
            message => message,
        };
        match object.and_then(|object| self.violation(rule, place, schema, object, steps)) {
            Some(broken) => self.found.push(Broken { name: name.to_owned(), ..broken }),
            None => self.leave("x-kubernetes-validations", steps, name),
        }
    }

    fn violation(
        &self,
        rule: &Value,
        place: (&str, usize),
        schema: &Value,
        object: &Value,
        steps: &[Step],
    ) -> Option<Broken> {
        let hints = Hints::of([rule]);
        let uses_old = text(rule, "rule").contains("oldSelf");
        let mut fallback = None;
        let mut tries = 0;
        for base in self.bases(uses_old, schema, object, steps, &hints) {
            let value = find(&base, steps)?;
            let once = changes(schema, value, &hints);
            let first = hinted(schema, value, &hints);
            let twice = first.iter().flat_map(|changed| hinted(schema, changed, &hints));
            let old = uses_old.then(|| deep_clone(&base));
            for changed in once.into_iter().chain(twice) {
                tries += 1;
                if tries > MAX_TRIES || self.oracle.is_exhausted() {
                    return fallback;
                }
                let object = replaced(&base, steps, Some(changed));
                let errors = self.oracle.violation(&object, old.as_ref(), place);
                let Some(errors) = errors else { continue };
                let is_alone = errors.len() == 1;
                let Some(error) = errors.into_iter().next() else { continue };
                let status_of = self.oracle.status_of();
                let is_status = status_of.is_some();
                let old = old.as_ref().map(deep_clone).or(status_of);
                let (name, changed) = (String::new(), None);
                let needs_text = true;
                let broken = Broken { name, object, old, changed, is_status, error, needs_text };
                if is_alone {
                    return Some(broken);
                }
                fallback = fallback.or(Some(broken));
            }
        }
        fallback
    }

    /// The objects that are changed to violate a rule: one or, if the rule compares with the old
    /// object, also valid ones that have more.
    fn bases(
        &self,
        uses_old: bool,
        schema: &Value,
        object: &Value,
        steps: &[Step],
        hints: &Hints,
    ) -> Vec<Value> {
        let mut bases = vec![deep_clone(object)];
        if let (true, Some(value)) = (uses_old, find(object, steps)) {
            let others = changes(schema, value, hints).into_iter();
            let others = others.map(|value| replaced(object, steps, Some(value)));
            bases.extend(others.filter(|other| self.oracle.accepts(other, None)).take(MAX_OLD));
        }
        bases
    }
}
