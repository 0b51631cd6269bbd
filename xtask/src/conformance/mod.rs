//! Runs conformance vectors: inputs with what a real server made of them.
//!
//! One JSON object a line: `{"id", "op", "kubernetes", "input", "expect": {"ok", "errors"}}`. The
//! runner knows operations, never single vectors.

mod apply;
mod apply_steps;
pub(crate) mod compare;
mod crd;
mod input;
mod objectmeta;
mod ops;
mod validation;
mod webhook;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use billhook_apimachinery::KubernetesVersion;
use billhook_apimachinery::print::pretty_json;
use billhook_apimachinery::value::DeepValue;
use billhook_decode::read_json_to_depth;
use serde_json::{Value, json};

use self::input::{Given, Input};
use crate::readme::{Measured, record};

/// Vectors wrap objects that are themselves as deep as a server allows.
const VECTOR_DEPTH: usize = billhook_decode::MAX_DEPTH + 10;

/// The outcome of an input, at a server or here.
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
        /// The server's outcome.
        expected: String,
        /// Our outcome.
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
    /// The version of the server that answered.
    pub kubernetes: KubernetesVersion,
    value: DeepValue,
    line: String,
}

impl Vector {
    /// Reads a line.
    pub fn parse(line: &str) -> Result<Self, String> {
        let document = read_json_to_depth(line.as_bytes(), VECTOR_DEPTH)
            .map_err(|error| format!("column {}: {error}", error.column()))?;
        let value = document.into_value();
        let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
        let kubernetes = match text("kubernetes") {
            "" => KubernetesVersion::default(),
            version => version.parse().map_err(|error| format!("{error}"))?,
        };
        let (id, op) = (text("id").to_owned(), text("op").to_owned());
        Ok(Vector { id, op, kubernetes, value, line: line.to_owned() })
    }

    /// Runs it; files it names are looked up in `directory`.
    pub fn run(&self, directory: &Path) -> Verdict {
        let null = Value::Null;
        let expect = self.value.get("expect").unwrap_or(&null);
        let input = match self.value.get("input") {
            Some(input) => {
                let Vector { kubernetes, line, .. } = self;
                Input::Inline(Given { input, kubernetes: *kubernetes, line })
            }
            None => Input::Files { vector: &self.value, directory },
        };
        let Some(actual) = ops::run(&self.op, input) else { return Verdict::Skipped };
        if let Some(actual) = actual.ok.as_ref().filter(|_| self.op == "apply") {
            return match apply_steps::difference(expect, actual) {
                None => Verdict::Passed,
                Some((expected, actual)) => Verdict::Failed {
                    expected: pretty_json(&expected),
                    actual: pretty_json(&actual),
                },
            };
        }
        if compare::agree(&self.op, expect, &actual) {
            return Verdict::Passed;
        }
        Verdict::Failed { expected: pretty_json(expect), actual: compare::show(&actual) }
    }
}

/// The options of `cargo xtask conformance`.
#[derive(Debug, Default, clap::Args)]
pub struct Options {
    /// Show one vector, with its input
    #[arg(long, value_name = "ID")]
    pub show: Option<String>,
    /// Show so many vectors that fail
    #[arg(long, value_name = "K", default_value_t = 0)]
    pub failures: usize,
    /// Write the counts to docs/measured/conformance.json
    #[arg(long, conflicts_with = "show")]
    pub record: bool,
    /// Vectors, one a line
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
}

/// Vectors of `ahead` that pass.
const DONE: [&str; 12] = [
    "apply.",
    "apply_versions.",
    "cel_keywords.",
    "cel_spec.",
    "compare.",
    "fieldset.",
    "merge.",
    "rare.",
    "rare2.",
    "remove.",
    "versions_",
    "yaml_quoted.",
];

/// Whether the answer of a vector is known to be that of its recorder, or to be missing here.
fn is_explained(id: &str) -> bool {
    include_str!("explained.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .any(|line| line.split_whitespace().any(|known| known == id))
}

/// The vectors beside the repository, if they are there.
pub fn shared_files(root: &Path) -> Vec<PathBuf> {
    let list = |directory: &str, prefix: &str| {
        let entries = std::fs::read_dir(root.join("../shared").join(directory));
        let files = entries.into_iter().flatten().flatten().map(|entry| entry.path());
        let is_vectors = |file: &PathBuf| {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(prefix) && name.ends_with(".jsonl")
        };
        files.filter(is_vectors).collect::<Vec<_>>()
    };
    let mut files = list("conformance", "");
    files.extend(list("corpus", "expect_"));
    files.extend(DONE.iter().flat_map(|name| list("ahead", name)));
    files.sort();
    files
}

#[derive(Clone, Copy, Default)]
struct Count {
    passed: usize,
    explained: usize,
    failed: usize,
    skipped: usize,
}

impl Count {
    fn add(&mut self, other: Count) {
        self.passed += other.passed;
        self.explained += other.explained;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

/// A run over files: the counts by operation and by file.
struct Run<'o> {
    options: &'o Options,
    /// How many failures are still to be shown.
    failures: usize,
    counts: BTreeMap<String, Count>,
    files: Measured,
}

impl Run<'_> {
    fn file(&mut self, file: &Path) -> Result<(), String> {
        let shown = file.display();
        let text = std::fs::read_to_string(file).map_err(|error| format!("{shown}: {error}"))?;
        let directory = file.parent().unwrap_or(Path::new("."));
        let mut total = Count::default();
        for (index, line) in text.lines().enumerate() {
            let vector =
                Vector::parse(line).map_err(|error| format!("{shown}:{}: {error}", index + 1))?;
            if self.options.show.as_ref().is_none_or(|id| *id == vector.id) {
                total.add(self.vector(&vector, directory));
            }
        }
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let Count { passed, failed, skipped, .. } = total;
        self.files.insert(name, json!({"passed": passed, "failed": failed + skipped}));
        Ok(())
    }

    fn vector(&mut self, vector: &Vector, directory: &Path) -> Count {
        let verdict = vector.run(directory);
        let mut count = Count::default();
        match &verdict {
            Verdict::Passed => count.passed = 1,
            Verdict::Failed { .. } if is_explained(&vector.id) => count.explained = 1,
            Verdict::Failed { .. } => count.failed = 1,
            Verdict::Skipped => count.skipped = 1,
        }
        self.counts.entry(vector.op.clone()).or_default().add(count);
        if self.options.show.is_some() {
            print_case(vector, &verdict, true);
        } else if self.failures > 0 && count.failed > 0 {
            self.failures -= 1;
            print_case(vector, &verdict, false);
        }
        count
    }
}

/// `cargo xtask conformance`.
pub fn main(root: &Path, options: &Options) -> ExitCode {
    let (counts, files) = Default::default();
    let mut run = Run { options, failures: options.failures, counts, files };
    let mut result = options.files.iter().try_for_each(|file| run.file(file));
    if options.record {
        result = result.and_then(|()| record(root, "conformance", run.files));
    }
    if let Err(error) = result {
        eprintln!("error: {error}");
        return ExitCode::from(2);
    }
    let mut total = Count::default();
    for (op, count) in run.counts {
        let Count { passed, explained, failed, skipped } = count;
        let explained = match explained {
            0 => String::new(),
            count => format!("{count} explained, "),
        };
        println!("{op}: {passed} passed, {explained}{failed} failed, {skipped} not implemented");
        total.add(count);
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
