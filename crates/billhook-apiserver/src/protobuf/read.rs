//! From messages to JSON.

use billhook_apimachinery::base64;
use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::value::DeepValue;
use billhook_decode::read_json;
use serde_json::{Map, Value, json};

use super::MAGIC;
use super::messages::{Message, Type, message};

/// Reads an object that says what it is; none if the body is malformed, or of a kind that is not
/// read.
pub(crate) fn read(body: &[u8]) -> Option<DeepValue> {
    const ENVELOPE: Message =
        &[(1, "type", Type::Object(&[(1, "apiVersion", Type::Text), (2, "kind", Type::Text)]))];
    let body = body.strip_prefix(MAGIC)?;
    let envelope = object(body, ENVELOPE)?;
    let mut type_ = match envelope.get("type")? {
        Value::Object(type_) => type_.clone(),
        _ => return None,
    };
    let text = |name: &str| type_.get(name).and_then(Value::as_str).unwrap_or_default();
    let message = message(text("apiVersion"), text("kind"))?;
    let raw = fields(body)?.into_iter().rev().find_map(|(number, field)| match field {
        Field::Bytes(bytes) if number == 2 => Some(bytes),
        _ => None,
    });
    type_.append(&mut object(raw.unwrap_or_default(), message)?);
    Some(Value::Object(type_).into())
}

/// A field as it is sent.
enum Field<'m> {
    Number(u64),
    Bytes(&'m [u8]),
}

/// Reads a message; later fields of the same number win.
fn object(bytes: &[u8], message: Message) -> Option<Map<String, Value>> {
    let mut members = Map::new();
    for (number, field) in fields(bytes)? {
        if let Some((_, name, type_)) = message.iter().find(|(known, ..)| *known == number) {
            add(&mut members, name, *type_, &field)?;
        }
    }
    Some(members)
}

fn add(members: &mut Map<String, Value>, name: &str, type_: Type, field: &Field<'_>) -> Option<()> {
    let value = match (type_, field) {
        (Type::Texts | Type::Objects(_), _) => {
            let item = match type_ {
                Type::Objects(message) => Type::Object(message),
                _ => Type::Text,
            };
            let item = value(item, field)?;
            match members.entry(name).or_insert_with(|| json!([])) {
                Value::Array(items) => items.push(item),
                _ => return None,
            }
            return Some(());
        }
        (Type::Inline(message), Field::Bytes(bytes)) => {
            members.extend(object(bytes, message)?);
            return Some(());
        }
        (Type::Map(type_), Field::Bytes(entry)) => {
            let (key, item) = entry_of(entry, *type_)?;
            match members.entry(name).or_insert_with(|| json!({})) {
                Value::Object(entries) => entries.insert(key, item),
                _ => return None,
            };
            return Some(());
        }
        _ => value(type_, field)?,
    };
    // What has no value is sent, too.
    let is_absent = match type_ {
        Type::Text => value == "",
        Type::Number => value == 0,
        Type::Time | Type::MicroTime => value.is_null(),
        _ => false,
    };
    if !is_absent {
        members.insert(name.to_owned(), value);
    }
    Some(())
}

fn value(type_: Type, field: &Field<'_>) -> Option<Value> {
    Some(match (type_, field) {
        (Type::Text, Field::Bytes(bytes)) => std::str::from_utf8(bytes).ok()?.into(),
        (Type::Bytes, Field::Bytes(bytes)) => base64::encode(bytes).into(),
        (Type::Flag, Field::Number(number)) => (*number != 0).into(),
        (Type::Number | Type::OptionalNumber, Field::Number(number)) => number.cast_signed().into(),
        (Type::Time, Field::Bytes(bytes)) => time(bytes, false)?,
        (Type::MicroTime, Field::Bytes(bytes)) => time(bytes, true)?,
        (Type::Json, Field::Bytes(bytes)) => {
            let fields = object(bytes, &[(1, "json", Type::Text)])?;
            let text = fields.get("json").and_then(Value::as_str).unwrap_or("null");
            read_json(text.as_bytes()).ok()?.into_value().into_inner()
        }
        (Type::Object(message), Field::Bytes(bytes)) => object(bytes, message)?.into(),
        _ => return None,
    })
}

