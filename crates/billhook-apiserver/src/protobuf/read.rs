//! From messages to JSON.

use billhook_apimachinery::base64;
use billhook_apimachinery::metadata::{MicroTime, Time};
use billhook_apimachinery::print::json_float;
use billhook_apimachinery::record::{Record, Table, Type};
use billhook_apimachinery::value::{DeepValue, grow};
use billhook_decode::read_json;
use serde_json::{Map, Value, json};

use super::MAGIC;
use super::messages::{Field, Message};

/// How deep messages may be nested: as deep as JSON.
const MAX_DEPTH: usize = 10_000;

/// Reads an object. `record_of` returns the type of an API version and a kind, which may be empty; of
/// others nothing but these is read.
///
/// # Errors
///
/// The server's text about what is not a message.
pub(crate) fn read(
    body: &[u8],
    record_of: impl Fn(&str, &str) -> Option<&'static Record>,
) -> Result<DeepValue, &'static str> {
    let message = body.strip_prefix(MAGIC).ok_or(
        "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]",
    )?;
    read_object(message, record_of).ok_or("unexpected EOF")
}

fn read_object(
    message: &[u8],
    record_of: impl Fn(&str, &str) -> Option<&'static Record>,
) -> Option<DeepValue> {
    let envelope = parts(message)?;
    let type_ = last(&envelope, 1).map_or(Some(&[][..]), Part::bytes)?;
    let type_ = parts(type_)?;
    let text = |number| last(&type_, number).map_or(Some(""), Part::text);
    let (api_version, kind) = (text(1)?, text(2)?);
    let raw = last(&envelope, 2).map_or(Some(&[][..]), Part::bytes)?;
    let mut object = match record_of(api_version, kind) {
        Some(record) => members(raw, record, MAX_DEPTH)?,
        None => DeepValue::from(json!({})),
    };
    if let Value::Object(members) = &mut *object {
        for (name, text) in [("apiVersion", api_version), ("kind", kind)] {
            if !text.is_empty() {
                members.insert(name.to_owned(), text.into());
            }
        }
    }
    Some(object)
}

/// A part of a message as it is sent.
enum Part<'m> {
    Number(u64),
    Double(f64),
    Bytes(&'m [u8]),
}

impl<'m> Part<'m> {
    fn number(&self) -> Option<i64> {
        match self {
            Part::Number(number) => Some(number.cast_signed()),
            Part::Double(_) | Part::Bytes(_) => None,
        }
    }

    fn bytes(&self) -> Option<&'m [u8]> {
        match self {
            Part::Bytes(bytes) => Some(bytes),
            Part::Number(_) | Part::Double(_) => None,
        }
    }

    fn text(&self) -> Option<&'m str> {
        std::str::from_utf8(self.bytes()?).ok()
    }
}

/// Returns the last part with a number, which wins.
fn last<'p, 'm>(parts: &'p [(u64, Part<'m>)], number: u64) -> Option<&'p Part<'m>> {
    parts.iter().rev().find(|(known, _)| *known == number).map(|(_, part)| part)
}

/// Reads a message of a record.
fn members(bytes: &[u8], record: &'static Record, depth: usize) -> Option<DeepValue> {
    let mut members = Map::new();
    let message = Message::of(record);
    let read = grow(|| add_members(&mut members, bytes, message, depth.checked_sub(1)?));
    let members = DeepValue::from(Value::Object(members));
    read.map(|()| members)
}

/// Adds the fields of a message; later parts of the same number win.
fn add_members(
    members: &mut Map<String, Value>,
    bytes: &[u8],
    message: Message<'_>,
    depth: usize,
) -> Option<()> {
    for (number, part) in parts(bytes)? {
        let Ok(number) = u32::try_from(number) else { continue };
        match message.field(number) {
            Some(Field::Inline) => message
                .inside(number, |message| add_members(members, part.bytes()?, message, depth))?,
            Some(Field::Member(field)) => add(members, field.name, field.type_, &part, depth)?,
            None => {}
        }
    }
    Some(())
}

