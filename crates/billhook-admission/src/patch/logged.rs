//! The text of a patch in the audit log (OB-37).

use std::collections::BTreeMap;

use billhook::JsonPatch;
use billhook_apimachinery::print::compact_json;
use serde_json::value::RawValue;

/// Returns a patch as the audit log has it: the members of operations are sorted, and their values
/// are as the webhook wrote them, but without white space and with `<`, `>` and `&` escaped.
pub(crate) fn logged(patch: &[u8]) -> String {
    as_written(patch).unwrap_or_else(|| {
        let patch = JsonPatch::from_slice(patch).unwrap_or_default();
        let operations: Vec<String> = patch.operations().map(compact_json).collect();
        format!("[{}]", operations.join(","))
    })
}

fn as_written(patch: &[u8]) -> Option<String> {
    let operations: Vec<Option<BTreeMap<String, &RawValue>>> =
        serde_json::from_slice(patch).ok()?;
    let operation = |operation: Option<BTreeMap<String, &RawValue>>| {
        let Some(members) = operation else { return "null".to_owned() };
        let member = |(name, value): (String, &RawValue)| {
            format!("{}:{}", compact_json(&name.into()), compact(value.get()))
        };
        format!("{{{}}}", members.into_iter().map(member).collect::<Vec<_>>().join(","))
    };
    let operations: Vec<String> = operations.into_iter().map(operation).collect();
    Some(format!("[{}]", operations.join(",")))
}

/// Removes white space between the tokens of a JSON text, and escapes some characters in strings.
fn compact(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut is_string = false;
    let mut is_escaped = false;
    for c in text.chars() {
        match c {
            ' ' | '\t' | '\n' | '\r' if !is_string => continue,
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            _ => out.push(c),
        }
        is_string ^= c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::logged;

    #[test]
    fn values_stay_as_they_were_written() {
        for (patch, expected) in [
            ("null", "[]"),
            ("[null]", "[null]"),
            (
                r#"[ {"value": {"b": 7.0, "a": [1e3, "x \" y"]}, "path": "/a", "op": "add"} ]"#,
                r#"[{"op":"add","path":"/a","value":{"b":7.0,"a":[1e3,"x \" y"]}}]"#,
            ),
            (r#"[{"op": "test", "value": "a<b\\"}]"#, r#"[{"op":"test","value":"a\u003cb\\"}]"#),
            (r#"[{"op": "add", "op": "remove"}]"#, r#"[{"op":"remove"}]"#),
        ] {
            assert_eq!(logged(patch.as_bytes()), expected);
        }
    }
}
