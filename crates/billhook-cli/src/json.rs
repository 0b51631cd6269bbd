//! Outcomes as JSON: one document for the whole run, printed at its end. Fields that
//! have no value are left out, so that a `before` or `after` of null is a null in the object.

use std::io::{self, Write as _};

use billhook_apimachinery::value::DeepValue;
use serde_json::{Map, Value};

use crate::identity::Identity;
use crate::problem::{Place, Problem, Status};

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
    /// The place and the identity of an object.
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
