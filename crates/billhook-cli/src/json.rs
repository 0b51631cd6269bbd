//! Outcomes as JSON: one document for the whole run, printed as it comes. Fields that
//! have no value are left out, so that a `before` or `after` of null is a null in the object.

use std::io::{self, BufWriter, Stdout, Write as _};

use billhook_apimachinery::value::{DeepValue, sorted};
use serde_json::{Map, Value};

use crate::identity::Identity;
use crate::problem::{Place, Problem, Status};
use crate::report::clear_progress;

/// The API version of the documents that this program writes.
pub(crate) const API_VERSION: &str = "billhook.dev/v1alpha1";

/// The items of a document on standard output, which are printed as they come.
#[derive(Debug)]
pub(crate) struct Items {
    kind: &'static str,
    out: BufWriter<Stdout>,
    has_items: bool,
}

impl Items {
    pub(crate) fn new(kind: &'static str) -> Self {
        Items { kind, out: BufWriter::new(io::stdout()), has_items: false }
    }

    pub(crate) fn add(&mut self, item: Fields) -> io::Result<()> {
        self.start_item()?;
        let item = DeepValue::from(item.into_value());
        self.value(&item, 2)
    }

    /// Adds an item with one more field, a list whose values need not be in memory together.
    pub(crate) fn add_with_list(
        &mut self,
        item: Fields,
        name: &str,
        values: impl Iterator<Item = Value>,
    ) -> io::Result<()> {
        self.start_item()?;
        let item = DeepValue::from(item.into_value());
        let fields = item.as_object().map(sorted).unwrap_or_default();
        let (before, after): (Vec<_>, Vec<_>) =
            fields.into_iter().partition(|(key, _)| key.as_str() < name);
        self.out.write_all(b"{")?;
        for (key, value) in before {
            self.field(key)?;
            self.value(value, 3)?;
            self.out.write_all(b",")?;
        }
        self.field(name)?;
        self.list(values)?;
        for (key, value) in after {
            self.out.write_all(b",")?;
            self.field(key)?;
            self.value(value, 3)?;
        }
        self.line(2)?;
        self.out.write_all(b"}")
    }

    /// Ends the document.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        if self.has_items {
            self.line(1)?;
        } else {
            self.start()?;
        }
        writeln!(self.out, "],\n  \"kind\": \"{}\"\n}}", self.kind)?;
        self.out.flush()
    }

    fn start(&mut self) -> io::Result<()> {
        write!(self.out, "{{\n  \"apiVersion\": \"{API_VERSION}\",\n  \"items\": [")
    }

    fn start_item(&mut self) -> io::Result<()> {
        clear_progress();
        if std::mem::replace(&mut self.has_items, true) {
            self.out.write_all(b",")?;
        } else {
            self.start()?;
        }
        self.line(2)
    }

    fn field(&mut self, name: &str) -> io::Result<()> {
        self.line(3)?;
        write!(self.out, "\"{name}\": ")
    }

    fn list(&mut self, values: impl Iterator<Item = Value>) -> io::Result<()> {
        self.out.write_all(b"[")?;
        let mut has_values = false;
        for value in values.map(DeepValue::from) {
            if std::mem::replace(&mut has_values, true) {
                self.out.write_all(b",")?;
            }
            self.line(4)?;
            self.value(&value, 4)?;
        }
        if has_values {
            self.line(3)?;
        }
        self.out.write_all(b"]")
    }

    /// Prints a value that begins at a level. No string in JSON has a line break.
    fn value(&mut self, value: &Value, level: usize) -> io::Result<()> {
        let text = billhook::to_json_pretty(value);
        let mut lines = text.split('\n');
        self.out.write_all(lines.next().unwrap_or_default().as_bytes())?;
        for line in lines {
            self.line(level)?;
            self.out.write_all(line.as_bytes())?;
        }
        Ok(())
    }

    /// Starts a line.
    fn line(&mut self, level: usize) -> io::Result<()> {
        write!(self.out, "\n{:1$}", "", level * 2)
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
