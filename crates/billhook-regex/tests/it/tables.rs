//! Runs the tables in `data`: what Go was measured to say, and cases derived from
//! its documented syntax.

use std::fmt::Write as _;

use billhook_regex::{Pattern, check};
use serde_json::Value;

/// Checks one line, and gives back what is wrong with the answers.
fn run(case: &Value) -> Result<usize, String> {
    let pattern = case.get("pattern").and_then(Value::as_str).ok_or("the line has no pattern")?;
    let compiled = Pattern::new(pattern);
    let checked = check(pattern);
    if checked.is_ok() != compiled.is_ok() {
        return Err(format!("check says {checked:?}, compiling says {compiled:?}"));
    }
    if let Some(expected) = case.get("error").and_then(Value::as_str) {
        let actual = compiled.map_or_else(|error| error.to_string(), |_| "accepted".to_owned());
        return if actual == expected { Ok(1) } else { Err(format!("\n- {expected}\n+ {actual}")) };
    }
    let compiled = compiled.map_err(|error| error.to_string())?;
    let mut wrong = String::new();
    let mut checks = 1;
    for (key, expected) in [("match", true), ("other", false)] {
        for text in
            case.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
        {
            checks += 1;
            if compiled.is_match(text) != expected {
                let _ = write!(wrong, "\n  {text:?} should give {expected}");
            }
        }
    }
    if wrong.is_empty() { Ok(checks) } else { Err(wrong) }
}

#[track_caller]
fn run_table(table: &str, at_least: usize) {
    let mut failures = String::new();
    let mut cases = 0;
    let mut checks = 0;
    for line in table.lines().filter(|line| !line.starts_with("//")) {
        cases += 1;
        let outcome = serde_json::from_str(line)
            .map_err(|error| error.to_string())
            .and_then(|case: Value| run(&case));
        match outcome {
            Ok(more) => checks += more,
            Err(wrong) => {
                let _ = writeln!(failures, "{line}: {wrong}");
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
    assert!(cases >= at_least, "only {cases} cases with {checks} checks");
}

#[test]
fn measured() {
    run_table(include_str!("../data/measured.jsonl"), 46);
}

#[test]
fn syntax() {
    run_table(include_str!("../data/syntax.jsonl"), 500);
}
