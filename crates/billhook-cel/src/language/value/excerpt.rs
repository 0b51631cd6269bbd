//! Values as people read them, cut where they get long.

use std::fmt::Write as _;

use billhook_apimachinery::base64;
use billhook_apimachinery::print::quote;
use billhook_apimachinery::value::grow;
use serde_json::Value as Json;

use super::time::{duration_text, timestamp_text};
use super::{List, Map, Value};

/// The most bytes of text, about.
const LONGEST: usize = 512;

/// Returns the text of a value, as JSON where that has a form for it. Takes no longer for large
/// values than for small ones.
pub(crate) fn excerpt(value: &Value<'_>) -> String {
    let mut writer = Writer(String::new());
    writer.value(value);
    writer.0
}

struct Writer(String);

impl Writer {
    fn is_full(&self) -> bool {
        self.0.len() >= LONGEST
    }

    fn display(&mut self, value: impl std::fmt::Display) {
        // Writing to a `String` cannot fail.
        let _ = write!(self.0, "{value}");
    }

    fn text(&mut self, text: &str) {
        let left = LONGEST.saturating_sub(self.0.len());
        match text.char_indices().map(|(at, _)| at).find(|at| *at > left) {
            None => self.0 += &quote(text),
            Some(end) => {
                self.0 += &quote(text.get(..end).unwrap_or_default());
                self.0.push('…');
            }
        }
    }

    /// Writes items between brackets until the text is long enough.
    fn listed<T>(
        &mut self,
        brackets: [char; 2],
        items: impl Iterator<Item = T>,
        mut write: impl FnMut(&mut Self, T),
    ) {
        let [open, close] = brackets;
        self.0.push(open);
        for (position, item) in items.enumerate() {
            if position > 0 {
                self.0.push_str(", ");
            }
            if self.is_full() {
                self.0.push('…');
                break;
            }
            grow(|| write(self, item));
        }
        self.0.push(close);
    }

    fn value(&mut self, value: &Value<'_>) {
        match value {
            Value::Null => self.0.push_str("null"),
            Value::Bool(value) => self.display(value),
            Value::Int(int) => self.display(int),
            Value::Uint(uint) => self.display(format_args!("{uint}u")),
            Value::Double(double) => self.display(format_args!("{double:?}")),
            Value::String(text) => self.text(text.as_str()),
            Value::Bytes(bytes) => {
                let shown = bytes.get(..LONGEST.min(bytes.len())).unwrap_or_default();
                self.text(&base64::encode(shown));
            }
            Value::Duration(duration) => self.text(&duration_text(*duration)),
            Value::Timestamp(time) => self.text(&timestamp_text(*time)),
            Value::List(List::Json(items, _)) => {
                self.listed(['[', ']'], items.iter(), |writer, item| writer.json(item));
            }
            Value::List(list) => self.listed(['[', ']'], list.iter(), |writer, item| match item {
                Ok(item) => writer.value(&item),
                Err(error) => writer.display(error),
            }),
            Value::Map(Map::Json(members, _)) => self.members(members),
            Value::Map(Map::Values(entries)) => {
                self.0 += entries.type_name().unwrap_or_default();
                self.listed(['{', '}'], entries.iter(), |writer, (key, value)| {
                    writer.value(key);
                    writer.0.push_str(": ");
                    writer.value(value);
                });
            }
            Value::Optional(None) => self.0.push_str("optional.none()"),
            Value::Optional(Some(value)) => {
                self.0.push_str("optional.of(");
                grow(|| self.value(value));
                self.0.push(')');
            }
            Value::Type(name) => self.0.push_str(name),
            Value::Opaque(opaque) => self.display(format_args!("<{}>", opaque.type_name())),
        }
    }

    fn members(&mut self, members: &serde_json::Map<String, Json>) {
        self.listed(['{', '}'], members.iter(), |writer, (name, value)| {
            writer.text(name);
            writer.0.push_str(": ");
            writer.json(value);
        });
    }

    fn json(&mut self, value: &Json) {
        match value {
            Json::String(text) => self.text(text),
            Json::Array(items) => {
                self.listed(['[', ']'], items.iter(), |writer, item| writer.json(item));
            }
            Json::Object(members) => self.members(members),
            scalar => self.display(scalar),
        }
    }
}
