//! Runs the test suites of other projects, in the layout of OpenShift's API repository.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use billhook::KubernetesVersion;
use billhook_apimachinery::print::pretty_json;
use billhook_suite::{Failure, Plan, PlanOptions, find_suites};

/// The version whose texts the suites expect.
const WRITTEN_FOR: KubernetesVersion = KubernetesVersion::V1_32;

/// The options of `cargo xtask suites`.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Version of the server. The texts of errors count only with 1.32, for which the suites were
    /// written
    #[arg(long, value_name = "VERSION", default_value_t)]
    pub kubernetes: KubernetesVersion,
    /// Directories with suites, or suites
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,
}

#[derive(Default)]
struct Count {
    passed: usize,
    failed: usize,
    other_texts: usize,
}

/// `cargo xtask suites`.
pub fn main(options: &Options) -> ExitCode {
    let mut count = Count::default();
    for path in &options.paths {
        if let Err(error) = run(path, options, &mut count) {
            eprintln!("error: {error}");
            return ExitCode::from(2);
        }
    }
    if count.other_texts > 0 {
        println!("{} refused as expected, with the texts of another version", count.other_texts);
    }
    println!("{} passed, {} failed", count.passed, count.failed);
    if count.failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn run(path: &Path, options: &Options, count: &mut Count) -> Result<(), String> {
    let suites = match path.is_dir() {
        true => find_suites(path, |path| std::fs::read(path)).map_err(|error| error.to_string())?,
        false => vec![path.to_owned()],
    };
    if suites.is_empty() {
        return Err(format!("{}: no suites here", path.display()));
    }
    suites.iter().try_for_each(|path| run_suite(path, options, count))
}

fn run_suite(path: &Path, options: &Options, count: &mut Count) -> Result<(), String> {
    let plan = PlanOptions::default().kubernetes(options.kubernetes);
    let plan = Plan::load(path, &plan).map_err(|error| error.to_string())?;
    for run in plan.runs() {
        match run.run() {
            Ok(()) => count.passed += 1,
            Err(failure) if failure.is_only_text() && options.kubernetes != WRITTEN_FOR => {
                count.passed += 1;
                count.other_texts += 1;
            }
            Err(failure) => {
                count.failed += 1;
                println!("{}: {}\n  {failure}", path.display(), run.name());
                print_objects(&failure);
            }
        }
    }
    Ok(())
}

fn print_objects(failure: &Failure) {
    if let Failure::Object { expected, actual } = failure {
        print!(
            "{}",
            crate::conformance::compare::side_by_side(&pretty_json(expected), &pretty_json(actual))
        );
    }
}
