//! The files under `fixtures/`.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// Returns the path of a file or directory under `fixtures/`.
pub fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name)
}

/// Returns the examples of a directory whose names start with a prefix, in the order of their
/// names: name without extension and content.
pub fn examples(directory: &str, prefix: &str) -> Vec<(String, Value)> {
    let entries = std::fs::read_dir(path(directory)).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let examples = files.iter().map(|file| {
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        (name, billhook_yaml::read_document(&std::fs::read(file).unwrap()).unwrap().into_value())
    });
    examples
        .filter(|(name, _)| name.starts_with(prefix))
        .map(|(name, value)| (name, value.into_inner()))
        .collect()
}