fn add(
    members: &mut Map<String, Value>,
    name: &str,
    type_: Type,
    part: &Part<'_>,
    depth: usize,
) -> Option<()> {
    match type_ {
        Type::Named(_, type_) | Type::Optional(type_ @ (Type::List(_) | Type::Map(_))) => {
            return add(members, name, *type_, part, depth);
        }
        Type::List(item) => {
            let item = value(*item, part, depth)?;
            if let Value::Array(items) = members.entry(name).or_insert_with(|| json!([])) {
                items.push(item);
            }
        }
        Type::Map(item) => {
            let (key, item) = entry_of(part.bytes()?, *item, depth)?;
            if let Value::Object(entries) = members.entry(name).or_insert_with(|| json!({})) {
                entries.insert(key, item).map(DeepValue::from);
            }
        }
        _ => {
            let value = value(type_, part, depth)?;
            // What has no value is sent, too.
            let is_absent = match type_ {
                Type::Text | Type::Quantity => value == "",
                Type::Int32 | Type::Int64 => value == 0,
                _ => value.is_null(),
            };
            if !is_absent {
                members.insert(name.to_owned(), value).map(DeepValue::from);
            }
        }
    }
    Some(())
}

fn value(type_: Type, part: &Part<'_>, depth: usize) -> Option<Value> {
    let record = |part: &Part<'_>, table: Table| {
        members(part.bytes()?, table(), depth).map(DeepValue::into_inner)
    };
    Some(match type_ {
        Type::Named(_, type_) | Type::Optional(type_) => value(*type_, part, depth)?,
        Type::Text | Type::Parsed(_) => part.text()?.into(),
        Type::Bytes => base64::encode(part.bytes()?).into(),
        Type::Flag => (part.number()? != 0).into(),
        Type::Int32 | Type::Int64 => part.number()?.into(),
        Type::Float => match part {
            // Whole numbers are written without a fraction.
            Part::Double(number) => serde_json::from_str(&json_float(*number)).ok()?,
            _ => return None,
        },
        Type::Time => time(part.bytes()?)?,
        Type::MicroTime => micro_time(part.bytes()?)?,
        Type::Quantity => last(&parts(part.bytes()?)?, 1).map_or(Some(""), Part::text)?.into(),
        Type::IntOrString => {
            let parts = parts(part.bytes()?)?;
            match last(&parts, 1).map_or(Some(0), Part::number)? {
                0 => last(&parts, 2).map_or(Some(0), Part::number)?.into(),
                _ => last(&parts, 3).map_or(Some(""), Part::text)?.into(),
            }
        }
        // A message with JSON.
        Type::Any => {
            let text = last(&parts(part.bytes()?)?, 1).map_or(Some("null"), Part::text)?;
            read_json(text.as_bytes()).ok()?.into_value().into_inner()
        }
        Type::Record(table) => record(part, table)?,
        Type::RecordOrFlag(table) => {
            let parts = parts(part.bytes()?)?;
            match last(&parts, 2) {
                Some(part) => record(part, table)?,
                None => (last(&parts, 1).map_or(Some(0), Part::number)? != 0).into(),
            }
        }
        Type::RecordOrList(table) | Type::RecordOrTexts(table) => {
            let parts = parts(part.bytes()?)?;
            if let Some(part) = last(&parts, 1) {
                return record(part, table);
            }
            let mut items = DeepValue::from(json!([]));
            for (_, part) in parts.iter().filter(|(number, _)| *number == 2) {
                let item = match type_ {
                    Type::RecordOrTexts(_) => part.text()?.into(),
                    _ => record(part, table)?,
                };
                if let Value::Array(items) = &mut *items {
                    items.push(item);
                }
            }
            items.into_inner()
        }
        // A list in a map is a message of its items.
        Type::List(item) => {
            let parts = parts(part.bytes()?)?;
            let items = parts.iter().filter(|(number, _)| *number == 1);
            Value::Array(
                items
                    .map(|(_, item_part)| value(*item, item_part, depth))
                    .collect::<Option<_>>()?,
            )
        }
        Type::Map(_) => return None,
    })
}

