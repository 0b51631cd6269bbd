//! Options that several subcommands share.

use std::path::{Path, PathBuf};

use billhook::FieldValidation;
use clap::ValueEnum;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Validation {
    /// Refuse the object
    Strict,
    /// Drop them with a warning
    Warn,
    /// Drop them silently
    Ignore,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// YAML documents
    Yaml,
    /// Indented JSON, one object after another
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Report {
    /// Text
    Text,
    /// One document for the whole run
    Json,
}

pub(crate) fn field_validation(chosen: Option<Validation>) -> FieldValidation {
    match chosen {
        Some(Validation::Strict) => FieldValidation::Strict,
        Some(Validation::Warn) | None => FieldValidation::Warn,
        Some(Validation::Ignore) => FieldValidation::Ignore,
    }
}

/// Refuses paths of which several are standard input.
pub(crate) fn read_stdin_once<'p>(
    mut paths: impl Iterator<Item = &'p PathBuf>,
) -> Result<(), &'static str> {
    paths.by_ref().find(|path| is_stdin(path));
    match paths.any(|path| is_stdin(path)) {
        true => Err("standard input (`-`) can be read only once"),
        false => Ok(()),
    }
}

/// Whether a path stands for standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}
