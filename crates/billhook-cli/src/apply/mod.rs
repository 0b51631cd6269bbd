//! `billhook apply`: the outcome of a server-side apply, without a server.

pub(crate) mod args;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io;

use billhook::{ApplyError, CrdVersion, DecodeOptions, FieldManagement, Status as ApiStatus, Time};
use billhook_admission::{
    Accepted, Chain, MemoryCluster, ObjectRequest, StoredObject, Subresource as For, Unreachable,
};
use billhook_apimachinery::print::quote;
use billhook_apply::{Conflict, ManagedFieldsOperation, MergeError};

use crate::apply::args::Apply;
use crate::crds::{Crds, Used};
use crate::identity::Identity;
use crate::input::{Document, objects, readable_documents};
use crate::options::field_validation;
use crate::problem::{Place, Problem, RunError, Status};
use crate::report::{self, Objects, visible};
use crate::stored::Stored;

/// Runs the command.
pub(crate) fn run(command: &Apply) -> Result<Status, RunError> {
    let config = command.server.config(&command.objects)?;
    let options = command.server.crd_options(&config);
    let (crds, mut problems) = Crds::read(&command.crd.paths, &config, &command.objects, options);
    let live = readable_documents(&command.live, &mut problems);
    let live = Stored::new(live, &command.namespace, Some(&crds)).with_namespaces();
    let mut status = report::problems(&problems);
    if status > Status::Fine {
        return Ok(status);
    }
    let printer = Objects::new(command.output);
    let mut run = Run { command, crds: &crds, live: &live, used: Used::default(), printer };
    for found in objects(&command.objects) {
        let done = found.and_then(|document| run.apply(&document));
        status = status.max(match done {
            Ok(applied) => run.print(&applied)?,
            Err(problem) => report::problem(&problem),
        });
    }
    Ok(status)
}

/// The state that the objects of a run share.
struct Run<'r> {
    command: &'r Apply,
    crds: &'r Crds,
    live: &'r Stored,
    used: Used,
    printer: Objects,
}

/// The outcome of one apply.
struct Applied {
    place: Place,
    result: Result<Accepted, ApiStatus>,
    warnings: Vec<String>,
    /// Whether the configuration has managed fields, which no server takes.
    has_managed_fields: bool,
    /// The conflicts, if it was refused for them.
    conflicts: Vec<Conflict>,
}

impl Run<'_> {
    fn apply(&mut self, document: &Document) -> Result<Applied, Box<Problem>> {
        let place = document.place.clone();
        let identity = Identity::of(&document.value);
        let (crd, version) = self.crds.version_of(&document.value, &identity, &place)?;
        let notes = self.used.notes(&crd, &version, true);
        notes.iter().for_each(|note| report::warning(note));
        let live = self.live.find(&identity);
        let admission = crd.admission(Chain::new(Unreachable));
        let request = self.request(&version, document, live, &identity);
        let outcome = admission.admit_blocking(&request, &MemoryCluster::new());
        let conflicts = match &outcome.result {
            Err(status) if is_conflict(status) => {
                let found = self.conflicts(&version, document, live);
                Some(found).filter(|found| are_those_of(found, status)).unwrap_or_default()
            }
            _ => Vec::new(),
        };
        let warnings = outcome.warnings.texts().iter().map(ToString::to_string).collect();
        let managed = document.value.pointer("/metadata/managedFields");
        let has_managed_fields = managed.is_some_and(|entries| !entries.is_null());
        Ok(Applied { place, result: outcome.result, warnings, has_managed_fields, conflicts })
    }

    fn request(
        &self,
        version: &CrdVersion,
        document: &Document,
        live: Option<&Document>,
        identity: &Identity,
    ) -> ObjectRequest {
        let command = self.command;
        let json = |document: &Document| billhook::to_json(&document.value).into_bytes();
        let body = document.body.as_ref();
        let body = body.map_or_else(|| json(document), |body| body.bytes().to_vec());
        let namespace = identity.namespace.as_deref().unwrap_or(&command.namespace);
        let request = ObjectRequest::apply(version.name(), &body, &[], &command.manager)
            .stored(StoredObject::new(live.map(json).unwrap_or_default()))
            .namespace(namespace)
            .force(command.force)
            .field_validation(field_validation(command.field_validation));
        match command.subresource {
            None => request,
            Some(args::Subresource::Status) => request.subresource(For::Status),
        }
    }

    /// The conflicts of an apply that was refused for them.
    fn conflicts(
        &self,
        version: &CrdVersion,
        document: &Document,
        live: Option<&Document>,
    ) -> Vec<Conflict> {
        let Some(live) = live else { return Vec::new() };
        let mut live = live.value.clone();
        if version.decode_storage_value(&mut live, &DecodeOptions::default()).is_err() {
            return Vec::new();
        }
        let subresource = if self.command.subresource.is_some() { "status" } else { "" };
        let fields = FieldManagement::new(version, &self.command.manager, Time::default());
        let applied = fields.subresource(subresource).apply(&document.value, Some(&live), false);
        match applied {
            Err(ApplyError::Merge(MergeError::Conflicts(conflicts))) => {
                conflicts.conflicts().to_vec()
            }
            _ => Vec::new(),
        }
    }

    fn print(&mut self, applied: &Applied) -> io::Result<Status> {
        let place = &applied.place;
        for warning in &applied.warnings {
            report::warning(&format!("{place}: {warning}"));
        }
        match &applied.result {
            Ok(accepted) => {
                if let Some(object) = accepted.returned() {
                    self.printer.print(&object)?;
                }
                Ok(Status::Fine)
            }
            Err(status) => {
                let mut owners = String::new();
                applied.conflicts.iter().for_each(|conflict| explain(&mut owners, conflict));
                let message = match owners.lines().count() {
                    // The lines that follow say what those of the message do.
                    2.. => status.message.split(": conflicts with").next().unwrap_or_default(),
                    _ => &status.message,
                };
                let mut problem = Problem::refused(place.clone(), message.to_owned());
                problem.help = match (is_conflict(status), applied.has_managed_fields) {
                    (true, _) => Some(CONFLICT_HELP.to_owned()),
                    (false, true) => Some(MANAGED_FIELDS_HELP.to_owned()),
                    (false, false) => help(&status.message).map(str::to_owned),
                };
                report::problem(&problem);
                report::to_stderr(&owners);
                Ok(Status::Refused)
            }
        }
    }
}

