//! `billhook data`: the files of `billhook serve --data`, while no server has them open.

mod import;

use std::path::{Path, PathBuf};

use billhook_apiserver::storage::{BackendError, Redb};
use clap::{Args, Subcommand};
use serde_json::value::RawValue;

use crate::problem::{Place, Problem, RunError, Status};
use crate::report;

pub(crate) const HELP: &str = "\
Exit status:
  0  all is well
  2  the file cannot be opened: it is not there, damaged, of a newer release, or open in a server;
     or objects cannot be imported: the file exists, or their kinds are unknown

Imported objects are not validated; their resource versions are new. `billhook serve --load` creates objects
that were not exported.

Examples:
  billhook data check objects.data
  billhook data export objects.data > objects.json
  billhook data import restored.data objects.json";

#[derive(Debug, Args)]
pub(crate) struct Data {
    #[command(subcommand)]
    command: DataCommand,
}

#[derive(Debug, Subcommand)]
enum DataCommand {
    /// Check every page of a file, and that objects and changes fit each other
    Check(OfFile),
    /// Give back the space that a file does not need
    Compact(OfFile),
    /// Print all objects as a list in JSON
    Export(OfFile),
    /// Make a new file of a list of objects, as export prints it
    Import(Import),
}

#[derive(Debug, Args)]
struct Import {
    /// New file for `billhook serve --data`
    file: PathBuf,
    /// List of objects and their CRDs in JSON
    list: PathBuf,
}

#[derive(Debug, Args)]
struct OfFile {
    /// File of `billhook serve --data`
    file: PathBuf,
}

pub(crate) fn run(command: &Data) -> Result<Status, RunError> {
    match &command.command {
        DataCommand::Check(OfFile { file }) => check(file),
        DataCommand::Compact(OfFile { file }) => compact(file),
        DataCommand::Export(OfFile { file }) => export(file),
        DataCommand::Import(Import { file, list }) => import::run(file, list),
    }
}

fn check(file: &Path) -> Result<Status, RunError> {
    let report = Redb::check(file).map_err(|error| problem(file, &error))?;
    report::write(&format!(
        "{}: {} objects at revision {}, with the history from revision {} (format {})\n",
        file.display(),
        report.objects,
        report.revision,
        report.compacted,
        report.format,
    ))?;
    Ok(Status::Fine)
}

fn compact(file: &Path) -> Result<Status, RunError> {
    let place = || Place::path(file);
    let size = || std::fs::metadata(file).map(|found| found.len());
    let before = size().map_err(|error| Problem::io(place(), &error))?;
    Redb::compact_file(file).map_err(|error| problem(file, &error))?;
    let after = size().map_err(|error| Problem::io(place(), &error))?;
    report::write(&format!("{}: {before} bytes before, {after} after\n", file.display()))?;
    Ok(Status::Fine)
}

/// Prints the stored texts as they are.
fn export(file: &Path) -> Result<Status, RunError> {
    let exported = Redb::export(file).map_err(|error| problem(file, &error))?;
    let mut text = String::from(r#"{"apiVersion":"v1","kind":"List","items":["#);
    let mut separator = "\n";
    for (collection, objects) in exported {
        for object in objects {
            let read: Result<&RawValue, _> = serde_json::from_slice(&object.text);
            let read = read.map_err(|error| {
                let message = format!("{collection} {}: {error}", object.key);
                Problem::unusable(Place::path(file), message)
            })?;
            text.push_str(separator);
            text.push_str(read.get());
            separator = ",\n";
        }
    }
    text.push_str("\n]}\n");
    report::write(&text)?;
    Ok(Status::Fine)
}

fn problem(file: &Path, error: &BackendError) -> RunError {
    Problem::unusable(Place::path(file), error.to_string()).into()
}
