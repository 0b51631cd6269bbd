//! `billhook owners`: who owns which fields of an object, as a tree.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use billhook_apply::{ManagedFields, ManagerEntry, OwnedPath, PathElement};
use clap::Args;
use serde_json::Value;

use crate::identity::Identity;
use crate::input::{Document, objects};
use crate::json::{self, Fields};
use crate::options::Report;
use crate::problem::{Problem, RunError, Status};
use crate::report::{self, visible};

pub(crate) const HELP: &str = "\
An update also owns the lists and maps that it created, an apply only what is in them.

Exit status:
  0  the owners are printed; an object may have none
  2  unusable input: a missing file, not YAML or JSON, managed fields that cannot be read

Examples:
  billhook owners live.yaml
  billhook owners --report json live.yaml .spec.target
  kubectl get backups -o yaml --show-managed-fields | billhook owners -";

/// Most often the object was printed without them.
const WITHOUT_FIELDS: &str =
    "no managed fields; `kubectl get` prints them with `--show-managed-fields`";

/// Elements have no position unless their list is owned as a whole.
const BY_KEYS: &str = "no owned field has this path; elements of lists are named by their keys, such as \
    `[name=\"http\"]`";

#[derive(Debug, Args)]
pub(crate) struct Owners {
    /// Format of the report: text, or one JSON document
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Report::Text)]
    report: Report,
    /// Objects with their managed fields (`kubectl get -o yaml --show-managed-fields`): a file, a
    /// directory or `-` for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Print only this field and those below it, such as `.spec.ports[name="http"]`
    #[arg(value_name = "PATH")]
    path: Option<String>,
}

/// Runs the command.
pub(crate) fn run(command: &Owners) -> Result<Status, RunError> {
    let mut status = Status::Fine;
    let is_json = command.report == Report::Json;
    let mut items = is_json.then(|| json::Items::new("OwnersReport"));
    for found in objects(std::slice::from_ref(&command.file)) {
        let owned = found.and_then(|document| Owned::of(document, command.path.as_deref()));
        match (owned, &mut items) {
            (Ok(owned), Some(items)) => items.add(owned.item())?,
            (Ok(owned), None) => report::write(&owned.text())?,
            (Err(problem), _) => status = status.max(report::problem(&problem)),
        }
    }
    items.map_or(Ok(()), json::Items::finish)?;
    Ok(status)
}

/// The owned fields of an object, each with its owners.
struct Owned {
    document: Document,
    identity: Identity,
    /// Whether any manager owns a field in the object.
    is_managed: bool,
    /// Whether the path has the position of an element.
    has_position: bool,
    fields: BTreeMap<OwnedPath, Vec<ManagerEntry>>,
}

impl Owned {
    /// Collects the fields at and below a path.
    fn of(document: Document, path: Option<&str>) -> Result<Self, Box<Problem>> {
        let managed = ManagedFields::of(&document.value)
            .map_err(|error| Problem::unusable(document.place.clone(), error.to_string()))?;
        let path = path.map(with_dot);
        let path = path.as_deref();
        let mut fields: BTreeMap<OwnedPath, Vec<ManagerEntry>> = BTreeMap::new();
        for entry in managed.entries() {
            for field in entry.fields().paths().into_iter().filter(|field| is_below(field, path)) {
                fields.entry(field).or_default().push(entry.clone());
            }
        }
        let identity = Identity::of(&document.value);
        let (is_managed, has_position) = (!managed.is_empty(), path.is_some_and(has_position));
        Ok(Owned { document, identity, is_managed, has_position, fields })
    }

    /// One line for each field and each step on the way to it, indented by its depth.
    fn text(&self) -> String {
        let mut out = String::new();
        let count = match self.fields.len() {
            0 if !self.is_managed => WITHOUT_FIELDS.to_owned(),
            0 if self.has_position => BY_KEYS.to_owned(),
            0 => "nobody owns a field here".to_owned(),
            1 => "1 field is owned".to_owned(),
            count => format!("{count} fields are owned"),
        };
        report::title(&mut out, &self.document.place, &self.identity, &count);
        let mut above: &[PathElement] = &[];
        for (path, owners) in &self.fields {
            let elements = path.elements();
            let shared = above.iter().zip(elements).take_while(|(left, right)| left == right);
            let shared = shared.count();
            for (depth, element) in elements.iter().enumerate().skip(shared) {
                let indent = "  ".repeat(depth + 1);
                let _ = write!(out, "{indent}{}", visible(&element.to_string()));
                if depth + 1 == elements.len() {
                    let owners: Vec<String> = owners.iter().map(owner).collect();
                    let _ = write!(out, "  {}", visible(&owners.join("; ")));
                }
                out.push('\n');
            }
            above = elements;
        }
        out
    }

    fn item(self) -> Fields {
        let mut item = Fields::of_object(self.document.place, self.identity);
        let fields = self.fields.iter().map(|(path, owners)| {
            let mut field = Fields::default();
            field.text("path", Some(path.to_string()));
            field.value("owners", owners.iter().map(owner_item).collect());
            field.into_value()
        });
        item.value("fields", fields.collect());
        item
    }
}

/// The path of a field as sets print it, which begins with a dot.
fn with_dot(path: &str) -> Cow<'_, str> {
    match path.is_empty() || path.starts_with(['.', '[']) {
        true => Cow::Borrowed(path),
        false => Cow::Owned(format!(".{path}")),
    }
}

/// Whether a path names an element by its position, as in `.ports[0]`.
fn has_position(path: &str) -> bool {
    path.split('[').skip(1).any(|step| step.starts_with(|c: char| c.is_ascii_digit()))
}

fn is_below(field: &OwnedPath, path: Option<&str>) -> bool {
    let Some(path) = path else { return true };
    let text = field.to_string();
    let rest = text.strip_prefix(path);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

fn owner(entry: &ManagerEntry) -> String {
    let mut text = entry.manager.clone();
    let _ = write!(text, " ({} {}", entry.operation.name(), entry.api_version);
    if !entry.subresource.is_empty() {
        let _ = write!(text, " {}", entry.subresource);
    }
    if !entry.time.is_zero() {
        let _ = write!(text, ", {}", entry.time.to_rfc3339());
    }
    text.push(')');
    text
}

fn owner_item(entry: &ManagerEntry) -> Value {
    let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let mut owner = Fields::default();
    owner.text("manager", some(&entry.manager));
    owner.text("operation", some(entry.operation.name()));
    owner.text("apiVersion", some(&entry.api_version));
    owner.text("subresource", some(&entry.subresource));
    owner.text("time", (!entry.time.is_zero()).then(|| entry.time.to_rfc3339()));
    owner.into_value()
}