/// Whether others own fields that an apply changes (SA-80).
pub(crate) fn is_conflict(status: &ApiStatus) -> bool {
    conflicting_fields(status).next().is_some()
}

/// The fields of a refusal that others own.
fn conflicting_fields(status: &ApiStatus) -> impl Iterator<Item = &str> {
    let causes = status.details.iter().flat_map(|details| &details.causes);
    let of_managers = causes.filter(|cause| cause.reason == "FieldManagerConflict");
    of_managers.map(|cause| cause.field.as_str())
}

/// Whether conflicts are about the fields of a refusal. Those of managers of another version of a
/// built-in kind are not found without its conversion.
fn are_those_of(conflicts: &[Conflict], status: &ApiStatus) -> bool {
    let found = conflicts.iter().flat_map(|conflict| conflict.fields.paths());
    let found: BTreeSet<String> = found.map(|path| path.to_string()).collect();
    let refused: BTreeSet<&str> = conflicting_fields(status).collect();
    found.iter().map(String::as_str).eq(refused)
}

/// The way out of other refusals, by their texts.
fn help(message: &str) -> Option<&'static str> {
    match message {
        _ if message.starts_with("failed to create typed patch object") => {
            Some("`billhook validate --strict` shows the place")
        }
        _ if message.ends_with("name must be provided") => Some(
            "an apply is of the object with a name in `metadata.name`; `generateName` is for \
             creations",
        ),
        _ => None,
    }
}

const MANAGED_FIELDS_HELP: &str = "remove `metadata.managedFields` from the configuration; if it is \
    the live object, name it with `--live`, or make a configuration of it with `billhook neat`";

/// The ways out of a conflict.
pub(crate) const CONFLICT_HELP: &str = "to take the fields over, apply with `--force`; to leave \
    them to their owners, remove them from the configuration; to share them, apply the live values";

/// Who owns the fields in conflict, since when, and how.
fn explain(out: &mut String, conflict: &Conflict) {
    let owner = &conflict.owner;
    let mut how = match owner.operation {
        ManagedFieldsOperation::Apply => "applied".to_owned(),
        ManagedFieldsOperation::Update => "set by an update".to_owned(),
    };
    let _ = write!(how, " in {}", owner.api_version);
    if !owner.subresource.is_empty() {
        let _ = write!(how, " through the subresource {}", quote(&owner.subresource));
    }
    if !owner.time.is_zero() {
        let _ = write!(how, ", last at {}", owner.time.to_rfc3339());
    }
    for path in conflict.fields.paths() {
        let line = format!("{path}: owned by {}, {how}", quote(&owner.manager));
        let _ = writeln!(out, "  {}", visible(&line));
    }
}
