//! Objects that are stored: they can be read, and updated elsewhere than where they offend (CC-21).

use billhook::FieldPath;
use billhook_apimachinery::value::{deep_clone, deep_eq};
use billhook_cel::{ReadPart, ReadStep, reads};
use billhook_generation::{Hints, changes, find, parent, replaced, schema_at, set_metadata};
use serde_json::{Value, json};

use crate::answer::{Answer, Question};
use crate::inclusion::{Obstacle, StoredEffect, shown};
use crate::limits::MAX_UPDATES;
use crate::rules;
use crate::search::odd::odd;
use crate::search::run::{self, Unknown};
use crate::version::{Candidate, Pair, Witness, are_nested};

/// The answers about stored objects.
pub(crate) fn answers(pair: &Pair<'_>) -> Vec<Answer> {
    let mut answers = Vec::new();
    let mut forgiven = 0;
    for (index, obstacle) in pair.obstacles().iter().enumerate() {
        if obstacle.stored != StoredEffect::Open {
            forgiven += usize::from(obstacle.stored == StoredEffect::Forgiven);
            continue;
        }
        let mut candidates = pair.candidates(index);
        let witness = candidates.find_map(|candidate| broken(pair, &candidate, obstacle));
        let witness = witness.or_else(|| {
            pair.violating(obstacle, &mut |candidate| broken(pair, candidate, obstacle))
        });
        let witness = witness.or_else(|| odd_ones(pair, index, obstacle));
        answers.push(pair.about(Question::Stored, obstacle, witness));
    }
    if answers.is_empty() {
        let reason = match forgiven {
            0 => "all that is stored is read as it is, and stays valid",
            _ => {
                "all that is stored is read as it is; what is invalid now is forgiven while it is unchanged (VV-80)"
            }
        };
        answers.push(pair.safe(Question::Stored, reason));
    }
    answers
}

/// A witness about a rule with a part that no schema describes: the rule cannot be asked of it, or what
/// violates the rule never equals itself.
fn odd_ones(pair: &Pair<'_>, index: usize, obstacle: &Obstacle<'_>) -> Option<Witness> {
    obstacle.rule()?;
    let path = &obstacle.path;
    let schema = schema_at(pair.old_builder.schema, path)?;
    let any = || {
        let around = pair.old_builder.around(path)?;
        let object = pair.old_builder.with_any(&around, path)?;
        Some(Candidate { object, old: None })
    };
    let any = pair.old_builder.at(path, any);
    let objects = pair.candidates(index).filter(|it| it.old.is_none()).chain(any);
    let mut odd = objects.flat_map(|Candidate { object, .. }| {
        let value = find(&object, path).map(deep_clone).unwrap_or_default();
        odd(&object, schema, &value, path).collect::<Vec<_>>()
    });
    odd.find_map(|object| broken(pair, &Candidate { object, old: None }, obstacle))
}

/// A witness that a stored object loses something, or cannot be updated elsewhere.
fn broken(pair: &Pair<'_>, candidate: &Candidate, obstacle: &Obstacle<'_>) -> Option<Witness> {
    let stored = run::write(&pair.old.version, &candidate.object, Unknown::Refused).ok()?;
    let read = match run::read(&pair.new.version, &stored) {
        Ok((read, _)) => read,
        Err(error) => {
            let reason = format!("it cannot be read any more: {error}");
            return Some(Witness { value: candidate.object.clone(), reason });
        }
    };
    if let Some(lost) = lost(&stored, &read, &FieldPath::default(), &obstacle.path) {
        let value = find(&stored, &lost).map(shown).unwrap_or_default();
        let reason = format!("`{lost}` is lost when it is read; it was {value}");
        return Some(Witness { value: candidate.object.clone(), reason });
    }
    refused_update(pair, &stored, &read, obstacle).map(|(after, text)| Witness {
        value: json!({"before": candidate.object, "after": after}),
        reason: format!("an update of another field is refused: {text}"),
    })
}

