//! Printing of values in Go syntax (KV-10).

use serde_json::Value;

use crate::print::{error_value, quote};
use crate::value::{grow, sorted};

/// Returns a value as the errors of older servers show it (KV-10): in Go syntax. Null alone is a
/// string.
pub(crate) fn go_value(value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::Null => out.push_str("\"null\""),
        other => write_go(other, &mut out),
    }
    out
}

fn write_go(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("interface {}(nil)"),
        Value::Array(items) => grow(|| {
            out.push_str("[]interface {}{");
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { ", " } else { "" });
                write_go(item, out);
            }
            out.push('}');
        }),
        Value::Object(members) => grow(|| {
            out.push_str("map[string]interface {}{");
            for (index, (key, member)) in sorted(members).into_iter().enumerate() {
                out.push_str(if index > 0 { ", " } else { "" });
                out.push_str(&quote(key));
                out.push(':');
                write_go(member, out);
            }
            out.push('}');
        }),
        scalar => out.push_str(&error_value(scalar)),
    }
}
