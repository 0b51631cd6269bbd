//! Definitions that prune from now on what they have kept so far (`spec.preserveUnknownFields`).

use billhook::FieldPath;
use billhook_apimachinery::value::deep_clone;
use serde_json::Value;

use crate::answer::{Answer, Question, Verdict};
use crate::search::run::{self, Unknown};
use crate::version::Pair;

/// A field that no schema describes.
const UNKNOWN: &str = "key0";

/// The answers to a question about a version in which unknown fields were kept. All but the loss of
/// such a field is undecided.
pub(crate) fn answers(pair: &Pair<'_>, question: Question, reason: &str) -> Vec<Answer> {
    let lost = match question {
        Question::Writers | Question::Stored if pair.preserves() == (true, false) => {
            lost(pair, question)
        }
        _ => None,
    };
    lost.into_iter().chain([pair.undecided(question, reason)]).collect()
}

/// The loss of a field that no schema describes.
fn lost(pair: &Pair<'_>, question: Question) -> Option<Answer> {
    let (old, new) = (&pair.old.version, &pair.new.version);
    let mut object = deep_clone(pair.old_builder.base()?);
    object.as_object_mut()?.insert(UNKNOWN.to_owned(), Value::from(1));
    let stored = run::write(old, &object, Unknown::Refused).ok()?;
    stored.get(UNKNOWN)?;
    let after = match question {
        Question::Writers => run::write(new, &object, Unknown::Dropped).ok()?,
        _ => run::read(new, &stored).ok()?.0,
    };
    after.get(UNKNOWN).is_none().then(|| Answer {
        path: FieldPath::default().name(UNKNOWN),
        change: "fields that no schema describes are no longer kept".to_owned(),
        reason: format!("`{UNKNOWN}` is lost"),
        witness: Some(object.into()),
        ..pair.answer(question, Verdict::Breaks)
    })
}
