//! `billhook test`: the cases of suites, each against the definitions of its suite.

mod args;
mod calling;
mod counting;
mod report;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use billhook::CustomResourceDefinition;
use billhook_suite::{
    Coverage, Failure, FileError, FoundDefinition, GeneratedSuite, Plan, PlanError, PlanOptions,
    Run, find_suites, generate, update_expectations,
};

use crate::crd_files::Files;
use crate::files::replace;
use crate::input::{Document, read_file, readable_documents};
use crate::parallel;
use crate::policy::Config;
use crate::problem::{self, Place, Problem, RunError, Status};
use crate::report as messages;
use crate::watch;
pub(crate) use args::{HELP, Test};
use counting::Counting;
use report::Printer;

/// How often a suite is run again after an update: one shows the next difference of a case.
const MAX_ROUNDS: usize = 20;

/// The outcome of a run, and how long it took.
type Timed = (Result<(), Failure>, Duration);

/// Runs the command.
pub(crate) fn run(command: &Test) -> Result<Status, RunError> {
    let start = Instant::now();
    let mut problems = Vec::new();
    let config = command.server.config(&command.suites);
    let config = config.map_err(|problem| problems.push(*problem)).unwrap_or_default();
    let options = options(command, &config, &mut problems);
    if command.generate {
        return generated(command, &problems, options.definitions.as_deref().unwrap_or_default());
    }
    let suites = suites(&command.suites, &mut problems);
    let mut status = messages::problems(&problems);
    if command.update {
        status = status.max(update(&suites, command.filter.as_deref(), &options, &config));
    }
    let mut printer = Printer::new(command);
    let plans = parallel::map(&suites, |path| Plan::load(path, &options));
    for (path, plan) in suites.iter().zip(&plans) {
        let remarks = plan.as_ref().map_or(&[][..], Plan::remarks);
        printer.remarks(path, Counting::new(&config).remarks(remarks))?;
    }
    let wanted: Vec<Result<Vec<Run>, PlanError>> =
        plans.into_iter().map(|plan| Ok(wanted(plan?, command.filter.as_deref()))).collect();
    let runs: Vec<&Run> = wanted.iter().flatten().flatten().collect();
    let mut outcomes = parallel::map(&runs, |run| timed(run)).into_iter();
    for (path, plan) in suites.iter().zip(&wanted) {
        match plan {
            Ok(runs) => {
                let mut counting = Counting::new(&config);
                for (run, (outcome, took)) in runs.iter().zip(outcomes.by_ref()) {
                    printer.add(counting.subject(run, &outcome), &outcome, took)?;
                }
                if command.filter.is_none() {
                    printer.remarks(path, counting.unused())?;
                }
            }
            Err(error) => {
                let problem = unusable(error);
                status = status.max(problem.status);
                printer.problem(path, &problem)?;
            }
        }
    }
    if printer.count() == 0 && status == Status::Fine {
        let message = match &command.filter {
            Some(filter) => format!("no case has `{filter}` in its name"),
            None => "no cases here".to_owned(),
        };
        return Err(problem::nothing(&command.suites, &message).into());
    }
    status = status.max(printer.status());
    printer.finish(start.elapsed())?;
    Ok(status.max(coverage(command, &options, &runs)?))
}

/// Writes what the cases of suites are to expect, as it is now; known failures stay.
fn update(
    suites: &[PathBuf],
    filter: Option<&str>,
    options: &PlanOptions,
    config: &Config,
) -> Status {
    let mut status = Status::Fine;
    for path in suites.iter().filter(|path| path.is_file()) {
        let mut is_updated = false;
        for _ in 0..MAX_ROUNDS {
            // A suite that cannot be read is reported when it is run.
            let Ok(plan) = Plan::load(path, options) else { break };
            let runs = wanted(plan, filter);
            let Some(before) = runs.first().map(Run::source) else { break };
            let outcomes = parallel::map(&runs, Run::run);
            let mut counting = Counting::new(config);
            let mut counts = |(run, outcome): &(&Run, &Result<(), Failure>)| {
                outcome.is_ok() || !counting.subject(run, outcome).findings.is_empty()
            };
            let outcomes: Vec<_> = runs.iter().zip(&outcomes).filter(|it| counts(it)).collect();
            let Some(text) = update_expectations(&outcomes) else { break };
            if let Err(error) = replace(path, before.bytes(), text.as_bytes()) {
                let problem = Problem::io(Place::path(path), &error);
                status = status.max(messages::problem(&problem));
                break;
            }
            is_updated = true;
        }
        if is_updated {
            messages::note("updated", &path.to_string_lossy());
        }
    }
    status
}

