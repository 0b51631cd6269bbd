//! More changes than are looked at (CC-04).

use billhook_compat::{Question, Verdict};
use serde_json::{Map, Value, json};

use crate::support::{compared, definition};

/// A `spec` with so many fields that get a default, and one after them.
fn spec(count: usize, default: bool, last: &Value) -> Value {
    let field = |number: usize| {
        let mut schema = json!({"type": "string"});
        if default {
            schema["default"] = "x".into();
        }
        (format!("f{number:04}"), schema)
    };
    let mut fields: Map<String, Value> = (0..count).map(field).collect();
    fields.insert("last".to_owned(), last.clone());
    json!({"type": "object", "properties": fields})
}

/// An answer says that changes are left out, and they are never safe: new defaults do nothing to stored objects, and
/// what comes after them does.
#[test]
fn what_is_left_out_is_said() {
    let (long, short) = (
        json!({"type": "object", "properties": {"a": {"type": "string"}}}),
        json!({"type": "object"}),
    );
    for (count, has_more) in [(3, false), (398, false), (450, true)] {
        let old = definition(spec(count, false, &long));
        let new = definition(spec(count, true, &short));
        let answers = compared(&old, &new).answers;
        for question in [Question::Writers, Question::Stored] {
            let mut own = answers.iter().filter(|answer| answer.question == question);
            let is_rest = |change: &str| change == "more than 400 changes";
            let rest = own.clone().find(|answer| is_rest(&answer.change));
            assert_eq!(rest.map(|rest| rest.verdict), has_more.then_some(Verdict::Undecided));
            assert!(own.all(|answer| answer.verdict != Verdict::Safe), "{question} {count}");
        }
    }
}
