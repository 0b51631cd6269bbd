//! Changes and values in words.

use billhook_apimachinery::record::to_value;
use billhook_schema::JsonSchemaProps;
use serde_json::Value;

/// The change of a keyword in words.
pub(crate) fn change(keyword: &str, from: &JsonSchemaProps, to: &JsonSchemaProps) -> String {
    // A format lets lists pass (VV-12).
    if keyword == "type" && from.type_ == to.type_ && !from.format.is_empty() {
        return change("format", from, to);
    }
    let (from, to) = (to_value(from), to_value(to));
    let text = |schema: &Value| match keyword {
        "type" if schema.get("x-kubernetes-int-or-string").is_some() => {
            Some("int-or-string".to_owned())
        }
        _ => schema.get(keyword).map(shown),
    };
    match (text(&from), text(&to)) {
        (Some(from), Some(to)) if from != to => format!("{keyword} changed from {from} to {to}"),
        (None, Some(to)) => format!("{keyword} {to} added"),
        (Some(from), None) => format!("{keyword} {from} removed"),
        _ => format!("{keyword} changed"),
    }
}

/// A value on a line, cut if it is long.
pub(crate) fn shown(value: &Value) -> String {
    const MOST: usize = 80;
    let text = match value {
        Value::String(text) if !text.is_empty() => text.clone(),
        value => billhook::to_json(value),
    };
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}
