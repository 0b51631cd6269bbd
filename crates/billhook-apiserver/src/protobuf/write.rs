//! Objects of the server's own kinds, their lists and events, and statuses, in protobuf (RE-11,
//! BK-20).
//!
//! Messages are written from their end to their beginning, as the length of each comes before it.

use billhook_apimachinery::metadata::{MicroTime, Time};
use billhook_apimachinery::record::{Record, Type, text};
use billhook_apimachinery::value::{grow, sorted};
use billhook_apimachinery::{Status, StatusCause, StatusDetails, base64};
use serde_json::Value;

use super::MAGIC;
use super::messages::{Field, Message};

/// Prints an object or a list of objects; none if it is of a type without messages.
pub(crate) fn object(
    object: &Value,
    record_of: impl Fn(&str, &str) -> Option<&'static Record>,
) -> Option<Vec<u8>> {
    let (api_version, kind) = (text(object, "apiVersion"), text(object, "kind"));
    if kind == "Status" {
        return Status::of_failure(object).map(|failure| status(&failure));
    }
    let mut message = Backwards::default();
    match (object.get("items"), kind.strip_suffix("List")) {
        (Some(Value::Array(items)), Some(kind)) => {
            let record = record_of(api_version, kind)?;
            for item in items.iter().rev() {
                message.message(2, |message| message.record(item, Message::of(record)));
            }
            let metadata = object.get("metadata").unwrap_or(&Value::Null);
            message.message(1, |message| message.list_metadata(metadata));
        }
        _ => {
            let record = record_of(api_version, kind)?;
            message.record(object, Message::of(record));
        }
    }
    Some(message.enveloped(api_version, kind))
}

/// Prints an event of a watch, with its length before it.
pub(crate) fn event(kind: &str, object: &[u8]) -> Vec<u8> {
    let mut event = Backwards::default();
    event.message(2, |message| message.bytes(1, object));
    event.text(1, kind);
    let event = event.finished();
    let length = u32::try_from(event.len()).unwrap_or(u32::MAX);
    [&length.to_be_bytes()[..], &event].concat()
}

/// Prints a status as a message of its own.
pub(crate) fn status(status: &Status) -> Vec<u8> {
    let mut message = Backwards::default();
    message.number(6, status.code);
    if let Some(details) = &status.details {
        message.message(5, |message| message.details(details));
    }
    message.text(4, &status.reason);
    message.text(3, &status.message);
    message.text(2, &status.status);
    message.message(1, |message| message.list_metadata(&Value::Null));
    message.enveloped("v1", "Status")
}

/// A message that is being written, the last byte first.
#[derive(Default)]
pub(crate) struct Backwards(Vec<u8>);

impl Backwards {
    /// Puts an object into its envelope, which says what it is.
    fn enveloped(self, api_version: &str, kind: &str) -> Vec<u8> {
        let mut envelope = Backwards::default();
        envelope.text(4, "");
        envelope.text(3, "");
        envelope.message(2, |message| message.0.extend(self.0));
        envelope.message(1, |message| {
            message.text(2, kind);
            message.text(1, api_version);
        });
        envelope.put(MAGIC);
        envelope.finished()
    }

    /// Returns the bytes in the order in which they are read.
    pub(crate) fn finished(mut self) -> Vec<u8> {
        self.0.reverse();
        self.0
    }

    fn list_metadata(&mut self, metadata: &Value) {
        if let Some(remaining) = metadata.get("remainingItemCount").and_then(Value::as_i64) {
            self.number(4, remaining);
        }
        self.text(3, text(metadata, "continue"));
        self.text(2, text(metadata, "resourceVersion"));
        self.text(1, "");
    }

    fn details(&mut self, details: &StatusDetails) {
        self.text(6, &details.uid);
        self.number(5, details.retry_after_seconds);
        for StatusCause { reason, message: why, field, .. } in details.causes.iter().rev() {
            self.message(4, |message| {
                message.text(3, field);
                message.text(2, why);
                message.text(1, reason);
            });
        }
        self.text(3, &details.kind);
        self.text(2, &details.group);
        self.text(1, &details.name);
    }

    fn record(&mut self, object: &Value, message: Message<'_>) {
        grow(|| {
            for number in message.numbers_backwards() {
                match message.field(number) {
                    Some(Field::Inline) => message.inside(number, |inner| {
                        self.message(number.into(), |message| message.record(object, inner));
                    }),
                    Some(Field::Member(field)) => {
                        let value = object.get(field.name).filter(|value| !value.is_null());
                        self.field(number.into(), field.type_, value);
                    }
                    None => {}
                }
            }
        });
    }

    /// Writes a field. What cannot be absent in a message is written when it has no value, too.
    fn field(&mut self, number: u64, type_: Type, value: Option<&Value>) {
        match (type_, value) {
            (Type::Named(_, type_), _) => self.field(number, *type_, value),
            (Type::Optional(type_), Some(_)) => self.field(number, *type_, value),
            (Type::List(type_), Some(Value::Array(items))) => {
                items.iter().rev().for_each(|item| self.value(number, *type_, item));
            }
            (Type::Map(type_), Some(Value::Object(entries))) => {
                for (key, value) in sorted(entries).into_iter().rev() {
                    self.message(number, |message| {
                        message.value(2, *type_, value);
                        message.text(1, key);
                    });
                }
            }
            (_, Some(value)) => self.value(number, type_, value),
            (Type::Text, None) => self.text(number, ""),
            (Type::Flag | Type::Int32 | Type::Int64, None) => self.number(number, 0),
            (Type::Record(_), None) => self.value(number, type_, &Value::Null),
            (_, None) => {}
        }
    }

