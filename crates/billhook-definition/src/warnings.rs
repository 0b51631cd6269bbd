//! Warnings about formats that a server does not know (CV-90).

use std::collections::BTreeSet;

use billhook_validation::Format;

use crate::model::Model;
use crate::node::nodes;
use billhook_apimachinery::record::{flag, text};

/// The formats in all schemas that have no effect, one for each occurrence.
pub(crate) fn unknown_formats<'v>(model: &Model<'v>) -> Vec<&'v str> {
    let mut formats = Vec::new();
    for container in model.containers() {
        for node in nodes(container.schema) {
            let format = text(node, "format");
            let is_int_or_string = flag(node, "x-kubernetes-int-or-string");
            let type_ = if is_int_or_string { "" } else { text(node, "type") };
            if !format.is_empty() && !Format::has_effect(type_, format) {
                formats.push(format);
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
