//! Suites that cannot be run.

use std::fmt;
use std::path::Path;

use billhook::FieldError;
use billhook_apimachinery::record::Record;
use billhook_findings::{Finding, Severity};

use crate::files::{FileError, FoundDefinition};

/// A suite that cannot be run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlanError {
    /// The file.
    pub file: String,
    /// Line and column in it, from 1.
    pub place: Option<(usize, usize)>,
    /// The reason.
    pub message: String,
    /// Advice.
    pub help: Option<String>,
}

impl PlanError {
    pub(crate) fn new(path: &Path, message: impl fmt::Display) -> Self {
        let file = path.to_string_lossy().into_owned();
        PlanError { file, place: None, message: message.to_string(), help: None }
    }

    /// The error of a file that the suite names, or that is the suite itself.
    pub(crate) fn of_file(error: &FileError) -> Self {
        match error {
            FileError::Io { path, error } => Self::new(path, io_text(error)),
            FileError::Manifest { path, error } => {
                PlanError { place: error.place(), ..Self::new(path, error) }
            }
        }
    }

    /// The error of a document of a built-in kind that cannot be read.
    pub(crate) fn of_document(
        found: &FoundDefinition,
        kind: &'static Record,
        error: impl fmt::Display,
    ) -> Self {
        let mut finding = Finding::new(Severity::Error, "refused", error.to_string());
        finding.place = Some(found.place.clone());
        Self::of_finding(found, &finding.suggest_type_of(kind))
    }

    /// The error of a field of a document.
    pub(crate) fn of_field(found: &FoundDefinition, error: &FieldError) -> Self {
        let finding = Finding::new(Severity::Error, "refused", error.to_string());
        Self::of_finding(found, &finding.at(&found.place, error.field().clone()))
    }

    fn of_finding(found: &FoundDefinition, finding: &Finding) -> Self {
        PlanError {
            place: finding.start().map(|start| (start.line, start.column)),
            help: finding.label.clone(),
            ..Self::new(Path::new(found.file()), &finding.text)
        }
    }

    pub(crate) fn help(mut self, help: &str) -> Self {
        self.help = Some(help.to_owned());
        self
    }
}

/// The text of an error of the system, without its number.
fn io_text(error: &std::io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some((line, column)) = self.place {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for PlanError {}
