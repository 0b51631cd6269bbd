//! Warnings about formats that a server does not know (CV-90).

use std::collections::BTreeSet;

use billhook_validation::Format;

use crate::model::Model;

/// The formats in all schemas that have no effect, one for each occurrence.
pub(crate) fn unknown_formats<'v>(model: &Model<'v>) -> Vec<&'v str> {
    let mut formats = Vec::new();
    for container in model.containers() {
        for node in container.schema.nodes() {
            let type_ = if node.int_or_string { "" } else { &node.type_ };
            if !node.format.is_empty() && !Format::has_effect(type_, &node.format) {
                formats.push(node.format.as_str());
            }
        }
    }
    formats
}

/// The warnings about formats that are not `known` already.
pub(crate) fn warnings(formats: &[&str], known: &[&str]) -> Vec<String> {
    let known: BTreeSet<&str> = known.iter().copied().collect();
    let new = formats.iter().filter(|format| !known.contains(*format));
    new.map(|format| format!("unrecognized format \"{format}\"")).collect()
}
