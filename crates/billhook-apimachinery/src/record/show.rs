//! Values in the server's internal form, as its errors show them (CV-06).

use serde_json::Value;

use super::ordered::{write_list, write_map};
use super::{Record, Table, Type};
use crate::print::{Printer, json_float};
use crate::value::{Num, grow};

/// A value in the server's internal form: all fields of records, with their internal names
/// (CV-06).
pub fn show(value: Option<&Value>, type_: Type) -> String {
    let mut printer = Printer::compact(0);
    write(value, type_, &mut printer);
    printer.out
}

fn write(value: Option<&Value>, type_: Type, printer: &mut Printer) {
    match value.filter(|value| !value.is_null()) {
        Some(value) => write_present(value, type_, printer),
        None => write_absent(type_, printer),
    }
}

fn write_some(value: &Value, type_: Type, printer: &mut Printer) {
    write(Some(value), type_, printer);
}

fn write_absent(type_: Type, printer: &mut Printer) {
    match type_ {
        Type::Named(_, type_) => write_absent(*type_, printer),
        Type::Text => printer.out.push_str("\"\""),
        Type::Flag => printer.out.push_str("false"),
        Type::Int32 | Type::Int64 | Type::Float => printer.out.push('0'),
        Type::Record(table) => write_record(None, table(), printer),
        Type::RecordOrTexts(_) => printer.out.push_str("{\"Schema\":null,\"Property\":null}"),
        _ => printer.out.push_str("null"),
    }
}

fn write_present(value: &Value, type_: Type, printer: &mut Printer) {
    let as_record = |table: Table, printer: &mut Printer| match value {
        Value::Object(_) => write_record(Some(value), table(), printer),
        _ => printer.out.push_str("null"),
    };
    match (type_, value) {
        (Type::Named(_, type_) | Type::Optional(type_), value) => {
            write_present(value, *type_, printer);
        }
        (Type::Record(table), value) => write_record(Some(value), table(), printer),
        (Type::List(item), Value::Array(items)) => write_list(items, *item, printer, write_some),
        (Type::Map(type_), Value::Object(members)) => {
            write_map(members, *type_, printer, write_some);
        }
        (Type::RecordOrList(table), Value::Array(items)) => {
            printer.out.push_str("{\"Schema\":null,\"JSONSchemas\":");
            write_list(items, Type::Record(table), printer, write_some);
            printer.out.push('}');
        }
        (Type::RecordOrList(table), _) => {
            printer.out.push_str("{\"Schema\":");
            as_record(table, printer);
            printer.out.push_str(",\"JSONSchemas\":null}");
        }
        (Type::RecordOrFlag(table), value) => {
            let allows = value.as_bool().unwrap_or(true);
            printer.out.push_str(&format!("{{\"Allows\":{allows},\"Schema\":"));
            as_record(table, printer);
            printer.out.push('}');
        }
        (Type::RecordOrTexts(table), value) => {
            printer.out.push_str("{\"Schema\":");
            as_record(table, printer);
            printer.out.push_str(",\"Property\":");
            printer.value(if value.is_array() { value } else { &Value::Null });
            printer.out.push('}');
        }
        (Type::Float, Value::Number(number)) => {
            printer.out.push_str(&json_float(Num::of(number).as_f64()));
        }
        (_, value) => printer.value(value),
    }
}

fn write_record(value: Option<&Value>, record: &'static Record, printer: &mut Printer) {
    grow(|| {
        for (index, field) in record.fields.iter().enumerate() {
            printer.out.push_str(if index == 0 { "{\"" } else { ",\"" });
            printer.out.push_str(&field.go_name());
            printer.out.push_str("\":");
            write(value.and_then(|value| value.get(field.name)), field.type_, printer);
        }
        printer.out.push_str(if record.fields.is_empty() { "{}" } else { "}" });
    });
}