/// Prints and writes what the runs exercise, if that is asked for.
fn coverage(command: &Test, options: &PlanOptions, runs: &[&Run]) -> Result<Status, RunError> {
    let files = [&command.coverage_json, &command.coverage_lcov];
    if !command.coverage && files.iter().all(|file| file.is_none()) {
        return Ok(Status::Fine);
    }
    let mut coverage = Coverage::default();
    let given = options.definitions.iter().flatten();
    given.for_each(|definition| coverage.add_definition(definition));
    runs.iter().for_each(|run| coverage.add(run));
    if command.coverage {
        messages::write(&format!("\n{}", coverage.table()))?;
    }
    let texts = [
        (&command.coverage_json, billhook::to_json_pretty(&coverage.to_json()) + "\n"),
        (&command.coverage_lcov, coverage.to_lcov()),
    ];
    let mut status = Status::Fine;
    for (path, text) in texts {
        let Some(path) = path else { continue };
        if let Err(error) = std::fs::write(path, text) {
            let problem = Problem::io(Place::path(path), &error);
            status = messages::problem(&problem);
        }
    }
    Ok(status)
}

/// Prints a suite for a definition.
fn generated(
    command: &Test,
    problems: &[Problem],
    definitions: &[FoundDefinition],
) -> Result<Status, RunError> {
    let mut status = messages::problems(problems);
    let [definition] = definitions else {
        let names: Vec<&str> = definitions.iter().map(FoundDefinition::file).collect();
        let problem = match names.as_slice() {
            [] => problem::nothing(&command.crd, "no CRD here"),
            names => {
                let message = format!("`--generate` is for one CRD, found {}", names.len());
                Problem::unusable(Place::file(&names.join(", ")), message)
            }
        };
        return Err(problem.into());
    };
    match generate(definition, definition.file()) {
        Ok(suite) => {
            messages::write(&suite.text)?;
            messages::note("note", &untested(&suite));
        }
        Err(error) => {
            let problem = Problem::unusable(Place::file(definition.file()), error.to_string());
            status = status.max(messages::problem(&problem));
        }
    }
    Ok(status)
}

/// How many constraints of a generated suite have a case, and of what kinds the others are.
fn untested(suite: &GeneratedSuite) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for constraint in &suite.untested {
        *counts.entry(constraint.keyword).or_default() += 1;
    }
    let all = suite.tested + suite.untested.len();
    let mut text = format!("{} of {all} constraints have a failing case", suite.tested);
    if !counts.is_empty() {
        let counts: Vec<_> =
            counts.iter().map(|(keyword, count)| format!("{count} {keyword}")).collect();
        text.push_str(&format!("; the suite ends with the others: {}", counts.join(", ")));
    }
    text
}

fn timed(run: &Run) -> Timed {
    let start = Instant::now();
    (run.run(), start.elapsed())
}

/// The runs whose case has a text in its name.
fn wanted(plan: Plan, filter: Option<&str>) -> Vec<Run> {
    let mut runs = plan.into_runs();
    runs.retain(|run| filter.is_none_or(|filter| run.case_name().contains(filter)));
    runs
}

/// The definitions and the version for suites that name none.
fn options(command: &Test, config: &Config, problems: &mut Vec<Problem>) -> PlanOptions {
    let kubernetes = command.server.kubernetes(config);
    let options = PlanOptions::default().kubernetes(kubernetes).read(read_file);
    let options = options.caller(calling::caller);
    if command.crd.is_empty() {
        return options;
    }
    let definition = |document: Document| {
        let place = document.place.of_finding()?;
        let is_one = CustomResourceDefinition::is_definition(&document.value);
        is_one.then(|| FoundDefinition::new(place, document.value))
    };
    let files = Files::find(&command.crd);
    problems.extend(files.problems);
    let documents = readable_documents(&files.paths, problems).into_iter();
    options.definitions(documents.filter_map(definition).collect())
}

/// The files of suites; directories are searched.
fn suites(paths: &[PathBuf], problems: &mut Vec<Problem>) -> Vec<PathBuf> {
    let mut suites = Vec::new();
    for path in paths {
        if !path.is_dir() {
            suites.push(path.clone());
            continue;
        }
        watch::note_tree(path);
        match find_suites(path, read_file) {
            Ok(found) => suites.extend(found),
            Err(FileError::Io { path, error, .. }) => {
                problems.push(*Problem::io(Place::path(&path), &error));
            }
            Err(error) => problems.push(*at(path, &error.to_string())),
        }
    }
    suites
}

fn at(path: &Path, message: &str) -> Box<Problem> {
    Problem::unusable(Place::path(path), message)
}

fn unusable(error: &PlanError) -> Box<Problem> {
    let place = Place { text: error.place, ..Place::file(&error.file) };
    let problem = Problem::unusable(place, error.message.as_str());
    match &error.help {
        Some(help) => problem.help(help.as_str()),
        None => problem,
    }
}
