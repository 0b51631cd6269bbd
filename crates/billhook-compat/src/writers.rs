//! Manifests that were accepted: they are accepted, and what is stored is the same (CC-20).

use billhook::FieldPath;
use billhook_apimachinery::value::deep_eq;
use billhook_generation::find;
use serde_json::{Value, json};

use crate::answer::{Answer, Question};
use crate::inclusion::{Obstacle, shown};
use crate::search::run::{self, Unknown};
use crate::version::{self, Candidate, Pair, Witness, are_nested};

/// The answers about manifests.
pub(crate) fn answers(pair: &Pair<'_>) -> Vec<Answer> {
    let mut answers = Vec::new();
    for (index, obstacle) in pair.obstacles().iter().enumerate() {
        let mut candidates = pair.candidates(index);
        let witness = candidates.find_map(|it| broken(pair, &it, obstacle));
        answers.push(pair.about(Question::Writers, obstacle, witness));
    }
    answers.extend(status(pair));
    if answers.is_empty() {
        let reason = "all that the old schema admits is admitted and means the same";
        answers.push(pair.safe(Question::Writers, reason));
    }
    answers
}

/// Whether the status is written in another way.
fn status(pair: &Pair<'_>) -> Option<Answer> {
    let (old, new) = (&pair.old.version, &pair.new.version);
    let (before, after) = (old.has_status_subresource(), new.has_status_subresource());
    let path = FieldPath::default().name("status");
    let document = pair.old.document.get("properties").and_then(|listed| listed.get("status"));
    if before == after || (document.is_none() && !pair.old.schema.preserves_unknown_fields()) {
        return None;
    }
    let value = document.map_or_else(|| json!({"key0": 1}), billhook_generation::sample);
    let mut object = pair.old_builder.base()?.clone();
    object.as_object_mut()?.insert("status".to_owned(), value);
    let candidate = Candidate { object, old: None };
    let change = if after { "subresource status added" } else { "subresource status removed" };
    let witness = created_otherwise(pair, &candidate.object, &path);
    let place = FieldPath::default().name("subresources");
    let mut answer = match witness {
        Some(witness) => Answer {
            verdict: crate::Verdict::Breaks,
            reason: witness.reason,
            witness: Some(witness.value.into()),
            ..pair.undecided(Question::Writers, "")
        },
        None => pair.undecided(Question::Writers, "no object with a status was found"),
    };
    answer.path = path;
    answer.change = change.to_owned();
    answer.old_place = answer.old_place.join(&place);
    answer.new_place = answer.new_place.join(&place);
    Some(answer)
}

/// A witness that a request that the old definition accepts is refused or means something else.
fn broken(pair: &Pair<'_>, candidate: &Candidate, obstacle: &Obstacle<'_>) -> Option<Witness> {
    let (old, new) = (&pair.old.version, &pair.new.version);
    let object = &candidate.object;
    let Some(updated) = &candidate.old else { return written_otherwise(pair, object, obstacle) };
    let stored = run::write(old, updated, Unknown::Refused).ok()?;
    let part = pair.part(&obstacle.path);
    run::update(old, &stored, object, part, Unknown::Refused).ok()?;
    let stored = run::write(new, updated, Unknown::Dropped).ok()?;
    let refusal = run::update(new, &stored, object, part, Unknown::Dropped).err()?;
    pair.is_refused_for(obstacle, &refusal, (object, Some(updated))).then(|| Witness {
        value: json!({"before": updated, "after": object}),
        reason: format!("the update is refused now: {}", version::reason(&refusal, &obstacle.path)),
    })
}

fn written_otherwise(pair: &Pair<'_>, object: &Value, obstacle: &Obstacle<'_>) -> Option<Witness> {
    let path = &obstacle.path;
    let before = run::write(&pair.old.version, object, Unknown::Refused).ok()?;
    let after = run::write(&pair.new.version, object, Unknown::Dropped);
    let reason = match after {
        Ok(after) => difference(&before, &after, path)?,
        Err(refusal) if pair.is_refused_for(obstacle, &refusal, (object, None)) => {
            format!("it is refused now: {}", version::reason(&refusal, path))
        }
        Err(refusal) => {
            let after = run::decoded(&pair.new.version, object)?;
            let difference = difference(&before, &after, path)?;
            format!("{difference}; besides, it is refused now: {}", refusal.text)
        }
    };
    Some(Witness { value: object.clone(), reason })
}

fn created_otherwise(pair: &Pair<'_>, object: &Value, path: &FieldPath) -> Option<Witness> {
    let before = run::create(&pair.old.version, object, Unknown::Refused).ok()?;
    let reason = match run::create(&pair.new.version, object, Unknown::Dropped) {
        Ok(after) => difference(&before, &after, path)?,
        Err(refusal) => format!("it is refused now: {}", refusal.text),
    };
    Some(Witness { value: object.clone(), reason })
}

/// How a field differs in two results.
pub(crate) fn difference(before: &Value, after: &Value, path: &FieldPath) -> Option<String> {
    let differs = run::first_difference(before, after)?;
    // Something may differ elsewhere, too.
    let (mut here, mut there) = (find(before, path), find(after, path));
    let is_here = match (here, there) {
        (Some(before), Some(after)) => !deep_eq(before, after),
        (None, None) => false,
        _ => true,
    };
    let at = if is_here { path.clone() } else { differs };
    if !is_here {
        if !are_nested(&at, path) {
            return None;
        }
        (here, there) = (find(before, &at), find(after, &at));
    }
    Some(match (here, there) {
        (Some(before), None) => format!("`{at}` is dropped now; it was {}", shown(before)),
        (None, Some(after)) => format!("`{at}` is set to {} now", shown(after)),
        (Some(before), Some(after)) => {
            format!("`{at}` was {} and is {} now", shown(before), shown(after))
        }
        (None, None) => format!("`{at}` differs"),
    })
}
