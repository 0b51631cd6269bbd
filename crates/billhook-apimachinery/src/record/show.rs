//! Values in the server's internal form, as its errors show them (CV-06).

use crate::print::compact_json;
use crate::value::{grow, sorted};
use serde_json::{Map, Value};

use super::{Field, Record, Type};

/// A value in the server's internal form: all fields of records, with their internal names
/// (CV-06).
pub fn show(value: Option<&Value>, type_: Type) -> String {
    let mut out = String::new();
    write(value, type_, &mut out);
    out
}

fn write(value: Option<&Value>, type_: Type, out: &mut String) {
    let value = value.filter(|value| !value.is_null());
    match (type_, value) {
        (Type::Text(_), None) => out.push_str("\"\""),
        (Type::Flag, None) => out.push_str("false"),
        (Type::Int(_), None) => out.push('0'),
        (Type::Record(record), None) => write_record(None, record, out),
        (_, None) => out.push_str("null"),
        (Type::Record(record) | Type::OptionalRecord(record), value) => {
            write_record(value, record, out);
        }
        (Type::Records(record), Some(Value::Array(items))) => write_records(items, record, out),
        (Type::RecordMap(record, _), Some(Value::Object(members))) => {
            write_members(members, out, |member, out| write_record(Some(member), record, out));
        }
        (Type::RecordOrList(record), Some(value)) => match value {
            Value::Array(items) => {
                out.push_str("{\"Schema\":null,\"JSONSchemas\":");
                write_records(items, record, out);
                out.push('}');
            }
            value => {
                let schema = Some(value).filter(|value| value.is_object());
                out.push_str("{\"Schema\":");
                write(schema, Type::OptionalRecord(record), out);
                out.push_str(",\"JSONSchemas\":null}");
            }
        },
        (Type::RecordOrFlag(record), Some(value)) => {
            let allows = value.as_bool().unwrap_or(true);
            out.push_str(&format!("{{\"Allows\":{allows},\"Schema\":"));
            let schema = Some(value).filter(|value| value.is_object());
            write(schema, Type::OptionalRecord(record), out);
            out.push('}');
        }
        (Type::RecordsOrTexts(record, _), Some(Value::Object(members))) => {
            write_members(members, out, |member, out| {
                out.push_str("{\"Schema\":");
                let schema = Some(member).filter(|member| member.is_object());
                write(schema, Type::OptionalRecord(record), out);
                out.push_str(",\"Property\":");
                let property =
                    member.as_array().map_or("null".to_owned(), |_| compact_json(member));
                out.push_str(&property);
                out.push('}');
            });
        }
        (_, Some(value)) => out.push_str(&compact_json(value)),
    }
}

fn write_record(value: Option<&Value>, record: &'static Record, out: &mut String) {
    grow(|| {
        for (index, Field(name, shown, type_)) in record.fields.iter().enumerate() {
            out.push_str(if index == 0 { "{\"" } else { ",\"" });
            out.push_str(shown);
            out.push_str("\":");
            write(value.and_then(|value| value.get(name)), *type_, out);
        }
        out.push_str(if record.fields.is_empty() { "{}" } else { "}" });
    });
}

fn write_records(items: &[Value], record: &'static Record, out: &mut String) {
    out.push('[');
    for (index, item) in items.iter().enumerate() {
        out.push_str(if index > 0 { "," } else { "" });
        write_record(Some(item), record, out);
    }
    out.push(']');
}

fn write_members(
    members: &Map<String, Value>,
    out: &mut String,
    write: impl Fn(&Value, &mut String),
) {
    out.push('{');
    for (index, (name, member)) in sorted(members).into_iter().enumerate() {
        out.push_str(if index > 0 { "," } else { "" });
        out.push_str(&compact_json(&Value::from(name.as_str())));
        out.push(':');
        write(member, out);
    }
    out.push('}');
}
