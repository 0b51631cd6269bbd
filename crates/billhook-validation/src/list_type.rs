//! The kind of a list (VV-40).

use billhook_schema::JsonSchemaProps;

/// The kind of a list by its `x-kubernetes-list-type`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum ListType {
    /// Nothing is said, or `atomic`.
    #[default]
    None,
    Set,
    /// A map with the names of its key fields.
    Map(Box<[String]>),
}

impl ListType {
    pub(crate) fn of(schema: &JsonSchemaProps) -> Self {
        match schema.list_type.as_deref() {
            Some("set") => ListType::Set,
            Some("map") => ListType::Map(schema.list_map_keys.iter().flatten().cloned().collect()),
            _ => ListType::None,
        }
    }
}
