//! Names of members.

use billhook_schema::JsonSchemaProps;

/// The name of a member that all objects have, as a keyword.
pub(super) fn name_of_fixed(name: &str) -> &'static str {
    match name {
        "metadata" => "metadata",
        "kind" => "kind",
        _ => "apiVersion",
    }
}

/// A name that neither schema lists.
pub(super) fn other_name(from: &JsonSchemaProps, to: &JsonSchemaProps) -> String {
    let is_listed = |name: &String| from.property(name).or(to.property(name)).is_some();
    let names = (0..=1000).map(|number| format!("key{number}"));
    names.into_iter().find(|name| !is_listed(name)).unwrap_or_default()
}
