//! How cases went: failures as findings in the text of the suite, and a summary.

use std::io;
use std::path::Path;
use std::time::Duration;

use billhook_findings::{Finding, Subject};
use billhook_suite::Failure;

use crate::findings::{self, Collector};
use crate::options::Report;
use crate::problem::{Problem, Status};
use crate::report::{self, visible, write};
use crate::suites::args::Test;

/// Prints outcomes, and counts them.
pub(super) struct Printer {
    collector: Option<Collector>,
    passed: usize,
    failed: usize,
    /// How many cases fail whose failures do not count as errors.
    ignored: usize,
    /// The worst outcome.
    status: Status,
    /// Whether to print how long each case took.
    durations: bool,
    /// Whether to print no summary.
    quiet: bool,
}

impl Printer {
    pub(super) fn new(command: &Test) -> Self {
        let Test { durations, quiet, findings, .. } = *command;
        let format = if durations { None } else { findings.or_ci(Report::Text).given() };
        let collector = format.map(Collector::new);
        let (passed, failed, ignored) = (0, 0, 0);
        Printer { collector, passed, failed, ignored, status: Status::Fine, durations, quiet }
    }

    pub(super) fn count(&self) -> usize {
        self.passed + self.failed + self.ignored
    }

    pub(super) fn status(&self) -> Status {
        self.status
    }

    pub(super) fn add(
        &mut self,
        subject: Subject,
        outcome: &Result<(), Failure>,
        took: Duration,
    ) -> io::Result<()> {
        match outcome {
            Ok(()) => self.passed += 1,
            Err(_) if !subject.has_errors() => self.ignored += 1,
            Err(failure) => {
                self.failed += 1;
                let is_run = !failure.is_unusable();
                let status = if is_run { Status::Refused } else { Status::Unusable };
                self.status = self.status.max(status);
            }
        }
        if let Some(collector) = &mut self.collector {
            return collector.add_subject(subject);
        }
        let mut text = String::new();
        if self.durations || !subject.findings.is_empty() {
            text = format!("{}: {}", visible(&subject.file), visible(&subject.name));
        }
        if self.durations {
            text.push_str(&format!(": {took:.1?}"));
        }
        if !text.is_empty() {
            text.push('\n');
        }
        if let Err(failure) = outcome
            && !subject.findings.is_empty()
        {
            text.push_str(&findings::text(&subject.findings));
            text.push_str(&difference(failure));
        }
        write(&text)
    }

    /// Remarks about a suite.
    pub(super) fn remarks(&mut self, path: &Path, remarks: Vec<Finding>) -> io::Result<()> {
        match &mut self.collector {
            _ if remarks.is_empty() => Ok(()),
            Some(collector) => {
                let name = path.to_string_lossy();
                collector.add_subject(Subject::new(name, "suite", remarks))
            }
            None => write(&findings::text(&remarks)),
        }
    }

    /// A suite that cannot be run.
    pub(super) fn problem(&mut self, path: &Path, problem: &Problem) -> io::Result<()> {
        match &mut self.collector {
            Some(collector) => {
                let finding = findings::problem(problem);
                collector.add_subject(Subject::new(path.to_string_lossy(), "suite", vec![finding]))
            }
            None => {
                report::problem(problem);
                Ok(())
            }
        }
    }

    /// Ends the report of a run that took a time.
    pub(super) fn finish(self, took: Duration) -> io::Result<()> {
        let Printer { collector, durations, passed, failed, ignored, quiet, .. } = self;
        let ignored = if ignored > 0 { format!(", {ignored} ignored") } else { String::new() };
        let took = if durations { format!(" in {took:.1?}") } else { String::new() };
        match collector {
            Some(collector) => collector.finish(),
            None if quiet => Ok(()),
            None => write(&format!("{passed} passed, {failed} failed{ignored}{took}\n")),
        }
    }
}

/// The lines in which an object differs from the expected one.
fn difference(failure: &Failure) -> String {
    let Some(text) = failure.difference() else { return String::new() };
    let lines = text.lines().map(|line| format!("    {}\n", visible(line)));
    lines.chain(["\n".to_owned()]).collect()
}
