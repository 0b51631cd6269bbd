//! Versions of the new definition that are converted into each other by the strategy None: what is
//! written in one survives a visit to the other (CC-25).

use billhook::{DecodeOptions, DeepValue, FieldPath, Segment};
use billhook_apimachinery::value::{deep_clone, deep_eq, grow};
use billhook_schema::JsonSchemaProps;
use serde_json::Value;

use crate::answer::{Answer, Question, Verdict};
use crate::inclusion::{Bare, Kinds, Mode, Obstacle, StoredEffect, walk};
use crate::search::run::{self, Unknown};
use crate::version::{Pair, Side, Witness};

/// The answers about versions of the new definition. What the old definition loses alike is not
/// reported.
pub(crate) fn answers(old: &[Side], new: &[Side], bare: &Bare) -> Vec<Answer> {
    let mut answers = Vec::new();
    for from in new {
        for to in new {
            let is_read = from.version.is_served() || from.version.is_storage();
            let is_asked = is_read && to.version.is_served();
            if from.version.name() == to.version.name()
                || !is_asked
                || from.version.definition().is_converted_by_webhook()
                || from.version.definition().preserves_unknown_fields()
            {
                continue;
            }
            let before =
                |side: &Side| old.iter().find(|other| other.version.name() == side.version.name());
            let known = before(from)
                .zip(before(to))
                .filter(|(from, _)| !from.version.definition().is_converted_by_webhook());
            let is_same = known.is_some_and(|(old_from, old_to)| {
                deep_eq(&old_from.document, &from.document)
                    && deep_eq(&old_to.document, &to.document)
            });
            let is_stored_alike = storage(old) == storage(new);
            if is_same && is_stored_alike {
                continue;
            }
            // What was kept in storage before may be lost there now.
            let known = known.filter(|_| is_stored_alike);
            let known: Vec<FieldPath> = known.map_or_else(Vec::new, |(from, to)| {
                let pair = Pair::new(from, to, bare);
                let lost = lossy(&pair).into_iter().filter(|obstacle| !obstacle.is_rest());
                lost.map(|obstacle| obstacle.path).collect()
            });
            let pair = Pair::new(from, to, bare);
            answers.extend(of_pair(&pair, &known));
        }
    }
    answers
}

/// The version that objects are stored in.
fn storage(sides: &[Side]) -> Option<&str> {
    let stored = sides.iter().find(|side| side.version.is_storage());
    stored.map(|side| side.version.name())
}

fn of_pair(pair: &Pair<'_>, known: &[FieldPath]) -> Vec<Answer> {
    let version = format!("{}->{}", pair.old.version.name(), pair.new.version.name());
    let mut answers = Vec::new();
    for obstacle in lossy(pair) {
        if known.contains(&obstacle.path) {
            continue;
        }
        let witness = lost(pair, &obstacle);
        let mut answer = pair.about(Question::Stored, &obstacle, witness);
        if !obstacle.is_rest() {
            answer.change = format!("{} has other fields", pair.new.version.name());
        }
        answers.push(Answer { version: version.clone(), ..answer });
    }
    if answers.is_empty() {
        let reason = match known {
            [] => "what one version writes survives a visit to the other",
            _ => "nothing is lost that was not lost before",
        };
        let safe =
            Answer { reason: reason.to_owned(), ..pair.answer(Question::Stored, Verdict::Safe) };
        answers.push(Answer { version, ..safe });
    }
    answers
}

/// The places where something may be lost.
fn lossy<'s>(pair: &Pair<'s>) -> Vec<Obstacle<'s>> {
    let found = walk(&pair.prover, pair.old.shape(), pair.new.shape(), Mode::Writes);
    let may_lose = |obstacle: &Obstacle<'_>| match obstacle.keyword {
        _ if obstacle.is_rest() => true,
        "properties" | "pruning" | "x-kubernetes-embedded-resource" => true,
        // Only a null that is kept is stored; elements are not removed (DF-14), nor what has a default
        // (DF-10), which is not set on the way (RP-82).
        "nullable" => {
            let is_element = matches!(obstacle.path.segments().last(), Some(Segment::Index(_)));
            let has_default = obstacle.nodes.1.default.is_some();
            obstacle.stored == StoredEffect::Open && !is_element && !has_default
        }
        "type" => has_members(pair, obstacle.nodes.0),
        _ => false,
    };
    found.into_iter().filter(may_lose).collect()
}

/// Whether values of a schema may have members, which alone are pruned: scalars are kept, whatever
/// the type.
fn has_members(pair: &Pair<'_>, schema: &JsonSchemaProps) -> bool {
    let kinds = pair.prover.kinds_of(schema);
    let in_elements = || match schema.items_schema() {
        Some(items) => grow(|| has_members(pair, items)),
        None => true,
    };
    kinds.include(Kinds::OBJECT) || (kinds.include(Kinds::ARRAY) && in_elements())
}

/// An object that loses something on the way to the other version and back.
fn lost(pair: &Pair<'_>, obstacle: &Obstacle<'_>) -> Option<Witness> {
    let builder = &pair.old_builder;
    builder.at(&obstacle.path, || {
        let around = builder.around(&obstacle.path)?;
        obstacle.attempts.iter().find_map(|attempt| {
            let objects = crate::version::attempted(builder, attempt, obstacle, &around);
            objects.into_iter().find_map(|object| {
                let stored = run::write(&pair.old.version, &object, Unknown::Refused).ok()?;
                let there = converted(&pair.new.version, &stored)?;
                let back = converted(&pair.old.version, &there)?;
                let path = run::first_difference(&stored, &back)?;
                Some(Witness {
                    value: object,
                    reason: format!("`{path}` is lost on the way there and back"),
                })
            })
        })
    })
}

fn converted(to: &billhook::CrdVersion, object: &Value) -> Option<DeepValue> {
    let mut object = DeepValue::from(deep_clone(object));
    to.convert_value(&mut object, &DecodeOptions::default()).ok()?;
    Some(object)
}
