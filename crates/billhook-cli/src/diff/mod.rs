//! `billhook diff`: the differences between manifests and live objects, each with its cause.

pub(crate) mod args;
mod ignore;
mod report;
mod secrets;

use billhook_apimachinery::split_api_version;
use std::collections::HashSet;
use std::path::PathBuf;

use billhook::{CrdVersion, DifferenceError};
use serde_json::Value;

use crate::crds::Crds;
use crate::diff::args::Diff;
use crate::diff::ignore::Ignored;
use crate::diff::report::Compared;
use crate::identity::{Identity, type_meta};
use crate::input::{Document, files_in, manifests, objects, readable_documents};
use crate::json;
use crate::options::Report;
use crate::problem::{Place, Problem, RunError, Status};
use crate::report as output;
use crate::stored::Stored;

/// Runs the command.
pub(crate) fn run(command: &Diff) -> Result<Status, RunError> {
    let (desired, live) = command.sides();
    let inputs = std::slice::from_ref(desired);
    let config = command.server.config(inputs)?;
    let options = command.server.crd_options(&config);
    let (crds, mut problems) = Crds::read(&command.crd.paths, &config, inputs, options);
    let [desired, live] = [desired, live].map(|path| match command.kubectl {
        true => files_in(path).unwrap_or_else(|problem| {
            problems.push(*problem);
            Vec::new()
        }),
        false => vec![path.clone()],
    });
    // A file that has no counterpart is of an object that would go.
    let pruned: Vec<PathBuf> = if command.kubectl { missing(&live, &desired) } else { Vec::new() };
    let pruned = readable_documents(&pruned, &mut problems);
    let live = readable_documents(&live, &mut problems);
    let live = Stored::new(live, &command.namespace, Some(&crds));
    let mut status = output::problems(&problems);
    if status > Status::Fine {
        return Ok(status);
    }
    let run = Run { command, crds: &crds, live: &live };
    let mut ignored = command.ignore_for.map(Ignored::new);
    let is_json = command.report == Report::Json;
    let mut items = is_json.then(|| json::Items::new("DiffReport"));
    let mut is_untracked = false;
    for compared in run.all(&desired).chain(pruned.into_iter().map(|it| Ok(Compared::pruned(it)))) {
        let compared = match compared {
            Ok(compared) => compared,
            Err(problem) => {
                status = status.max(output::problem(&problem));
                continue;
            }
        };
        status = status.max(compared.status());
        is_untracked |= compared.is_untracked && compared.has_more();
        match (&mut ignored, &mut items) {
            (Some(ignored), _) => {
                let live = run.live.find(&compared.identity);
                ignored.add(&compared, live.map(|document| &*document.value));
            }
            (None, Some(items)) => items.add(compared.item())?,
            (None, None) => output::write(&compared.text(command.quiet))?,
        }
    }
    items.map_or(Ok(()), json::Items::finish)?;
    ignored.map_or(Ok(()), |ignored| output::write(&ignored.text()))?;
    if is_untracked && !command.kubectl {
        output::warning(UNTRACKED);
    }
    Ok(status)
}

/// Most often the objects were printed without them.
const UNTRACKED: &str = "live objects without managed fields: who set what only they have is not \
    known; `kubectl get` prints managed fields with `--show-managed-fields`";

/// The files whose names none of the others has.
fn missing(files: &[PathBuf], others: &[PathBuf]) -> Vec<PathBuf> {
    let names: HashSet<_> = others.iter().map(|path| path.file_name()).collect();
    files.iter().filter(|path| !names.contains(&path.file_name())).cloned().collect()
}

struct Run<'r> {
    command: &'r Diff,
    crds: &'r Crds,
    live: &'r Stored,
}

impl Run<'_> {
    fn all(&self, desired: &[PathBuf]) -> impl Iterator<Item = Result<Compared, Box<Problem>>> {
        let found: Box<dyn Iterator<Item = Result<Document, Box<Problem>>>> =
            match self.command.kubectl {
                // There may be nothing that changes.
                true => Box::new(manifests(desired)),
                false => Box::new(objects(desired)),
            };
        found.map(|found| found.and_then(|document| self.compare(document)))
    }

    fn compare(&self, document: Document) -> Result<Compared, Box<Problem>> {
        let Document { place, value, .. } = document;
        let identity = Identity::of(&value);
        let version = self.version(&value, &identity, &place)?;
        let is_own = |manager: &str| self.command.is_own(manager);
        let live = self.live.find(&identity);
        let has_none = |live: &Document| live.value.pointer("/metadata/managedFields").is_none();
        let is_untracked = live.is_some_and(has_none);
        let differences = live.map(|live| {
            let found = match &version {
                Some(version) => version.differences(&value, &live.value, &is_own),
                None => billhook::differences_without_schema(&value, &live.value, &is_own),
            };
            found.map_err(|error| {
                let is_of_manifest =
                    matches!(error, DifferenceError::Desired(_) | DifferenceError::DesiredTypes(_));
                let help = match is_of_manifest {
                    true => "`billhook validate` shows the place".to_owned(),
                    false => format!("the live object is in `{}`", live.place),
                };
                Problem::refused(place.clone(), format!("cannot be compared: {error}")).help(help)
            })
        });
        let mut differences = differences.transpose()?;
        if secrets::is_secret(&identity) {
            differences.iter_mut().flatten().for_each(secrets::hide);
        }
        Ok(Compared { differences, place, identity, is_untracked, is_pruned: false })
    }

    /// The version of the definition; none if kubectl passes an object of a kind without one, or a
    /// Secret, of which it hides the data.
    fn version(
        &self,
        value: &Value,
        identity: &Identity,
        place: &Place,
    ) -> Result<Option<CrdVersion>, Box<Problem>> {
        let (api_version, kind) = type_meta(value, identity, place)?;
        let (group, _) = split_api_version(api_version);
        let is_plain = !self.crds.has(group, kind) || secrets::is_secret(identity);
        if self.command.kubectl && is_plain {
            return Ok(None);
        }
        self.crds.version_of(value, identity, place).map(|(_, version)| Some(version))
    }
}
