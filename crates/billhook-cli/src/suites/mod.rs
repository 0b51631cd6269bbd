//! `billhook test`: the cases of suites, each against the definitions of its suite.

mod args;
mod report;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use billhook::{CustomResourceDefinition, DeepValue};
use billhook_findings::{Place, Source};
use billhook_suite::{Runner, Suite, openshift};
use serde_json::Value;

use crate::input::{read_file, readable_documents};
use crate::problem::{self, Problem, Status};
use crate::report as messages;
pub(crate) use args::{EXIT_STATUS, Test};
use report::{Outcome, Printer};

/// Runs the command. The error is one of writing the output.
pub(crate) fn run(command: &Test) -> io::Result<Status> {
    let mut problems = Vec::new();
    let given = Definitions::read(command, &mut problems);
    let suites = suites(&command.suites, &mut problems);
    let mut status = messages::problems(&problems);
    let mut printer = Printer::new(command.findings.given());
    for path in &suites {
        let run = SuiteRun { command, path, given: given.as_ref() };
        if let Err(problem) = run.cases(&mut printer)? {
            status = status.max(problem.status);
            printer.problem(path, &problem)?;
        }
    }
    if printer.count() == 0 && status == Status::Fine {
        let problem = problem::nothing(&command.suites, "no cases here");
        messages::problem(&problem);
        return Ok(problem.status);
    }
    status = status.max(printer.status());
    printer.finish()?;
    Ok(status)
}

/// The definitions of `--crd`.
struct Definitions(Vec<(String, DeepValue)>);

impl Definitions {
    /// Reads them, if there are any.
    fn read(command: &Test, problems: &mut Vec<Problem>) -> Option<Self> {
        let documents = readable_documents(&command.crd, problems).into_iter();
        let definitions = documents
            .filter(|document| CustomResourceDefinition::is_definition(&document.value))
            .map(|document| (document.place.to_string(), document.value));
        (!command.crd.is_empty()).then(|| Definitions(definitions.collect()))
    }
}

/// The files of suites; directories are searched.
fn suites(paths: &[PathBuf], problems: &mut Vec<Problem>) -> Vec<PathBuf> {
    let mut suites = Vec::new();
    for path in paths {
        if !path.is_dir() {
            suites.push(path.clone());
            continue;
        }
        match openshift::find_suites(path) {
            Ok(found) => suites.extend(found),
            Err(error) => problems.push(*unusable(path, &error.to_string())),
        }
    }
    suites
}

fn unusable(path: &Path, message: &str) -> Box<Problem> {
    Problem::unusable(problem::Place::file(&path.to_string_lossy()), message)
}

/// A suite that is run.
struct SuiteRun<'r> {
    command: &'r Test,
    path: &'r Path,
    given: Option<&'r Definitions>,
}

impl SuiteRun<'_> {
    /// Runs the cases against every definition. The inner error is that of the suite.
    fn cases(&self, printer: &mut Printer) -> io::Result<Result<(), Box<Problem>>> {
        let (suite, place) = match self.read() {
            Ok(read) => read,
            Err(problem) => return Ok(Err(problem)),
        };
        let definitions = match self.definitions(&suite) {
            Ok(definitions) => definitions,
            Err(problem) => return Ok(Err(problem)),
        };
        for (name, definition) in definitions {
            let runner = Runner::new(&definition, &suite.version, self.command.server.kubernetes);
            let runner = match runner {
                Ok(runner) => runner,
                Err(error) => return Ok(Err(unusable(self.path, &format!("{name}: {error}")))),
            };
            for (index, case) in suite.cases().enumerate() {
                let is_wanted = |filter: &String| case.name().contains(filter.as_str());
                if self.command.filter.as_ref().is_none_or(is_wanted) {
                    let index = index.checked_sub(suite.tests.on_create.len()).unwrap_or(index);
                    let result = runner.run(&case);
                    let outcome = Outcome { place: &place, case, index, definition: &name, result };
                    printer.add(&outcome)?;
                }
            }
        }
        Ok(Ok(()))
    }

    fn read(&self) -> Result<(Suite, Place), Box<Problem>> {
        let file = problem::Place::file(&self.path.to_string_lossy());
        let text = read_file(self.path).map_err(|error| Problem::io(file, &error))?;
        let source = Arc::new(Source::new(self.path.to_string_lossy(), text));
        let suite = Suite::read(source.bytes());
        let suite = suite.map_err(|error| unusable(self.path, &error.to_string()))?;
        Ok((suite, Place::document(source, 0)))
    }

    /// The definitions of a suite, with their names for people.
    fn definitions(&self, suite: &Suite) -> Result<Vec<(String, DeepValue)>, Box<Problem>> {
        let Some(Definitions(given)) = self.given else {
            let found = openshift::definitions(self.path, suite, read_file);
            let found = found.map_err(|error| {
                unusable(self.path, &error.to_string()).help("name the CRDs with `--crd`")
            })?;
            let named = found
                .into_iter()
                .map(|found| (found.path.to_string_lossy().into_owned(), found.value));
            return Ok(named.collect());
        };
        let is_its = |(_, value): &&(String, DeepValue)| {
            value.pointer("/metadata/name").and_then(Value::as_str) == Some(&suite.crd_name)
        };
        let found: Vec<_> = given.iter().filter(is_its).cloned().collect();
        match found.is_empty() {
            true => Err(unusable(self.path, &format!("no CRD named `{}`", suite.crd_name))),
            false => Ok(found),
        }
    }
}
