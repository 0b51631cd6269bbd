//! Definitions with `spec.preserveUnknownFields`.

use billhook_compat::{Question, Verdict};
use serde_json::{Value, json};

use crate::support::{compared, definition, spec_of};

fn keeping(keeps: bool) -> Value {
    let mut definition = definition(spec_of(json!({"type": "string"})));
    definition["spec"]["preserveUnknownFields"] = keeps.into();
    definition
}

/// CC-12: fields that were kept without a schema are lost when the definition prunes; the rest is
/// undecided.
#[test]
fn unknown_fields_are_lost() {
    let answers = compared(&keeping(true), &keeping(false)).answers;
    for question in [Question::Writers, Question::Stored] {
        let own = answers.iter().filter(|answer| answer.question == question);
        let verdicts: Vec<Verdict> = own.clone().map(|answer| answer.verdict).collect();
        assert_eq!(verdicts, [Verdict::Breaks, Verdict::Undecided], "{question}");
        let witness = own.clone().find_map(|answer| answer.witness.as_ref()).unwrap();
        assert_eq!(witness["key0"], 1);
    }
    let reads = answers.iter().filter(|answer| answer.question == Question::Readers);
    assert!(reads.map(|answer| answer.verdict).eq([Verdict::Undecided]));
    // A definition that keeps them as before loses nothing.
    let same = compared(&keeping(true), &keeping(true)).answers;
    assert!(same.iter().all(|answer| answer.verdict == Verdict::Safe), "{same:?}");
}
