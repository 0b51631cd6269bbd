//! Documents as JSON in the order in which their types declare the fields.

use std::cell::LazyCell;
use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{Record, Type};
use crate::print::{OBJECT_CAPACITY, Part, Printer, WithPlace, compact_json};
use crate::value::{deep_eq, grow, in_order};

/// Prints a document as compact JSON as servers send it: the members of records in declared order,
/// those of maps sorted. Members that a record does not declare come last.
pub fn declared_json(document: &Value, record: &'static Record) -> String {
    let mut printer = Printer::compact(OBJECT_CAPACITY);
    write_record(document, record, &mut printer);
    printer.out
}

/// Prints a document as [`declared_json`] does. Also returns the place in the text where a member
/// belongs that the document does not have, given with the names above it. `beside` is another one that
/// its object does not have, and its JSON: it is printed as if the object had it.
pub fn declared_json_with_place(
    document: &Value,
    record: &'static Record,
    member: &[&str],
    beside: Option<(&str, &str)>,
) -> WithPlace {
    let mut printer = Printer::compact(OBJECT_CAPACITY);
    let place = write_noting(document, record, member, beside, &mut printer);
    WithPlace { text: printer.out, place, has_floats: printer.has_floats }
}

/// Writes a record with another member beside one of it, and returns the place where that one belongs.
fn write_noting(
    value: &Value,
    record: &'static Record,
    member: &[&str],
    beside: Option<(&str, &str)>,
    printer: &mut Printer,
) -> Option<usize> {
    let (Value::Object(members), Some((wanted, below))) = (value, member.split_first()) else {
        write_record(value, record, printer);
        return None;
    };
    let members = declared(members, record).into_iter();
    let members = members.map(|(at, name, value, type_)| (at, name, Part::Value(value), type_));
    let mut members: Vec<_> = members.collect();
    if let Some((name, json)) = beside.filter(|_| below.is_empty()) {
        let (place, type_) = record.place(name);
        let at = members.partition_point(|(at, ..)| *at < place);
        members.insert(at, (place, name, Part::Json(json), type_));
    }
    let (wanted, of_wanted) = record.place(wanted);
    let mut place = None;
    printer.out.push('{');
    for (index, (at, name, part, type_)) in members.into_iter().enumerate() {
        printer.separate(index);
        if below.is_empty() && at >= wanted {
            place.get_or_insert((at > wanted).then_some(printer.out.len()));
        }
        printer.string(name);
        printer.out.push(':');
        match (part, of_wanted.unnamed()) {
            (Part::Json(json), _) => printer.out.push_str(json),
            (Part::Value(value), Type::Record(table)) if at == wanted && !below.is_empty() => {
                place = Some(write_noting(value, table(), below, beside, printer));
            }
            (Part::Value(value), _) => write(value, type_, printer),
        }
    }
    printer.out.push('}');
    place.flatten()
}

/// Prints a document that a patch has changed, as servers quote it: what is as it was has its declared
/// order, the members of what has changed are sorted (BK-27).
pub fn patched_json(document: &Value, before: &Value, record: &'static Record) -> String {
    let mut printer = Printer::compact(OBJECT_CAPACITY);
    write_patched_record(document, before, record, &mut printer);
    printer.out
}

fn write_patched(value: &Value, before: Option<&Value>, type_: Type, printer: &mut Printer) {
    match (type_, before) {
        (_, Some(before)) if deep_eq(before, value) => write(value, type_, printer),
        (Type::Named(_, type_) | Type::Optional(type_), _) => {
            write_patched(value, before, *type_, printer);
        }
        (Type::Record(table), Some(before)) => {
            write_patched_record(value, before, table(), printer);
        }
        (Type::List(item), Some(Value::Array(before))) => {
            write_patched_list(value, before, *item, printer);
        }
        _ => printer.value(value),
    }
}

fn write_patched_list(value: &Value, before: &[Value], type_: Type, printer: &mut Printer) {
    let Value::Array(items) = value else { return printer.value(value) };
    // Items move when others are added or removed.
    let by_text: LazyCell<HashMap<String, &Value>, _> =
        LazyCell::new(|| before.iter().map(|item| (compact_json(item), item)).collect());
    printer.out.push('[');
    for (index, item) in items.iter().enumerate() {
        printer.separate(index);
        let in_place = before.get(index);
        let is_same = |other: &&Value| deep_eq(other, item);
        let same = in_place
            .filter(is_same)
            .or_else(|| by_text.get(&compact_json(item)).copied().filter(is_same));
        grow(|| write_patched(item, same.or(in_place), type_, printer));
    }
    printer.out.push(']');
}