fn entry_of(bytes: &[u8], type_: Type) -> Option<(String, Value)> {
    let (mut key, mut item) = (String::new(), value(type_, &Field::Bytes(&[]))?);
    for (number, field) in fields(bytes)? {
        match (number, &field) {
            (1, Field::Bytes(bytes)) => std::str::from_utf8(bytes).ok()?.clone_into(&mut key),
            (2, _) => item = value(type_, &field)?,
            _ => {}
        }
    }
    Some((key, item))
}

/// Reads a time: seconds and nanoseconds since 1970. An empty message is not a time.
fn time(bytes: &[u8], has_fraction: bool) -> Option<Value> {
    let parts = object(bytes, &[(1, "seconds", Type::OptionalNumber), (2, "nanos", Type::Number)])?;
    let number = |name| parts.get(name).and_then(Value::as_i64);
    let Some(seconds) = number("seconds") else { return Some(Value::Null) };
    let mut text = Time::from_unix(seconds).to_rfc3339();
    // Only years of four digits are read back.
    Time::parse(&text).ok()?;
    if has_fraction {
        text.pop();
        text += &format!(".{:06}Z", number("nanos").unwrap_or_default() / 1000);
    }
    Some(text.into())
}

/// Splits a message into its fields.
fn fields(mut message: &[u8]) -> Option<Vec<(u64, Field<'_>)>> {
    let mut fields = Vec::new();
    while !message.is_empty() {
        let key = varint(&mut message)?;
        match key & 7 {
            0 => fields.push((key >> 3, Field::Number(varint(&mut message)?))),
            1 => message = message.get(8..)?,
            2 => {
                let length = usize::try_from(varint(&mut message)?).ok()?;
                let (value, rest) = message.split_at_checked(length)?;
                fields.push((key >> 3, Field::Bytes(value)));
                message = rest;
            }
            5 => message = message.get(4..)?,
            _ => return None,
        }
    }
    Some(fields)
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

    /// The body of `kubectl auth can-i get configmaps`, as recorded.
    const CAN_I: &[u8] = b"k8s\x00\n2\n\x17authorization.k8s.io/v1\x12\x17SelfSubjectAccessReview\
        \x12B\n\x10\n\x00\x12\x00\x1a\x00\"\x00*\x002\x008\x00B\x00\x12$\n\"\n\x07default\x12\
        \x03get\x1a\x00\"\x00*\nconfigmaps2\x00:\x00\x1a\x08\x08\x00\x12\x00\x1a\x00 \x00\x1a\
        \x00\"\x00";

    #[test]
    fn objects_are_read() {
        assert_eq!(
            *read(CAN_I).unwrap(),
            json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
                "metadata": {}, "spec": {"resourceAttributes": {
                    "namespace": "default", "verb": "get", "resource": "configmaps"}}}),
        );
        let map: &[&[u8]] = &[
            b"k8s\x00\n\x0f\n\x02v1\x12\tConfigMap\x12\x23",
            b"\n\x0f\n\x01x\x12\x00\x42\x08\x08\xc5\x82\xeb\xc2\x06\x10\x00",
            b"\x12\x06\n\x01a\x12\x01b\x1a\x06\n\x01c\x12\x01\xff\x20\x00",
        ];
        assert_eq!(
            *read(&map.concat()).unwrap(),
            json!({"apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": "x", "creationTimestamp": "2025-06-24T15:16:21Z"},
                "data": {"a": "b"}, "binaryData": {"c": "/w=="}, "immutable": false}),
        );
    }

    #[test]
    fn no_part_of_an_object_is_read_as_one() {
        for length in 0..CAN_I.len() {
            let review = read(CAN_I.get(..length).unwrap());
            let attributes =
                review.and_then(|review| review.pointer("/spec/resourceAttributes").cloned());
            assert!(attributes.is_none() || length > 60);
        }
        assert!(read(b"k8s\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff").is_none());
        assert!(read(b"{}").is_none());
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
            let time = time(&message, false);
            assert_eq!(time, expected.map(Value::from), "{seconds}");
        }
    }
}
