//! Warnings about formats that a server does not know (CV-90).

use std::collections::BTreeSet;

use billhook_apimachinery::KubernetesVersion;
use billhook_validation::Format;

use crate::edition::{EDITIONS, FormatWarnings};
use crate::model::Model;

/// The formats in all schemas that have no effect, one for each occurrence.
pub(crate) fn unknown_formats<'v>(
    model: &Model<'v>,
    kubernetes: KubernetesVersion,
) -> Vec<&'v str> {
    let mut formats = Vec::new();
    for container in model.containers() {
        for node in container.schema.nodes() {
            let type_ = if node.int_or_string { "" } else { &node.type_ };
            let format = node.format.as_str();
            if !format.is_empty()
                && warns_beside(type_, kubernetes)
                && !Format::has_effect(type_, format, kubernetes)
            {
                formats.push(format);
            }
        }
    }
    formats
}

/// Whether a server warns about formats beside a written type at all (KV-63).
fn warns_beside(type_: &str, kubernetes: KubernetesVersion) -> bool {
    match EDITIONS.of(kubernetes).format_warnings {
        FormatWarnings::Never => false,
        FormatWarnings::OfStrings => type_ == "string",
        FormatWarnings::Always => true,
    }
}

/// The warnings about formats that are not `known` already.
pub(crate) fn warnings(formats: &[&str], known: &[&str]) -> Vec<String> {
    let known: BTreeSet<&str> = known.iter().copied().collect();
    let new = formats.iter().filter(|format| !known.contains(*format));
    new.map(|format| format!("unrecognized format \"{format}\"")).collect()
}
