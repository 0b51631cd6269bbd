//! `billhook data`: the files of `billhook serve --data`, while no server has them open, and etcd.

mod export;
mod import;

use std::path::{Path, PathBuf};

use billhook_apiserver::storage::{BackendError, Redb};
use clap::{Args, Subcommand};
use tokio::runtime::Runtime;

use crate::etcd::EtcdArgs;
use crate::problem::{Place, Problem, RunError, Status};
use crate::report;

pub(crate) const HELP: &str = "\
Exit status:
  0  all is well
  2  the file cannot be opened: it is not there, damaged, of a newer release, or open in a server;
     etcd does not answer; or objects cannot be imported: the file exists, etcd has objects, or
     their kinds are unknown

A copy of a file that no server has open is a snapshot; `etcdctl snapshot save` makes one of an
etcd. FILE.sums beside it only lets a server start sooner: it may be left out of a copy, or removed.
Imported objects are not validated; their resource versions are new. `billhook serve --load` creates
objects that were not exported.

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
    /// Print all objects of a file or an etcd as a list in JSON
    Export(Export),
    /// Make a new file of a list of objects, as export prints it, or fill an etcd with them
    Import(Import),
}

#[derive(Debug, Args)]
struct Export {
    /// File of `billhook serve --data`
    #[arg(required_unless_present = "etcd_servers", conflicts_with = "etcd_servers")]
    file: Option<PathBuf>,
    #[command(flatten)]
    etcd: EtcdArgs,
}

#[derive(Debug, Args)]
#[command(allow_missing_positional = true)]
struct Import {
    /// New file for `billhook serve --data`
    #[arg(required_unless_present = "etcd_servers", conflicts_with = "etcd_servers")]
    file: Option<PathBuf>,
    /// List of objects and their CRDs in JSON
    list: PathBuf,
    #[command(flatten)]
    etcd: EtcdArgs,
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
        DataCommand::Export(export) => export::run(export.file.as_deref(), &export.etcd),
        DataCommand::Import(import) => {
            import::run(import.file.as_deref(), &import.etcd, &import.list)
        }
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

fn runtime() -> std::io::Result<Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

fn problem(file: &Path, error: &BackendError) -> RunError {
    Problem::system(Place::path(file), &error.to_string()).into()
}