/// The first field on the way to a place, or below it, that is stored and not read.
fn lost(stored: &Value, read: &Value, at: &FieldPath, place: &FieldPath) -> Option<FieldPath> {
    if deep_eq(stored, read) || !are_nested(at, place) {
        return None;
    }
    match (stored, read) {
        (Value::Object(stored), Value::Object(read)) => {
            let mut names: Vec<&String> = stored.keys().collect();
            names.sort_unstable();
            let is_kept = |name: &&&String| !(at.is_empty() && name.as_str() == "metadata");
            names.iter().filter(is_kept).find_map(|name| {
                let path = at.clone().name(name.as_str());
                match (stored.get(*name), read.get(*name)) {
                    (Some(stored), Some(read)) => lost(stored, read, &path, place),
                    (Some(_), None) => Some(path),
                    _ => None,
                }
            })
        }
        (Value::Array(stored), Value::Array(read)) if stored.len() == read.len() => {
            let mut pairs = stored.iter().zip(read).enumerate();
            pairs.find_map(|(index, (stored, read))| {
                lost(stored, read, &FieldPath::index(at.clone(), index), place)
            })
        }
        _ => Some(at.clone()),
    }
}

/// An update that leaves the offending field alone, that the old definition accepts and the new one
/// refuses for what the stored object has already.
fn refused_update(
    pair: &Pair<'_>,
    stored: &Value,
    read: &Value,
    obstacle: &Obstacle<'_>,
) -> Option<(Value, String)> {
    let path = &obstacle.path;
    let (old, new) = (&pair.old.version, &pair.new.version);
    let part = pair.part(path);
    if !pair.spend(1) {
        return None;
    }
    let standing = run::standing_errors(new, read, part);
    if standing.is_empty() || !pair.spend(standing.len() / 16) {
        return None;
    }
    let mut labeled = deep_clone(stored);
    label(&mut labeled);
    let mut rule = obstacle.rule().and_then(|rule| reads(&rule.rule).ok());
    if let Some(reads) = rule.as_mut().filter(|_| path.is_empty()) {
        // Whatever else changes, there is metadata.
        let is_metadata = |part: &ReadPart| matches!(part.path.as_slice(), [ReadStep::Field(name)] if **name == *"metadata");
        reads.parts.retain(|part| part.whole || !is_metadata(part));
    }
    // What is wrong with a list as a whole is not what is wrong with the fields of its elements.
    let is_list_of_objects = |value: Option<&Value>| {
        value.and_then(Value::as_array).is_some_and(|list| list.iter().all(Value::is_object))
    };
    let has_inside = is_list_of_objects(find(stored, path))
        || (rule.is_some() && find(stored, path).is_some_and(Value::is_object));
    let inside = has_inside.then(|| path.clone());
    let others = inside.into_iter().chain(around(path)).flat_map(|place| {
        let schema = schema_at(pair.old_builder.schema, &place);
        let value = find(stored, &place).zip(schema);
        let changed = value.map(|(value, schema)| changes(schema, value, &Hints::default()));
        let changed = changed.into_iter().flatten().take(MAX_UPDATES);
        changed.map(move |value| replaced(stored, &place, Some(value)))
    });
    let is_elsewhere = |object: &Value| match (find(stored, path), find(object, path)) {
        (Some(Value::Array(one)), Some(other)) if is_list_of_objects(Some(other)) => {
            other.as_array().is_some_and(|other| other.len() == one.len())
        }
        (Some(one), Some(other)) => path.is_empty() || one.is_object() || deep_eq(one, other),
        (None, None) => true,
        _ => false,
    };
    for object in [labeled].into_iter().chain(others).filter(is_elsewhere).take(4 * MAX_UPDATES) {
        // Each error takes time.
        if !pair.spend(1 + standing.len() / 16) {
            return None;
        }
        let is_offending = rule.as_ref().is_some_and(|reads| {
            let (before, after) = (find(stored, path), find(&object, path));
            !rules::is_read_same(reads, obstacle.nodes.1, before, after)
        });
        if is_offending {
            continue;
        }
        let Err(refusal) = run::update(new, read, &object, part, Unknown::Dropped) else {
            continue;
        };
        let is_old = refusal.errors.iter().any(|error| standing.contains(&run::error_kind(error)));
        if is_old
            && pair.is_refused_for(obstacle, &refusal, (&object, Some(stored)))
            && run::update(old, stored, &object, part, Unknown::Refused).is_ok()
        {
            let mut shown = object;
            for name in ["resourceVersion", "generation"] {
                set_metadata(&mut shown, name, None);
            }
            return Some((shown, refusal.text));
        }
    }
    None
}

/// The places around one, from the inside.
fn around(path: &FieldPath) -> impl Iterator<Item = FieldPath> {
    let above = std::iter::successors(parent(path), parent);
    path.is_empty().then(FieldPath::default).into_iter().chain(above)
}

fn label(object: &mut Value) {
    set_metadata(object, "labels", None);
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.insert("labels".to_owned(), json!({"touched": "true"}));
    }
}
