//! Definitions that people serve.

use std::path::{Path, PathBuf};

use serde_json::Value;

pub(crate) fn corpus() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let shared = root.join("../shared/corpus/crds");
    let directory = if shared.is_dir() { shared } else { root.join("fixtures/crds") };
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(directory).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    files
}

/// The schemas of a document, as pointers; not those below junctors.
pub(crate) fn nodes(schema: &Value, pointer: &str, found: &mut Vec<String>) {
    found.push(pointer.to_owned());
    for (name, part) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        if !["apiVersion", "kind", "metadata"].contains(&name.as_str()) {
            let name = name.replace('~', "~0").replace('/', "~1");
            nodes(part, &format!("{pointer}/properties/{name}"), found);
        }
    }
    for keyword in ["items", "additionalProperties"] {
        if let Some(part @ Value::Object(_)) = schema.get(keyword) {
            nodes(part, &format!("{pointer}/{keyword}"), found);
        }
    }
}
