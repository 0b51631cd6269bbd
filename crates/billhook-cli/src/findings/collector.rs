//! The printing of findings.

use std::io;

use billhook_findings::{Finding, Format, Subject, human, print};

use crate::identity::Identity;
use crate::problem::Place;
use crate::report::{subject, write};

/// Collects what was found until the end of the run.
#[derive(Debug)]
pub(crate) struct Collector {
    format: Format,
    subjects: Vec<Subject>,
}

impl Collector {
    pub(crate) fn new(format: Format) -> Self {
        Collector { format, subjects: Vec::new() }
    }

    /// Adds what was found in an object; prints it at once where that is possible. Problems that
    /// were reported before are only for forms that list the objects.
    pub(crate) fn add(
        &mut self,
        place: &Place,
        identity: &Identity,
        findings: Vec<Finding>,
        is_reported: bool,
    ) -> io::Result<()> {
        if is_reported && !matches!(self.format, Format::Junit | Format::Tap) {
            return Ok(());
        }
        self.add_subject(Subject::new(place.file.as_str(), subject(place, identity), findings))
    }

    /// Adds what was found beside the objects.
    pub(crate) fn add_findings(&mut self, findings: Vec<Finding>) -> io::Result<()> {
        let file = findings.first().map(|finding| finding.file().to_owned()).unwrap_or_default();
        self.add_subject(Subject::new(file, "findings about no object", findings))
    }

    /// Adds what was found in a subject.
    pub(crate) fn add_subject(&mut self, subject: Subject) -> io::Result<()> {
        match self.format {
            Format::Human | Format::Concise | Format::Ndjson | Format::Github | Format::Azure => {
                write(&self.print(&[subject]))
            }
            _ => {
                self.subjects.push(subject);
                Ok(())
            }
        }
    }

    fn print(&self, subjects: &[Subject]) -> String {
        match self.format {
            Format::Human => text(subjects.iter().flat_map(|subject| &subject.findings)),
            format => print(format, subjects),
        }
    }

    /// Whether people are to read the findings.
    pub(crate) fn is_for_people(&self) -> bool {
        matches!(self.format, Format::Human)
    }

    /// Prints what has not been printed.
    pub(crate) fn finish(self) -> io::Result<()> {
        match self.format {
            Format::Human | Format::Concise | Format::Ndjson | Format::Github | Format::Azure => {
                Ok(())
            }
            _ => write(&self.print(&self.subjects)),
        }
    }
}

/// Findings for people, with colors.
pub(crate) fn text<'f>(findings: impl IntoIterator<Item = &'f Finding>) -> String {
    findings.into_iter().map(|finding| human(finding, true)).collect()
}
