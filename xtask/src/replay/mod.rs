//! Plays recorded conversations with a real server, and compares what clients and webhooks saw.
//!
//! One scenario a line. There are two kinds: a request, with what webhooks answer and what came of it; and a conversation of many steps with the API server. Webhooks are
//! served over HTTPS by this process, so that the client of webhooks is played too. Scenarios that
//! need parts of a server that are missing are counted as waiting.

mod client;
mod cluster;
mod compare;
mod convert;
mod http;
mod kinds;
mod pointer;
mod request;
mod response;
mod scenario;
mod verdict;
mod webhooks;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Deserialize;
use serde::de::IgnoredAny;

use self::kinds::Kinds;
use crate::readme::record;

pub use http::Conversation;
pub use scenario::Scenario;
pub use verdict::Verdict;

/// The options of `cargo xtask replay`.
#[derive(Debug, Default, clap::Args)]
pub struct Options {
    /// Show one scenario, with its line
    #[arg(long, value_name = "ID")]
    pub show: Option<String>,
    /// Show so many scenarios that fail
    #[arg(long, value_name = "K", default_value_t = 0)]
    pub failures: usize,
    /// Play the scenarios of one area only
    #[arg(long, value_name = "AREA")]
    pub area: Option<String>,
    /// Write down what passed of each built-in kind, for docs/kinds.md
    #[arg(long)]
    pub record: bool,
    /// Scenarios, one a line
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
}

/// Files of `ahead` that are played in CI.
const DONE: [&str; 9] = [
    "admission.jsonl",
    "control_plane.jsonl",
    "conversion.jsonl",
    "found_admission.jsonl",
    "found_http.jsonl",
    "found_policies.jsonl",
    "http.jsonl",
    "kinds.jsonl",
    "policies.jsonl",
];

/// The scenarios beside the repository, if they are there.
pub fn shared_files(root: &Path) -> Vec<PathBuf> {
    let files = DONE.iter().map(|name| root.join("../shared/ahead").join(name));
    files.filter(|file| file.exists()).collect()
}

/// A line of a file.
enum Line {
    Request(Scenario),
    Conversation(Conversation),
}

impl Line {
    fn parse(line: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Form {
            steps: Option<IgnoredAny>,
        }
        let form: Form = serde_json::from_str(line).map_err(|error| error.to_string())?;
        match form.steps {
            Some(_) => Conversation::parse(line).map(Line::Conversation),
            None => Scenario::parse(line).map(Line::Request),
        }
    }

    fn play(&self) -> Result<Verdict, String> {
        match self {
            Line::Request(scenario) => scenario.play(),
            Line::Conversation(conversation) => conversation.play(),
        }
    }

    fn id(&self) -> &str {
        match self {
            Line::Request(scenario) => &scenario.id,
            Line::Conversation(conversation) => &conversation.id,
        }
    }

    fn area(&self) -> &str {
        match self {
            Line::Request(scenario) => scenario.area(),
            Line::Conversation(conversation) => &conversation.area,
        }
    }

    fn about(&self) -> &str {
        match self {
            Line::Request(scenario) => &scenario.note,
            Line::Conversation(conversation) => &conversation.about,
        }
    }
}

#[derive(Default)]
struct Counts {
    passed: usize,
    explained: usize,
    failed: Vec<String>,
    waiting: usize,
    /// How many of each area passed, and how many there are.
    areas: BTreeMap<String, (usize, usize)>,
    kinds: Kinds,
}

impl Counts {
    fn add(&mut self, line: &Line, verdict: &Verdict) {
        let (passed, all) = self.areas.entry(line.area().to_owned()).or_default();
        *all += 1;
        if let Line::Conversation(conversation) = line {
            self.kinds.add(conversation, verdict);
        }
        match verdict {
            Verdict::Passed => self.passed += 1,
            Verdict::Explained => self.explained += 1,
            Verdict::Failed { .. } => self.failed.push(line.id().to_owned()),
            Verdict::Waiting(_) => self.waiting += 1,
        }
        if matches!(verdict, Verdict::Passed | Verdict::Explained) {
            *passed += 1;
        }
    }
}

/// `cargo xtask replay`.
pub fn main(root: &Path, options: &Options) -> ExitCode {
    let mut counts = Counts::default();
    let mut left = options.failures;
    for file in &options.files {
        if let Err(error) = play_file(file, options, &mut left, &mut counts) {
            eprintln!("error: {}: {error}", file.display());
            return ExitCode::from(2);
        }
    }
    let Counts { passed, explained, failed, waiting, areas, kinds } = counts;
    if options.record
        && let Err(error) = record(root, "kinds", kinds.measured())
    {
        eprintln!("error: {error}");
        return ExitCode::from(2);
    }
    if !failed.is_empty() {
        println!("failed: {}", failed.join(" "));
    }
    for (area, (passed, all)) in areas {
        println!("{area}: {passed} of {all}");
    }
    println!(
        "{passed} passed, {explained} differ as listed, {} failed, {waiting} \
         waiting for parts of a server",
        failed.len()
    );
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn play_file(
    file: &Path,
    options: &Options,
    left: &mut usize,
    counts: &mut Counts,
) -> Result<(), String> {
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    for (index, text) in text.lines().enumerate() {
        let at = |error: String| format!("line {}: {error}", index + 1);
        let line = Line::parse(text).map_err(at)?;
        let is_other = |wanted: &Option<String>, own: &str| {
            wanted.as_ref().is_some_and(|wanted| wanted != own)
        };
        if is_other(&options.show, line.id()) || is_other(&options.area, line.area()) {
            continue;
        }
        let verdict = line.play().map_err(at)?;
        counts.add(&line, &verdict);
        let is_shown = matches!(verdict, Verdict::Failed { .. }) && *left > 0;
        if is_shown || options.show.is_some() {
            *left = left.saturating_sub(1);
            print_scenario(&line, &verdict, options.show.is_some().then_some(text));
        }
    }
    Ok(())
}

fn print_scenario(line: &Line, verdict: &Verdict, text: Option<&str>) {
    println!("== {} ({})", line.id(), line.about());
    if let Some(text) = text {
        println!("{text}");
    }
    match verdict {
        Verdict::Passed => println!("passed"),
        Verdict::Explained => println!("differs as listed"),
        Verdict::Waiting(why) => println!("waiting: {why}"),
        Verdict::Failed { differences } => {
            differences.iter().for_each(|difference| println!("{difference}"));
        }
    }
}
