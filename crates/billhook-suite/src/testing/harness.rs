//! Suites as tests of `cargo test`.

use std::path::Path;
use std::process::ExitCode;

use billhook_findings::human;
use libtest_mimic::{Arguments, Failed, Trial};

use crate::find::find_suites;
use crate::plan::{Plan, PlanOptions, Run};

/// Runs a suite, or all below a directory, with the arguments of the command line: a test for each
/// case. A suite that cannot be read is a test that fails.
///
/// ```toml
/// # Cargo.toml
/// [[test]]
/// name = "crds"
/// harness = false
/// ```
///
/// ```no_run
/// // tests/crds.rs
/// fn main() -> std::process::ExitCode {
///     billhook_suite::testing::run_suites("tests/crds")
/// }
/// ```
pub fn run_suites(path: impl AsRef<Path>) -> ExitCode {
    libtest_mimic::run(&Arguments::from_args(), trials(path.as_ref())).exit_code()
}

fn trials(path: &Path) -> Vec<Trial> {
    let options = PlanOptions::default();
    let suites = match path.is_dir() {
        true => find_suites(path, options.read),
        false => Ok(vec![path.to_owned()]),
    };
    let suites = match suites {
        Ok(suites) if suites.is_empty() => {
            return vec![failing(path, "no suites here".to_owned())];
        }
        Ok(suites) => suites,
        Err(error) => return vec![failing(path, error.to_string())],
    };
    let trials = suites.iter().flat_map(|suite| match Plan::load(suite, &options) {
        Ok(plan) => plan.into_runs().into_iter().map(trial).collect(),
        Err(error) => vec![failing(suite, error.to_string())],
    });
    trials.collect()
}

fn trial(run: Run) -> Trial {
    let name = format!("{}: {}", run.file(), run.name());
    Trial::test(name, move || run.run().map_err(|failure| Failed::from(message(&run, &failure))))
}

/// A failure for people.
fn message(run: &Run, failure: &crate::Failure) -> String {
    let mut text = human(&run.finding(failure), false);
    text.push_str(&failure.difference().unwrap_or_default());
    text
}

fn failing(path: &Path, message: String) -> Trial {
    Trial::test(path.display().to_string(), move || Err(message.into()))
}