fn entry_of(bytes: &[u8], type_: Type, depth: usize) -> Option<(String, Value)> {
    let parts = parts(bytes)?;
    let key = last(&parts, 1).map_or(Some(""), Part::text)?;
    let item = last(&parts, 2).unwrap_or(&Part::Bytes(&[]));
    Some((key.to_owned(), value(type_, item, depth)?))
}

/// Reads seconds and nanoseconds since 1970. An empty message is not a time.
fn since_1970(bytes: &[u8]) -> Option<Option<(i64, i64)>> {
    let parts = parts(bytes)?;
    let Some(seconds) = last(&parts, 1) else { return Some(None) };
    let nanos = last(&parts, 2).map_or(Some(0), Part::number)?;
    Some(Some((seconds.number()?, nanos)))
}

fn time(bytes: &[u8]) -> Option<Value> {
    let Some((seconds, _)) = since_1970(bytes)? else { return Some(Value::Null) };
    let text = Time::from_unix(seconds).to_rfc3339();
    // Only years of four digits are read back.
    Time::parse(&text).ok()?;
    Some(text.into())
}

fn micro_time(bytes: &[u8]) -> Option<Value> {
    let Some((seconds, nanos)) = since_1970(bytes)? else { return Some(Value::Null) };
    let micros = i32::try_from(nanos / 1000).ok()?;
    let text = MicroTime::from_unix(seconds, micros).to_rfc3339();
    MicroTime::parse(&text).ok()?;
    Some(text.into())
}

/// Splits a message into its parts, each with the number of its field.
fn parts(mut message: &[u8]) -> Option<Vec<(u64, Part<'_>)>> {
    let mut parts = Vec::new();
    while !message.is_empty() {
        let key = varint(&mut message)?;
        match key & 7 {
            0 => parts.push((key >> 3, Part::Number(varint(&mut message)?))),
            1 => {
                let (value, rest) = message.split_first_chunk()?;
                parts.push((key >> 3, Part::Double(f64::from_le_bytes(*value))));
                message = rest;
            }
            2 => {
                let length = usize::try_from(varint(&mut message)?).ok()?;
                let (value, rest) = message.split_at_checked(length)?;
                parts.push((key >> 3, Part::Bytes(value)));
                message = rest;
            }
            5 => message = message.get(4..)?,
            _ => return None,
        }
    }
    Some(parts)
}

fn varint(message: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = message.split_first()?;
        *message = rest;
        number |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::record_of;

    #[test]
    fn objects_are_read() {
        let map: &[&[u8]] = &[
            b"k8s\x00\n\x0f\n\x02v1\x12\tConfigMap\x12\x23",
            b"\n\x0f\n\x01x\x12\x00\x42\x08\x08\xc5\x82\xeb\xc2\x06\x10\x00",
            b"\x12\x06\n\x01a\x12\x01b\x1a\x06\n\x01c\x12\x01\xff\x20\x00",
        ];
        assert_eq!(
            *read(&map.concat(), record_of).unwrap(),
            json!({"apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": "x", "creationTimestamp": "2025-06-24T15:16:21Z"},
                "data": {"a": "b"}, "binaryData": {"c": "/w=="}, "immutable": false}),
        );
    }

    #[test]
    fn what_is_not_a_message_is_not_read() {
        let endless = b"k8s\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff";
        assert_eq!(read(endless, record_of), Err("unexpected EOF"));
        assert_eq!(
            read(b"{}", record_of),
            Err("provided data does not appear to be a protobuf message, expected prefix [107 56 \
                115 0]"),
        );
    }

    #[test]
    fn times_have_years_of_four_digits() {
        for (seconds, expected) in [
            (-62_167_219_200, Some("0000-01-01T00:00:00Z")),
            (-62_167_219_201, None),
            (-1, Some("1969-12-31T23:59:59Z")),
            (253_402_300_799, Some("9999-12-31T23:59:59Z")),
            (253_402_300_800, None),
            (i64::MAX, None),
            (i64::MIN, None),
        ] {
            let mut message = vec![8];
            let mut rest = seconds as u64;
            while rest > 0x7f {
                message.push(rest as u8 | 0x80);
                rest >>= 7;
            }
            message.push(rest as u8);
            let time = time(&message);
            assert_eq!(time, expected.map(Value::from), "{seconds}");
        }
    }
}
