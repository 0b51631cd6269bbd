//! The fields of ObjectMeta (OM-02).

use std::collections::BTreeMap;

use crate::record;
use crate::time::Time;
use crate::value::DeepValue;

/// The finalizer of an object that is deleted without its dependents (RE-114).
pub const ORPHAN_FINALIZER: &str = "orphan";

/// The finalizer of an object that is deleted after its dependents (RE-114).
pub const FOREGROUND_FINALIZER: &str = "foregroundDeletion";

record! {
    /// The metadata of any object.
    #[derive(Clone, Debug, Default, PartialEq)]
    #[non_exhaustive]
    pub struct ObjectMeta = "ObjectMeta" {
        /// The name.
        pub name: String = "name" [1],
        /// The prefix of a generated name.
        pub generate_name: String = "generateName" [2],
        /// The namespace; empty for none.
        pub namespace: String = "namespace" [3],
        /// A URL; servers no longer set it.
        pub self_link: String = "selfLink" [4],
        /// Tells apart objects of the same name at different times.
        pub uid: String = "uid" [5] as "UID" of "types.UID",
        /// Changes with every write.
        pub resource_version: String = "resourceVersion" [6],
        /// Changes when the wanted state does.
        pub generation: i64 = "generation" [7],
        /// When the object was created.
        pub creation_timestamp: Time = "creationTimestamp" [8],
        /// When the object is to be deleted.
        pub deletion_timestamp: Time = "deletionTimestamp" [9],
        /// How long it may take to delete the object.
        pub deletion_grace_period_seconds: Option<i64> = "deletionGracePeriodSeconds" [10],
        /// The pairs that selectors look at.
        pub labels: BTreeMap<String, String> = "labels" [11],
        /// The pairs that selectors do not look at.
        pub annotations: BTreeMap<String, String> = "annotations" [12],
        /// The objects that this one depends on.
        pub owner_references: Vec<OwnerReference> = "ownerReferences" [13] merge "uid",
        /// The tasks that must end before the object is gone.
        pub finalizers: Vec<String> = "finalizers" [14] merge patched_set,
        /// Who set which fields.
        pub managed_fields: Vec<ManagedFieldsEntry> = "managedFields" [17],
    }

    /// An object that another one depends on.
    #[derive(Clone, Debug, Default, PartialEq)]
    #[non_exhaustive]
    pub struct OwnerReference = "OwnerReference" @atomic {
        /// Group and version of the owner.
        pub api_version: String = "apiVersion" [5] as "APIVersion" @required,
        /// The kind of the owner.
        pub kind: String = "kind" [1] @required,
        /// The name of the owner.
        pub name: String = "name" [3] @required,
        /// The UID of the owner.
        pub uid: String = "uid" [4] as "UID" of "types.UID" @required,
        /// Whether the owner is the one that manages the object.
        pub controller: Option<bool> = "controller" [6],
        /// Whether the owner waits for the object when it is deleted in the foreground.
        pub block_owner_deletion: Option<bool> = "blockOwnerDeletion" [7],
    }

    /// The fields that one manager set.
    #[derive(Clone, Debug, Default, PartialEq)]
    #[non_exhaustive]
    pub struct ManagedFieldsEntry = "ManagedFieldsEntry" {
        /// The name of the manager.
        pub manager: String = "manager" [1],
        /// `Apply` or `Update`.
        pub operation: String = "operation" [2] of "v1.ManagedFieldsOperationType",
        /// The version that the fields are of.
        pub api_version: String = "apiVersion" [3] as "APIVersion",
        /// When the manager set fields the last time.
        pub time: Time = "time" [4],
        /// `FieldsV1`.
        pub fields_type: String = "fieldsType" [6],
        /// The fields.
        pub fields_v1: Option<DeepValue> = "fieldsV1" [7],
        /// The subresource that they were set through.
        pub subresource: String = "subresource" [8],
    }
}
