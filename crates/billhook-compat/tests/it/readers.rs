//! Nulls that clients may meet in what is written from now on (CC-23).

use billhook_compat::{Question, Verdict};
use serde_json::json;

use crate::support::{compared, definition, spec_of};

/// A null counts where it is stored: it is neither removed, replaced nor refused.
#[test]
fn nulls_are_decided() {
    let text = json!({"type": "string"});
    let nullable = json!({"type": "string", "nullable": true});
    let entries = json!({"type": "string", "enum": ["x"]});
    let nullable_entries = json!({"type": "string", "enum": ["x"], "nullable": true});
    let untyped = json!({"x-kubernetes-preserve-unknown-fields": true});
    let list = |items| json!({"type": "array", "items": items});
    let null = Some(json!(null));
    for (old, new, expected) in [
        (text.clone(), nullable.clone(), vec![null]),
        (list(text.clone()), list(nullable), vec![Some(json!([null]))]),
        // An enum refuses null (VV-38).
        (entries.clone(), nullable_entries.clone(), vec![]),
        (list(entries), list(nullable_entries), vec![]),
        // Null is removed where it is a member, and kept where it is an element (DF-10).
        (text.clone(), untyped.clone(), vec![Some(json!(true))]),
        (list(text), list(untyped), vec![Some(json!([null])), Some(json!([true]))]),
    ] {
        let comparison = compared(&definition(spec_of(old.clone())), &definition(spec_of(new)));
        let mut found = Vec::new();
        for answer in comparison.answers.iter().filter(|it| it.question == Question::Readers) {
            assert_ne!(answer.verdict, Verdict::Undecided, "{old}: {answer:?}");
            found.extend(answer.witness.as_ref().map(|witness| witness["spec"].get("a").cloned()));
        }
        assert_eq!(found, expected, "{old}");
    }
}
