//! Values in the server's internal form, as its errors show them (CV-06).

use serde_json::Value;

use super::ordered::{write_list, write_map};
use super::{Record, Table, Type};
use crate::print::{compact_json, json_float};
use crate::value::{Num, grow};

/// A value in the server's internal form: all fields of records, with their internal names
/// (CV-06).
pub fn show(value: Option<&Value>, type_: Type) -> String {
    let mut out = String::new();
    write(value, type_, &mut out);
    out
}

fn write(value: Option<&Value>, type_: Type, out: &mut String) {
    match value.filter(|value| !value.is_null()) {
        Some(value) => write_present(value, type_, out),
        None => write_absent(type_, out),
    }
}

fn write_some(value: &Value, type_: Type, out: &mut String) {
    write(Some(value), type_, out);
}

fn write_absent(type_: Type, out: &mut String) {
    match type_ {
        Type::Named(_, type_) => write_absent(*type_, out),
        Type::Text => out.push_str("\"\""),
        Type::Flag => out.push_str("false"),
        Type::Int32 | Type::Int64 | Type::Float => out.push('0'),
        Type::Record(table) => write_record(None, table(), out),
        Type::RecordOrTexts(_) => out.push_str("{\"Schema\":null,\"Property\":null}"),
        _ => out.push_str("null"),
    }
}

fn write_present(value: &Value, type_: Type, out: &mut String) {
    let as_record = |table: Table, out: &mut String| match value {
        Value::Object(_) => write_record(Some(value), table(), out),
        _ => out.push_str("null"),
    };
    match (type_, value) {
        (Type::Named(_, type_) | Type::Optional(type_), value) => write_present(value, *type_, out),
        (Type::Record(table), value) => write_record(Some(value), table(), out),
        (Type::List(item), Value::Array(items)) => write_list(items, *item, out, write_some),
        (Type::Map(type_), Value::Object(members)) => {
            write_map(members, *type_, out, write_some);
        }
        (Type::RecordOrList(table), Value::Array(items)) => {
            out.push_str("{\"Schema\":null,\"JSONSchemas\":");
            write_list(items, Type::Record(table), out, write_some);
            out.push('}');
        }
        (Type::RecordOrList(table), _) => {
            out.push_str("{\"Schema\":");
            as_record(table, out);
            out.push_str(",\"JSONSchemas\":null}");
        }
        (Type::RecordOrFlag(table), value) => {
            let allows = value.as_bool().unwrap_or(true);
            out.push_str(&format!("{{\"Allows\":{allows},\"Schema\":"));
            as_record(table, out);
            out.push('}');
        }
        (Type::RecordOrTexts(table), value) => {
            out.push_str("{\"Schema\":");
            as_record(table, out);
            out.push_str(",\"Property\":");
            out.push_str(&value.as_array().map_or("null".to_owned(), |_| compact_json(value)));
            out.push('}');
        }
        (Type::Float, Value::Number(number)) => {
            out.push_str(&json_float(Num::of(number).as_f64()));
        }
        (_, value) => out.push_str(&compact_json(value)),
    }
}

fn write_record(value: Option<&Value>, record: &'static Record, out: &mut String) {
    grow(|| {
        for (index, field) in record.fields.iter().enumerate() {
            out.push_str(if index == 0 { "{\"" } else { ",\"" });
            out.push_str(&field.go_name());
            out.push_str("\":");
            write(value.and_then(|value| value.get(field.name)), field.type_, out);
        }
        out.push_str(if record.fields.is_empty() { "{}" } else { "}" });
    });
}
