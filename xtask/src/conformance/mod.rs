//! Runs conformance vectors: inputs with what a real server made of them.
//!
//! One JSON object a line: `{"id", "op", "input", "expect": {"ok", "errors"}}`. The runner knows
//! operations, never single vectors.

mod compare;
mod crd;
mod objectmeta;
mod ops;
mod validation;
mod webhook;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use billhook_apimachinery::print::pretty_json;
use billhook_apimachinery::value::DeepValue;
use billhook_decode::read_json_to_depth;
use serde_json::Value;

/// Vectors wrap objects that are themselves as deep as a server allows.
const VECTOR_DEPTH: usize = billhook_decode::MAX_DEPTH + 10;

/// What a server, or we, made of an input.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The result; none if the input was refused.
    pub ok: Option<DeepValue>,
    /// The printed errors with their parts.
    pub errors: Vec<DeepValue>,
    /// Errors that a server might have met first, where its order is random.
    pub other_first_errors: Vec<String>,
}

/// How one vector went.
pub enum Verdict {
    /// As the server.
    Passed,
    /// Otherwise; both sides, printed.
    Failed {
        /// What the server made of it.
        expected: String,
        /// What we made of it.
        actual: String,
    },
    /// The operation is not implemented.
    Skipped,
}

/// One line of a vector file.
pub struct Vector {
    /// Its name.
    pub id: String,
    /// Its operation.
    pub op: String,
    value: DeepValue,
}

impl Vector {
    /// Reads a line.
    pub fn parse(line: &str) -> Result<Self, String> {
        let document = read_json_to_depth(line.as_bytes(), VECTOR_DEPTH)
            .map_err(|error| format!("column {}: {error}", error.column()))?;
        let value = document.into_value();
        let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
        Ok(Vector { id: text("id").to_owned(), op: text("op").to_owned(), value })
    }

    /// Runs it; files it names are looked up in `directory`.
    pub fn run(&self, directory: &Path) -> Verdict {
        let null = Value::Null;
        let expect = self.value.get("expect").unwrap_or(&null);
        let input = match self.value.get("input") {
            Some(input) => ops::Input::Inline(input),
            None => ops::Input::Files { vector: &self.value, directory },
        };
        let Some(actual) = ops::run(&self.op, input) else { return Verdict::Skipped };
        if compare::agree(&self.op, expect, &actual) {
            return Verdict::Passed;
        }
        Verdict::Failed { expected: pretty_json(expect), actual: compare::show(&actual) }
    }
}

#[derive(Default)]
struct Count {
    passed: usize,
    failed: usize,
    skipped: usize,
}

/// `cargo xtask conformance`.
pub fn main(arguments: &[String]) -> ExitCode {
    let mut files = Vec::new();
    let mut show = None;
    let mut failures = 0;
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--show" => show = arguments.next().cloned(),
            "--failures" => {
                failures = arguments.next().and_then(|count| count.parse().ok()).unwrap_or(0);
            }
            file => files.push(file.to_owned()),
        }
    }
    if files.is_empty() {
        eprintln!("error: no vector files given");
        return ExitCode::from(2);
    }
    let mut total = Count::default();
    let mut skipped_ops: BTreeMap<String, usize> = BTreeMap::new();
    for file in &files {
        let text = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) => {
                eprintln!("error: {file}: {error}");
                return ExitCode::from(2);
            }
        };
        let directory = Path::new(file).parent().unwrap_or(Path::new("."));
        let mut counts: BTreeMap<String, Count> = BTreeMap::new();
        for (index, line) in text.lines().enumerate() {
            let vector = match Vector::parse(line) {
                Ok(vector) => vector,
                Err(error) => {
                    eprintln!("error: {file}:{}: {error}", index + 1);
                    return ExitCode::from(2);
                }
            };
            if show.as_ref().is_some_and(|id| *id != vector.id) {
                continue;
            }
            let verdict = vector.run(directory);
            let count = counts.entry(vector.op.clone()).or_default();
            match &verdict {
                Verdict::Passed => count.passed += 1,
                Verdict::Failed { .. } => count.failed += 1,
                Verdict::Skipped => {
                    count.skipped += 1;
                    *skipped_ops.entry(vector.op.clone()).or_default() += 1;
                }
            }
            if show.is_some() {
                print_case(&vector, &verdict, true);
            } else if failures > 0 && matches!(verdict, Verdict::Failed { .. }) {
                failures -= 1;
                print_case(&vector, &verdict, false);
            }
        }
        for (op, count) in counts {
            println!(
                "{file}: {op}: {} passed, {} failed, {} skipped",
                count.passed, count.failed, count.skipped
            );
            total.passed += count.passed;
            total.failed += count.failed;
            total.skipped += count.skipped;
        }
    }
    for (op, count) in skipped_ops {
        println!("not implemented: {op} ({count})");
    }
    println!("{} passed, {} failed, {} skipped", total.passed, total.failed, total.skipped);
    if total.failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn print_case(vector: &Vector, verdict: &Verdict, with_input: bool) {
    println!("== {} ({})", vector.id, vector.op);
    if with_input {
        println!("{}", pretty_json(&vector.value));
    }
    match verdict {
        Verdict::Passed => println!("passed"),
        Verdict::Skipped => println!("not implemented"),
        Verdict::Failed { expected, actual } => {
            print!("{}", compare::side_by_side(expected, actual));
        }
    }
}
