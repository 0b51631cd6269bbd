//! Reviews in the protobuf of Kubernetes: kubectl sends them in no other way.

use billhook_apimachinery::value::DeepValue;
use serde_json::{Map, Value, json};

/// The beginning of each body.
const MAGIC: &[u8] = b"k8s\0";

/// Reads the spec of a review; none if the body is malformed.
pub(super) fn read(body: &[u8]) -> Option<DeepValue> {
    let envelope = fields(body.strip_prefix(MAGIC)?)?;
    let review = fields(last(&envelope, 2).unwrap_or_default())?;
    let spec = fields(last(&review, 2).unwrap_or_default())?;
    let kind = last(&fields(last(&envelope, 1)?)?, 2).and_then(text)?;
    let mut members = Map::new();
    if kind == "SelfSubjectRulesReview" {
        members.insert("namespace".to_owned(), last(&spec, 1).and_then(text).into());
        return Some(json!({ "spec": members }).into());
    }
    let resource = ["namespace", "verb", "group", "version", "resource", "subresource", "name"];
    for (number, name, texts) in
        [(1, "resourceAttributes", &resource[..]), (2, "nonResourceAttributes", &["path", "verb"])]
    {
        if let Some(message) = last(&spec, number) {
            members.insert(name.to_owned(), named(message, texts)?);
        }
    }
    for (number, name) in [(3, "user"), (6, "uid")] {
        members.insert(name.to_owned(), last(&spec, number).and_then(text).into());
    }
    let groups = spec.iter().filter(|(number, _)| *number == 4).map(|(_, value)| text(value));
    members.insert("groups".to_owned(), groups.collect::<Option<Vec<_>>>()?.into());
    Some(json!({ "spec": members }).into())
}

/// Reads a message whose first fields are texts with these names.
fn named(message: &[u8], names: &[&str]) -> Option<Value> {
    let mut members = Map::new();
    for (number, value) in fields(message)? {
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        if let Some(name) = names.get(index) {
            members.insert((*name).to_owned(), text(value)?.into());
        }
    }
    Some(Value::Object(members))
}

fn text(value: &[u8]) -> Option<&str> {
    std::str::from_utf8(value).ok()
}

/// The last of the fields with a number, which counts.
fn last<'m>(fields: &[(u64, &'m [u8])], number: u64) -> Option<&'m [u8]> {
    fields.iter().rev().find(|(found, _)| *found == number).map(|(_, value)| *value)
}

/// Splits a message into its fields; those that are numbers are left out.
fn fields(mut message: &[u8]) -> Option<Vec<(u64, &[u8])>> {
    let mut fields = Vec::new();
    while !message.is_empty() {
        let key = varint(&mut message)?;
        match key & 7 {
            0 => drop(varint(&mut message)?),
            1 => message = message.get(8..)?,
            2 => {
                let length = usize::try_from(varint(&mut message)?).ok()?;
                let (value, rest) = message.split_at_checked(length)?;
                fields.push((key >> 3, value));
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
    fn reviews_are_read() {
        let review = read(CAN_I).unwrap();
        let attributes = &review["spec"]["resourceAttributes"];
        let texts = ["namespace", "verb", "resource"].map(|name| attributes[name].clone());
        assert_eq!(texts, ["default", "get", "configmaps"].map(Value::from));
        assert_eq!(review["spec"].get("nonResourceAttributes"), None);
    }

    #[test]
    fn no_part_of_a_review_is_read_as_one() {
        for length in 0..CAN_I.len() {
            let part = CAN_I.get(..length).unwrap();
            let spec = read(part).map(|review| review["spec"].clone());
            assert!(
                spec.is_none_or(|spec| spec.get("resourceAttributes").is_none() || part.len() > 60)
            );
        }
        assert!(read(b"k8s\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff").is_none());
        assert!(read(b"{}").is_none());
    }
}
