//! Suites that cannot be run.

use std::fmt;
use std::path::Path;

use crate::files::FileError;

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