fn write_patched_record(
    value: &Value,
    before: &Value,
    record: &'static Record,
    printer: &mut Printer,
) {
    let Value::Object(members) = value else { return printer.value(value) };
    grow(|| {
        printer.out.push('{');
        for (index, (name, member)) in in_order(members).enumerate() {
            printer.separate(index);
            printer.string(name);
            printer.out.push(':');
            let type_ = record.field(name).map_or(Type::Any, |field| field.type_);
            write_patched(member, before.get(name), type_, printer);
        }
        printer.out.push('}');
    });
}

fn write(value: &Value, type_: Type, printer: &mut Printer) {
    match (type_, value) {
        (Type::Named(_, type_) | Type::Optional(type_), value) => write(value, *type_, printer),
        (
            Type::Record(table)
            | Type::RecordOrList(table)
            | Type::RecordOrFlag(table)
            | Type::RecordOrTexts(table),
            Value::Object(_),
        ) => write_record(value, table(), printer),
        (Type::List(item), Value::Array(items)) => write_list(items, *item, printer, write),
        (Type::RecordOrList(table), Value::Array(items)) => {
            write_list(items, Type::Record(table), printer, write);
        }
        (Type::Map(type_), Value::Object(members)) => {
            write_map(members, *type_, printer, write);
        }
        (_, value) => printer.value(value),
    }
}

fn write_record(value: &Value, record: &'static Record, printer: &mut Printer) {
    let Value::Object(members) = value else {
        return printer.value(value);
    };
    let declared = declared(members, record).into_iter();
    let declared = declared.map(|(_, name, member, type_)| (name, member, type_));
    write_members(declared, printer, write);
}

/// The members of a record in declared order, each with its place in it and its type.
fn declared<'m>(
    members: &'m Map<String, Value>,
    record: &'static Record,
) -> Vec<(usize, &'m str, &'m Value, Type)> {
    let mut declared: Vec<_> = in_order(members)
        .map(|(name, member)| {
            let (place, type_) = record.place(name);
            (place, name.as_str(), member, type_)
        })
        .collect();
    declared.sort_by_key(|(place, ..)| *place);
    declared
}

/// Writes a value of a type.
type Write = fn(&Value, Type, &mut Printer);

fn write_members<'m>(
    members: impl Iterator<Item = (&'m str, &'m Value, Type)>,
    printer: &mut Printer,
    write: Write,
) {
    grow(|| {
        printer.out.push('{');
        for (index, (name, member, type_)) in members.enumerate() {
            printer.separate(index);
            printer.string(name);
            printer.out.push(':');
            write(member, type_, printer);
        }
        printer.out.push('}');
    });
}

pub(super) fn write_map(
    members: &Map<String, Value>,
    of: Type,
    printer: &mut Printer,
    write: Write,
) {
    let members = in_order(members).map(|(name, value)| (name.as_str(), value, of));
    write_members(members, printer, write);
}

pub(super) fn write_list(items: &[Value], of: Type, printer: &mut Printer, write: Write) {
    grow(|| {
        printer.out.push('[');
        for (index, value) in items.iter().enumerate() {
            printer.separate(index);
            write(value, of, printer);
        }
        printer.out.push(']');
    });
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::metadata::ObjectMeta;
    use crate::print::compact_json_with_place;
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

    #[test]
    fn the_place_of_a_member_is_before_those_declared_after_it() {
        let record = ObjectMeta::record();
        let place = |metadata: Value| {
            let printed = declared_json_with_place(&metadata, record, &["resourceVersion"], None);
            assert_eq!(printed.text, declared_json(&metadata, record));
            let (before, after) = printed.text.split_at(printed.place?);
            Some(format!("{before}|{after}"))
        };
        assert_eq!(
            place(json!({"name": "n", "labels": {}, "generation": 1})).as_deref(),
            Some(r#"{"name":"n",|"generation":1,"labels":{}}"#),
        );
        assert_eq!(place(json!({"name": "n"})), None);
        assert_eq!(place(json!({"resourceVersion": "1", "generation": 1})), None);
    }

    #[test]
    fn a_member_beside_it_is_printed_as_if_it_were_there() {
        let record = ObjectMeta::record();
        for others in [json!({"name": "n", "labels": {}}), json!({"zz": 1}), json!({})] {
            let mut whole = others.clone();
            whole["managedFields"] = json!([]);
            let (member, beside) = (["resourceVersion"], Some(("managedFields", "[]")));
            assert_eq!(
                declared_json_with_place(&others, record, &member, beside),
                declared_json_with_place(&whole, record, &member, None),
            );
            assert_eq!(
                compact_json_with_place(&others, &member, beside),
                compact_json_with_place(&whole, &member, None),
            );
        }
    }
}
