//! Documents as JSON in the order in which their types declare the fields.

use serde_json::{Map, Value};

use super::{Record, Type};
use crate::print::compact_json;
use crate::value::{grow, sorted};

/// Prints a document as compact JSON as servers send it: the members of records in declared order,
/// those of maps sorted. Members that a record does not declare come last.
pub fn declared_json(document: &Value, record: &'static Record) -> String {
    let mut out = String::new();
    write_record(document, record, &mut out);
    out
}

/// Prints a document that a patch has changed, as servers quote it: what is as it was has its declared
/// order, the members of what has changed are sorted (BK-27).
pub fn patched_json(document: &Value, before: &Value, record: &'static Record) -> String {
    let mut out = String::new();
    write_patched_record(document, before, record, &mut out);
    out
}

fn write_patched(value: &Value, before: Option<&Value>, type_: Type, out: &mut String) {
    match (type_, before) {
        (_, Some(before)) if before == value => write(value, type_, out),
        (Type::Named(_, type_) | Type::Optional(type_), _) => {
            write_patched(value, before, *type_, out);
        }
        (Type::Record(table), Some(before)) => write_patched_record(value, before, table(), out),
        (Type::List(item), Some(Value::Array(before))) => {
            write_patched_list(value, before, *item, out);
        }
        _ => out.push_str(&compact_json(value)),
    }
}

fn write_patched_list(value: &Value, before: &[Value], type_: Type, out: &mut String) {
    let Value::Array(items) = value else { return out.push_str(&compact_json(value)) };
    out.push('[');
    for (index, item) in items.iter().enumerate() {
        out.push_str(if index > 0 { "," } else { "" });
        // Items move when others are added or removed.
        let same = before.iter().find(|other| *other == item);
        grow(|| write_patched(item, same.or(before.get(index)), type_, out));
    }
    out.push(']');
}

fn write_patched_record(value: &Value, before: &Value, record: &'static Record, out: &mut String) {
    let Value::Object(members) = value else { return out.push_str(&compact_json(value)) };
    grow(|| {
        out.push('{');
        for (index, (name, member)) in sorted(members).into_iter().enumerate() {
            out.push_str(if index > 0 { "," } else { "" });
            out.push_str(&compact_json(&Value::from(name.as_str())));
            out.push(':');
            let type_ = record.field(name).map_or(Type::Any, |field| field.type_);
            write_patched(member, before.get(name), type_, out);
        }
        out.push('}');
    });
}

fn write(value: &Value, type_: Type, out: &mut String) {
    match (type_, value) {
        (Type::Named(_, type_) | Type::Optional(type_), value) => write(value, *type_, out),
        (
            Type::Record(table)
            | Type::RecordOrList(table)
            | Type::RecordOrFlag(table)
            | Type::RecordOrTexts(table),
            Value::Object(_),
        ) => write_record(value, table(), out),
        (Type::List(item), Value::Array(items)) => write_list(items, *item, out, write),
        (Type::RecordOrList(table), Value::Array(items)) => {
            write_list(items, Type::Record(table), out, write);
        }
        (Type::Map(type_), Value::Object(members)) => {
            write_map(members, *type_, out, write);
        }
        (_, value) => out.push_str(&compact_json(value)),
    }
}

fn write_record(value: &Value, record: &'static Record, out: &mut String) {
    let Value::Object(members) = value else {
        return out.push_str(&compact_json(value));
    };
    let declared = record.fields.iter().filter_map(|field| {
        members.get(field.name).map(|member| (field.name, member, field.type_))
    });
    let others = sorted(members).into_iter().filter(|(name, _)| record.field(name).is_none());
    let others = others.map(|(name, member)| (name.as_str(), member, Type::Any));
    write_members(declared.chain(others), out, write);
}

/// Writes a value of a type.
type Write = fn(&Value, Type, &mut String);

fn write_members<'m>(
    members: impl Iterator<Item = (&'m str, &'m Value, Type)>,
    out: &mut String,
    write: Write,
) {
    grow(|| {
        out.push('{');
        for (index, (name, member, type_)) in members.enumerate() {
            out.push_str(if index > 0 { "," } else { "" });
            out.push_str(&compact_json(&Value::from(name)));
            out.push(':');
            write(member, type_, out);
        }
        out.push('}');
    });
}

pub(super) fn write_map(members: &Map<String, Value>, of: Type, out: &mut String, write: Write) {
    let members = sorted(members).into_iter();
    write_members(members.map(|(name, value)| (name.as_str(), value, of)), out, write);
}

pub(super) fn write_list(items: &[Value], of: Type, out: &mut String, write: Write) {
    grow(|| {
        out.push('[');
        for (index, value) in items.iter().enumerate() {
            out.push_str(if index > 0 { "," } else { "" });
            write(value, of, out);
        }
        out.push(']');
    });
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::metadata::ObjectMeta;
    use crate::record::TypedRecord as _;

    /// RE-14.
    #[test]
    fn members_have_the_declared_order() {
        let metadata = json!({
            "labels": {"b": "<", "a": "1"}, "uid": "u", "name": "n", "zz": 1,
            "ownerReferences": [{"uid": "v", "name": "o", "kind": "K", "apiVersion": "v1"}],
        });
        assert_eq!(
            declared_json(&metadata, ObjectMeta::record()),
            r#"{"name":"n","uid":"u","labels":{"a":"1","b":"\u003c"},"ownerReferences":[{"apiVersion":"v1","kind":"K","name":"o","uid":"v"}],"zz":1}"#,
        );
    }
}
