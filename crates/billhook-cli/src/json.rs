//! Outcomes for programs: one JSON document for the whole run, printed at its end. Fields that
//! have no value are left out, so that a `before` or `after` of null is a null in the object.

use std::io::{self, Write as _};

use billhook::{Change, ChangeKind};
use billhook_apimachinery::value::{DeepValue, deep_clone};
use serde_json::{Map, Value};

use crate::args::Command;
use crate::problem::{Place, Problem, Status};
use crate::report;
use crate::run::{Identity, Outcome};

/// Collects outcomes.
#[derive(Debug)]
pub(crate) struct JsonReport {
    kind: &'static str,
    objects: bool,
    items: Vec<DeepValue>,
}

impl JsonReport {
    pub(crate) fn new(command: &Command) -> Self {
        let kind = match command {
            Command::Decode(_) => "DecodeReport",
            Command::Prune(_) => "PruneReport",
            Command::Default(_) => "DefaultReport",
        };
        JsonReport { kind, objects: !command.common().check, items: Vec::new() }
    }

    /// Adds an outcome. Warnings about definitions and errors go to standard error too.
    pub(crate) fn add(&mut self, outcome: Outcome) {
        report::notes(&outcome);
        let mut item = Fields::of_object(outcome.place, outcome.identity);
        match outcome.result {
            Ok(done) => {
                item.value("changes", Value::from_iter(done.changes.iter().map(change)));
                item.value("warnings", Value::from(done.warnings));
                if self.objects {
                    item.value("object", done.object.into_inner());
                }
            }
            Err(problem) => {
                report::problem(&problem);
                item.value("changes", Value::Array(Vec::new()));
                item.value("warnings", Value::Array(Vec::new()));
                item.value("error", error(*problem));
            }
        }
        self.items.push(DeepValue::from(item.into_value()));
    }

    /// Prints the document.
    pub(crate) fn finish(self) -> io::Result<()> {
        print_document(self.kind, self.items)
    }
}

/// Prints a document of some kind that holds items.
pub(crate) fn print_document(kind: &str, items: Vec<DeepValue>) -> io::Result<()> {
    let mut document = Fields::default();
    document.text("apiVersion", Some("billhook.dev/v1alpha1".to_owned()));
    document.text("kind", Some(kind.to_owned()));
    let items = items.into_iter().map(DeepValue::into_inner);
    document.value("items", Value::from_iter(items));
    let document = DeepValue::from(document.into_value());
    let mut out = io::stdout().lock();
    out.write_all(billhook::to_json_pretty(&document).as_bytes())?;
    out.write_all(b"\n")?;
    out.flush()
}

fn change(change: &Change) -> Value {
    let mut reason = Fields::default();
    reason.text("rule", Some(change.reason().rule().to_owned()));
    reason.text("text", Some(change.reason().text().to_owned()));
    let mut fields = Fields::default();
    fields.text("path", Some(change.path().to_string()));
    fields.text("pointer", Some(change.path().to_json_pointer()));
    fields.text("kind", Some(kind(change.kind())));
    if let Some(before) = change.before() {
        fields.value("before", deep_clone(before));
    }
    if let Some(after) = change.after() {
        fields.value("after", deep_clone(after));
    }
    fields.value("reason", reason.into_value());
    let schema_path = change.schema_path();
    fields.text("schemaPath", (!schema_path.is_empty()).then(|| schema_path.to_string()));
    fields.into_value()
}

/// The kind as the library serialises it.
fn kind(kind: ChangeKind) -> String {
    match serde_json::to_value(kind) {
        Ok(Value::String(text)) => text,
        _ => kind.label().to_owned(),
    }
}

pub(crate) fn error(problem: Problem) -> Value {
    let reason = if problem.status == Status::Refused { "refused" } else { "unusable" };
    let mut fields = Fields::default();
    fields.text("reason", Some(reason.to_owned()));
    fields.text("message", Some(problem.message));
    fields.text("help", problem.help);
    fields.number("line", problem.place.text.map(|(line, _)| line));
    fields.number("column", problem.place.text.map(|(_, column)| column));
    fields.into_value()
}

/// An object in the making.
#[derive(Default)]
pub(crate) struct Fields(Map<String, Value>);

impl Fields {
    /// Where an object is and what it says it is.
    pub(crate) fn of_object(place: Place, identity: Identity) -> Self {
        let mut item = Fields::default();
        item.text("file", Some(place.file));
        item.number("document", place.document);
        item.number("item", place.item);
        item.text("apiVersion", identity.api_version);
        item.text("kind", identity.kind);
        item.text("namespace", identity.namespace);
        item.text("name", identity.name);
        item
    }

    pub(crate) fn value(&mut self, name: &str, value: Value) {
        self.0.insert(name.to_owned(), value);
    }

    pub(crate) fn text(&mut self, name: &str, text: Option<String>) {
        if let Some(text) = text {
            self.value(name, Value::from(text));
        }
    }

    pub(crate) fn number(&mut self, name: &str, number: Option<usize>) {
        if let Some(number) = number {
            self.value(name, Value::from(number));
        }
    }

    pub(crate) fn into_value(self) -> Value {
        Value::Object(self.0)
    }
}
