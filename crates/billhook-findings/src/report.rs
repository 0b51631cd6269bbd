//! The things that were looked at.

use crate::finding::{Finding, Severity};

/// A thing that was looked at, and what was found.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Subject {
    /// The file.
    pub file: String,
    /// Its name in the file: `Backup shop/nightly`.
    pub name: String,
    /// The findings, in order.
    pub findings: Vec<Finding>,
}

impl Subject {
    /// Creates a subject.
    pub fn new(file: impl Into<String>, name: impl Into<String>, findings: Vec<Finding>) -> Self {
        Subject { file: file.into(), name: name.into(), findings }
    }

    /// Returns whether an error was found.
    pub fn has_errors(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == Severity::Error)
    }
}