    fn value(&mut self, number: u64, type_: Type, value: &Value) {
        match type_ {
            Type::Named(_, type_) | Type::Optional(type_) => self.value(number, *type_, value),
            Type::Text | Type::Parsed(_) => self.text(number, value.as_str().unwrap_or_default()),
            Type::Flag => self.number(number, i64::from(value.as_bool().unwrap_or_default())),
            Type::Int32 | Type::Int64 => self.number(number, value.as_i64().unwrap_or_default()),
            Type::Float => self.double(number, value.as_f64().unwrap_or_default()),
            Type::Bytes => {
                let bytes = base64::decode(value.as_str().unwrap_or_default());
                self.bytes(number, &bytes.unwrap_or_default());
            }
            Type::Time => {
                let time = Time::parse(value.as_str().unwrap_or_default()).unwrap_or_default();
                let seconds = time.seconds_since(Time::from_unix(0));
                self.message(number, |message| message.since_1970(seconds, 0));
            }
            Type::MicroTime => {
                let time = MicroTime::parse(value.as_str().unwrap_or_default());
                let (seconds, micros) = time.unwrap_or_default().to_unix();
                self.message(number, |message| {
                    message.since_1970(seconds, i64::from(micros) * 1000);
                });
            }
            Type::Quantity => {
                let text = value.as_str().unwrap_or_default();
                self.message(number, |message| message.text(1, text));
            }
            Type::IntOrString => self.message(number, |message| {
                message.text(3, value.as_str().unwrap_or_default());
                message.number(2, value.as_i64().unwrap_or_default());
                message.number(1, i64::from(value.is_string()));
            }),
            Type::Any => {
                let json = billhook::to_json(value);
                self.message(number, |message| message.text(1, &json));
            }
            Type::Record(table) => {
                self.message(number, |message| message.record(value, Message::of(table())));
            }
            Type::RecordOrFlag(table) => self.message(number, |message| match value {
                Value::Bool(flag) => message.number(1, i64::from(*flag)),
                _ => {
                    message.value(2, Type::Record(table), value);
                    message.number(1, 1);
                }
            }),
            Type::RecordOrList(table) | Type::RecordOrTexts(table) => {
                let item = match type_ {
                    Type::RecordOrTexts(_) => Type::Text,
                    _ => Type::Record(table),
                };
                self.message(number, |message| match value {
                    Value::Array(items) => {
                        items.iter().rev().for_each(|value| message.value(2, item, value));
                    }
                    _ => message.value(1, Type::Record(table), value),
                });
            }
            // A list in a map is a message of its items.
            Type::List(item) => self.message(number, |message| {
                let items = value.as_array().into_iter().flatten().rev();
                items.for_each(|value| message.value(1, *item, value));
            }),
            // No list and no map has maps in it.
            Type::Map(_) => {}
        }
    }

    fn since_1970(&mut self, seconds: i64, nanos: i64) {
        self.number(2, nanos);
        self.number(1, seconds);
    }

    /// Writes a field of text.
    pub(crate) fn text(&mut self, field: u64, text: &str) {
        self.bytes(field, text.as_bytes());
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.message(field, |message| message.put(bytes));
    }

    /// Writes a field with a length.
    pub(crate) fn message(&mut self, field: u64, write: impl FnOnce(&mut Self)) {
        let end = self.0.len();
        write(self);
        self.varint((self.0.len() - end) as u64);
        self.varint(field << 3 | 2);
    }

    /// Writes a field of eight bytes.
    pub(crate) fn double(&mut self, field: u64, number: f64) {
        self.put(&number.to_le_bytes());
        self.varint(field << 3 | 1);
    }

    /// Writes a field of an integer, or of a yes or no.
    pub(crate) fn number(&mut self, field: u64, number: impl Into<i64>) {
        self.varint(number.into().cast_unsigned());
        self.varint(field << 3);
    }

    /// Seven bits a byte, the lowest first.
    fn varint(&mut self, mut number: u64) {
        let mut bytes = [0; 10];
        let mut length = 0;
        for byte in &mut bytes {
            *byte = (number & 0x7f) as u8;
            length += 1;
            number >>= 7;
            if number == 0 {
                break;
            }
            *byte |= 0x80;
        }
        self.put(bytes.get(..length).unwrap_or_default());
    }

    fn put(&mut self, bytes: &[u8]) {
        self.0.extend(bytes.iter().rev());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_a_message() {
        let mut details = StatusDetails::default();
        details.name = "a".to_owned();
        details.retry_after_seconds = 1;
        let mut failure = Status::failure(404, "NotFound", "none");
        failure.details = Some(Box::new(details));
        let expected: &[&[u8]] = &[
            b"k8s\0",
            b"\x0a\x0c\x0a\x02v1\x12\x06Status",
            b"\x12\x31",
            b"\x0a\x06\x0a\x00\x12\x00\x1a\x00",
            b"\x12\x07Failure\x1a\x04none\x22\x08NotFound",
            b"\x2a\x0b\x0a\x01a\x12\x00\x1a\x00\x28\x01\x32\x00",
            b"\x30\x94\x03",
            b"\x1a\x00\x22\x00",
        ];
        assert_eq!(status(&failure), expected.concat());
    }
}
