//! The known fields of metadata, as tables (OM-02).

/// The fields of a record: names and kinds.
pub type Record = &'static [(&'static str, Kind)];

/// How a field is decoded and when it is written back (OM-02).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Kind {
    /// Written when not empty; holds the name of the type in errors.
    String(&'static str),
    /// Like `String`, but always written.
    RequiredString(&'static str),
    /// Written when not zero.
    Integer,
    /// Written when present.
    OptionalInteger,
    /// Written when present.
    OptionalBool,
    /// Written when not the zero time.
    Time,
    /// Written when not empty.
    StringMap,
    /// Written when not empty.
    StringList,
    /// Written when not empty; holds the names of the record in errors.
    Records {
        /// The type of an element in errors.
        go: &'static str,
        /// The record in errors.
        struct_name: &'static str,
        /// The fields of an element.
        fields: Record,
    },
    /// Any value, kept as it is.
    Any,
}

const STRING: Kind = Kind::String("string");

/// The fields of ObjectMeta (OM-02).
pub const OBJECT_META: Record = &[
    ("name", STRING),
    ("generateName", STRING),
    ("namespace", STRING),
    ("selfLink", STRING),
    ("uid", Kind::String("types.UID")),
    ("resourceVersion", STRING),
    ("generation", Kind::Integer),
    ("creationTimestamp", Kind::Time),
    ("deletionTimestamp", Kind::Time),
    ("deletionGracePeriodSeconds", Kind::OptionalInteger),
    ("labels", Kind::StringMap),
    ("annotations", Kind::StringMap),
    ("finalizers", Kind::StringList),
    (
        "ownerReferences",
        Kind::Records {
            go: "v1.OwnerReference",
            struct_name: "OwnerReference",
            fields: OWNER_REFERENCE,
        },
    ),
    (
        "managedFields",
        Kind::Records {
            go: "v1.ManagedFieldsEntry",
            struct_name: "ManagedFieldsEntry",
            fields: MANAGED_FIELDS_ENTRY,
        },
    ),
];

/// The fields of an owner reference.
pub(crate) const OWNER_REFERENCE: Record = &[
    ("apiVersion", Kind::RequiredString("string")),
    ("kind", Kind::RequiredString("string")),
    ("name", Kind::RequiredString("string")),
    ("uid", Kind::RequiredString("types.UID")),
    ("controller", Kind::OptionalBool),
    ("blockOwnerDeletion", Kind::OptionalBool),
];

/// The fields of a managed fields entry.
const MANAGED_FIELDS_ENTRY: Record = &[
    ("manager", STRING),
    ("operation", Kind::String("v1.ManagedFieldsOperationType")),
    ("apiVersion", STRING),
    ("time", Kind::Time),
    ("fieldsType", STRING),
    ("fieldsV1", Kind::Any),
    ("subresource", STRING),
];

/// Returns the kind of a field of a record.
pub fn field_kind(record: Record, name: &str) -> Option<Kind> {
    record.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
}
