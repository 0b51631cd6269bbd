//! Clients that were built for the old types: what is written from now on fits them (CC-23).

use billhook::DeepValue;
use billhook_schema::JsonSchemaProps;
use billhook_validation::Validator;

use crate::answer::{Answer, Question};
use crate::inclusion::{Bare, Mode, Obstacle, Prover, Shape, walk};
use crate::search::run::{self, Refusal, Unknown};
use crate::types_only::types_of_objects;
use crate::version::{Pair, Witness, attempted, is_related};

/// The answers about clients that read.
pub(crate) fn answers(pair: &Pair<'_>) -> Vec<Answer> {
    let types = DeepValue::from(types_of_objects(&pair.old.document));
    let Ok(schema) = JsonSchemaProps::from_value(&types) else {
        return vec![pair.undecided(Question::Readers, "the types cannot be read")];
    };
    let bare = Bare::new(pair.prover.bare.kubernetes);
    let prover = Prover::new(&bare);
    let to = Shape { is_resource: true, ..Shape::new(&schema, &types) };
    let mut answers = Vec::new();
    let validator = Validator::new(&schema);
    for obstacle in walk(&prover, pair.new.shape(), to, Mode::Reads) {
        let witness = witness(pair, &obstacle, &validator);
        let mut answer = pair.about(Question::Readers, &obstacle, witness);
        // Here the new definition is what comes first.
        let swapped = pair.swapped(&obstacle);
        (answer.old_place, answer.new_place) = swapped;
        answers.push(answer);
    }
    if answers.is_empty() {
        let reason = "all that the new schema admits fits the old types";
        answers.push(pair.safe(Question::Readers, reason));
    }
    answers
}

/// An object that the new definition accepts and that does not fit the old types.
fn witness(pair: &Pair<'_>, obstacle: &Obstacle<'_>, types: &Validator) -> Option<Witness> {
    let builder = &pair.new_builder;
    builder.at(&obstacle.path, || {
        let around = builder.around(&obstacle.path)?;
        obstacle.attempts.iter().find_map(|attempt| {
            let objects = attempted(builder, attempt, obstacle, &around);
            objects.into_iter().find_map(|object| {
                let stored = run::write(&pair.new.version, &object, Unknown::Refused).ok()?;
                let errors = types.errors(&stored);
                let text = errors.first()?.to_string();
                let refusal = Refusal { text, errors };
                let before = run::write(&pair.old.version, &object, Unknown::Dropped);
                let is_new = before.map_or(true, |before| !run::is_same(&before, &stored));
                (is_new && is_related(&refusal, &obstacle.path)).then(|| Witness {
                    reason: format!("it does not fit the old types: {}", refusal.text),
                    value: object,
                })
            })
        })
    })
}
