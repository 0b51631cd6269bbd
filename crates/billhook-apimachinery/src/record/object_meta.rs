//! The fields of ObjectMeta.

use super::{Field, Record, Type};

const STRING: Type = Type::Text("string");
const STRINGS: Type = Type::Texts("string");

/// The metadata of any object.
pub static OBJECT_META: Record = Record {
    name: "ObjectMeta",
    fields: &[
        Field("name", "Name", STRING),
        Field("generateName", "GenerateName", STRING),
        Field("namespace", "Namespace", STRING),
        Field("selfLink", "SelfLink", STRING),
        Field("uid", "UID", Type::Text("types.UID")),
        Field("resourceVersion", "ResourceVersion", STRING),
        Field("generation", "Generation", Type::Int("int64")),
        Field("creationTimestamp", "CreationTimestamp", Type::Time),
        Field("deletionTimestamp", "DeletionTimestamp", Type::Time),
        Field(
            "deletionGracePeriodSeconds",
            "DeletionGracePeriodSeconds",
            Type::OptionalInt("int64"),
        ),
        Field("labels", "Labels", Type::TextMap),
        Field("annotations", "Annotations", Type::TextMap),
        Field("ownerReferences", "OwnerReferences", Type::Records(&OWNER_REFERENCE)),
        Field("finalizers", "Finalizers", STRINGS),
        Field("managedFields", "ManagedFields", Type::Records(&MANAGED_FIELDS_ENTRY)),
    ],
};

static OWNER_REFERENCE: Record = Record {
    name: "OwnerReference",
    fields: &[
        Field("apiVersion", "APIVersion", STRING),
        Field("kind", "Kind", STRING),
        Field("name", "Name", STRING),
        Field("uid", "UID", Type::Text("types.UID")),
        Field("controller", "Controller", Type::OptionalFlag),
        Field("blockOwnerDeletion", "BlockOwnerDeletion", Type::OptionalFlag),
    ],
};

static MANAGED_FIELDS_ENTRY: Record = Record {
    name: "ManagedFieldsEntry",
    fields: &[
        Field("manager", "Manager", STRING),
        Field("operation", "Operation", Type::Text("v1.ManagedFieldsOperationType")),
        Field("apiVersion", "APIVersion", STRING),
        Field("time", "Time", Type::Time),
        Field("fieldsType", "FieldsType", STRING),
        Field("fieldsV1", "FieldsV1", Type::Any),
        Field("subresource", "Subresource", STRING),
    ],
};
