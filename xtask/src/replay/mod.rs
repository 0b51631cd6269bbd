//! Plays recorded conversations with a real server, and compares what clients and webhooks saw.
//!
//! One scenario a line: what is installed, what webhooks answer, a request, and what came of it.
//! Webhooks are served over HTTPS by this process, so that the client of webhooks is played too.
//! Scenarios that need parts of a server that there are not yet are counted as waiting.

mod cluster;
mod compare;
mod request;
mod scenario;
mod webhooks;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub use scenario::{Scenario, Verdict};

/// The options of `cargo xtask replay`.
#[derive(Debug, Default, clap::Args)]
pub struct Options {
    /// Show one scenario, with its line
    #[arg(long, value_name = "ID")]
    pub show: Option<String>,
    /// Show so many scenarios that fail
    #[arg(long, value_name = "K", default_value_t = 0)]
    pub failures: usize,
    /// Scenarios, one a line
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
}

/// Files of `ahead` that are played in CI.
const DONE: [&str; 1] = ["admission.jsonl"];

/// The scenarios beside the repository, if they are there.
pub fn shared_files(root: &Path) -> Vec<PathBuf> {
    let files = DONE.iter().map(|name| root.join("../shared/ahead").join(name));
    files.filter(|file| file.exists()).collect()
}

#[derive(Default)]
struct Counts {
    passed: usize,
    explained: usize,
    failed: Vec<String>,
    waiting: usize,
}

/// `cargo xtask replay`.
pub fn main(options: &Options) -> ExitCode {
    let mut counts = Counts::default();
    let mut left = options.failures;
    for file in &options.files {
        if let Err(error) = play_file(file, options, &mut left, &mut counts) {
            eprintln!("error: {}: {error}", file.display());
            return ExitCode::from(2);
        }
    }
    let Counts { passed, explained, failed, waiting } = counts;
    if !failed.is_empty() {
        println!("failed: {}", failed.join(" "));
    }
    println!(
        "{passed} passed, {explained} but for a text of the server's build, {} failed, {waiting} \
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
    for (index, line) in text.lines().enumerate() {
        let at = |error: String| format!("line {}: {error}", index + 1);
        let scenario = Scenario::parse(line).map_err(at)?;
        if options.show.as_ref().is_some_and(|id| *id != scenario.id) {
            continue;
        }
        let verdict = scenario.play().map_err(at)?;
        match &verdict {
            Verdict::Passed => counts.passed += 1,
            Verdict::Explained => counts.explained += 1,
            Verdict::Failed { .. } => counts.failed.push(scenario.id.clone()),
            Verdict::Waiting(_) => counts.waiting += 1,
        }
        let is_shown = matches!(verdict, Verdict::Failed { .. }) && *left > 0;
        if is_shown || options.show.is_some() {
            *left = left.saturating_sub(1);
            print_scenario(&scenario, &verdict, options.show.is_some().then_some(line));
        }
    }
    Ok(())
}

fn print_scenario(scenario: &Scenario, verdict: &Verdict, line: Option<&str>) {
    println!("== {} ({})", scenario.id, scenario.note);
    if let Some(line) = line {
        println!("{line}");
    }
    match verdict {
        Verdict::Passed => println!("passed"),
        Verdict::Explained => println!("passed but for a text of the server's build"),
        Verdict::Waiting(why) => println!("waiting: {why}"),
        Verdict::Failed { differences } => {
            differences.iter().for_each(|difference| println!("{difference}"));
        }
    }
}
