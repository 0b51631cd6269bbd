//! How cases went: failures as findings in the text of the suite, and a summary.

use std::io;
use std::path::Path;

use billhook::FieldPath;
use billhook_findings::{Finding, Format, Place, Severity, Subject};
use billhook_suite::{Case, Failure, Stage};
use similar::TextDiff;

use crate::findings::{self, Collector};
use crate::problem::{Problem, Status};
use crate::report::{self, visible, write};

/// The rule of all failures.
const RULE: &str = "suite";

/// How a case went against a definition.
pub(super) struct Outcome<'o> {
    pub(super) place: &'o Place,
    pub(super) case: Case<'o>,
    /// The position in its list.
    pub(super) index: usize,
    pub(super) definition: &'o str,
    pub(super) result: Result<(), Failure>,
}

impl Outcome<'_> {
    fn subject(&self) -> Subject {
        let name = format!("{}: {} ({})", self.case.list(), self.case.name(), self.definition);
        let findings = self.result.as_ref().err().map(|failure| self.finding(failure));
        Subject::new(self.place.source.name(), name, findings.into_iter().collect())
    }

    fn finding(&self, failure: &Failure) -> Finding {
        let case = FieldPath::default().name("tests").name(self.case.list()).index(self.index);
        let path = match field(failure) {
            Some(field) => case.name(field),
            None => case,
        };
        let text = format!("{}: {failure}", self.case.name());
        Finding::new(Severity::Error, RULE, text).at(self.place, path)
    }
}

/// The field of a case that a failure is about.
fn field(failure: &Failure) -> Option<&'static str> {
    match failure {
        Failure::Refused { stage: Stage::Create, .. } => Some("initial"),
        Failure::Refused { .. } => Some("updated"),
        Failure::Accepted { stage: Stage::UpdateStatus, .. }
        | Failure::Text { stage: Stage::UpdateStatus, .. } => Some("expectedStatusError"),
        Failure::Accepted { .. } | Failure::Text { .. } => Some("expectedError"),
        Failure::Object { .. } => Some("expected"),
        _ => None,
    }
}

/// Prints outcomes, and counts them.
pub(super) struct Printer {
    collector: Option<Collector>,
    passed: usize,
    failed: usize,
}

impl Printer {
    pub(super) fn new(format: Option<Format>) -> Self {
        Printer { collector: format.map(Collector::new), passed: 0, failed: 0 }
    }

    pub(super) fn count(&self) -> usize {
        self.passed + self.failed
    }

    pub(super) fn status(&self) -> Status {
        if self.failed > 0 { Status::Refused } else { Status::Fine }
    }

    pub(super) fn add(&mut self, outcome: &Outcome<'_>) -> io::Result<()> {
        match &outcome.result {
            Ok(()) => self.passed += 1,
            Err(_) => self.failed += 1,
        }
        let subject = outcome.subject();
        if let Some(collector) = &mut self.collector {
            return collector.add_subject(subject);
        }
        let Err(failure) = &outcome.result else { return Ok(()) };
        let mut text = format!("{}: {}\n", visible(&subject.file), visible(&subject.name));
        text.push_str(&findings::text(&subject.findings));
        if let Failure::Object { expected, actual } = failure {
            let (expected, actual) = (billhook::to_yaml(expected), billhook::to_yaml(actual));
            let diff = TextDiff::from_lines(&expected, &actual);
            let diff = diff.unified_diff().header("expected", "stored").to_string();
            for line in diff.lines() {
                text.push_str(&format!("    {}\n", visible(line)));
            }
            text.push('\n');
        }
        write(&text)
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

    pub(super) fn finish(self) -> io::Result<()> {
        match self.collector {
            Some(collector) => collector.finish(),
            None => write(&format!("{} passed, {} failed\n", self.passed, self.failed)),
        }
    }
}
