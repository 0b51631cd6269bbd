//! Replays the pattern table of the shared conformance vectors, when they are
//! there: each row holds one pattern and many texts, and says for which of them
//! the server reported that they do not match, or why it could not tell.

use std::collections::BTreeMap;
use std::path::Path;

use billhook_regex::Pattern;
use serde_json::Value;

const TABLE: &str = "../../../shared/conformance/table_patterns.jsonl";

/// The error of each field, without the words around it.
fn details(row: &Value) -> BTreeMap<&str, &str> {
    row.pointer("/expect/errors")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|error| Some((error.get("field")?.as_str()?, error.get("detail")?.as_str()?)))
        .collect()
}

/// The number of texts checked, or what is wrong.
fn run(row: &Value) -> Result<usize, String> {
    let pattern = row
        .pointer("/input/schema/additionalProperties/pattern")
        .and_then(Value::as_str)
        .ok_or("no pattern")?;
    let object = row.pointer("/input/object").and_then(Value::as_object).ok_or("no object")?;
    let details = details(row);
    let compiled = Pattern::new(pattern);
    for (field, text) in object {
        let text = text.as_str().ok_or("not a text")?;
        let quoted = match &compiled {
            Ok(regex) if regex.is_match(text) => None,
            Ok(_) => Some(pattern.to_owned()),
            Err(error) => Some(format!("{pattern}, but pattern is invalid: {error}")),
        };
        let actual = quoted.map(|quoted| format!(".{field} in body should match '{quoted}'"));
        let expected = details.get(field.as_str()).copied();
        if actual.as_deref() != expected {
            return Err(format!("{text:?}\n- {expected:?}\n+ {actual:?}"));
        }
    }
    Ok(object.len())
}

#[test]
fn pattern_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(TABLE);
    let Ok(table) = std::fs::read_to_string(&path) else {
        eprintln!("no conformance vectors at `{}`: nothing replayed", path.display());
        return;
    };
    let mut failures = Vec::new();
    let mut texts = 0;
    for line in table.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        match run(&row) {
            Ok(more) => texts += more,
            Err(wrong) => failures.push(format!("{}: {wrong}", row["id"])),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(texts > 0, "the table is empty");
    eprintln!("{} rows with {texts} texts replayed", table.lines().count());
}
