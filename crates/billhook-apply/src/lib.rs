#![doc = include_str!("../README.md")]
//!
//! - [`FieldSet`]: a set of fields, read from and written as FieldsV1.
//! - [`MergeSchema`]: which parts of an object are owned field by field, and which as a whole.
//! - [`TypedValue`]: an object that fits such a schema; its fields, comparison, merge and removal.
//! - [`ManagedFields`]: who owns what; [`FieldManager`]: the effects of a write on it, and the apply
//!   of a configuration.
//!
//! The texts are those of the server; the rules are cited by their numbers in the rule book
//! (`docs/rules` in the repository).

mod atomics;
mod compare;
mod edit;
mod edition;
mod field_set;
mod fields;
mod fields_v1;
mod foreign;
mod identity;
mod join;
mod list_order;
mod lost_fields;
mod manager;
mod merge;
mod new_fields;
mod order;
mod owners;
mod ownership;
mod path_element;
mod remove;
mod resource_fields;
mod schema;
mod shape;
mod type_check;
mod type_error;
mod typed_value;

mod value_set;
mod values;

pub use compare::Comparison;
pub use field_set::{FieldSet, OwnedPath};
pub use fields_v1::FieldsV1Error;
pub use foreign::{Foreign, ForeignValues, PathStep};
pub use manager::{
    Conflict, Conflicts, ConversionError, FieldManager, ManagedFields, ManagedFieldsError,
    ManagedFieldsOperation, ManagerEntry, MergeError, ReplicasPath, ScaleManager, UpdateError,
    Versions, manager_name,
};
pub use path_element::{PathElement, PathElementKind};
pub use schema::MergeSchema;
pub use type_check::Duplicates;
pub use type_error::{TypeError, TypeErrors};
pub use typed_value::TypedValue;
