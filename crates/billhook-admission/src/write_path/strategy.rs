//! Resources whose rules their schema cannot tell.

use billhook::webhook::EquivalentResources;
use billhook_apimachinery::metadata::subdomain_name;
use billhook_apimachinery::record::{Record, RecordError};
use billhook_apimachinery::{BUILT_IN_SCHEME, FieldError, GroupVersionKind, Status, UserInfo};
use billhook_apply::MergeSchema;
use serde_json::Value;

use super::request::Subresource;

/// The rules of a resource of the server itself, such as CustomResourceDefinitions, beside those of
/// its definition. New methods will have defaults.
pub trait Strategy: Send + Sync {
    /// Reads a decoded object as a type of the resource: completes it, and removes the fields that
    /// are not known. Returns these as field validation reports them.
    ///
    /// # Errors
    ///
    /// If a value is not of the type of its field.
    fn read(&self, object: &mut Value) -> Result<Vec<String>, RecordError>;

    /// Returns the object that a creation begins with, if it is not nothing. Its fields have no
    /// owner.
    fn empty(&self) -> Option<Value>;

    /// Whether a write takes the status of its body over: a creation, or a write of a subresource
    /// other than the status.
    fn takes_status(&self, _subresource: Option<Subresource>) -> bool {
        false
    }

    /// Prepares an object that is written: the fields that depend on others. Metadata and the
    /// status of the stored object are there already.
    fn prepare(&self, object: &mut Value, old: Option<&Value>, context: &StrategyContext<'_>);

    /// Whether preparation copies the name or the UID of an object to its other fields, so that it is
    /// done from the beginning for another name.
    fn copies_identity(&self) -> bool {
        false
    }

    /// Whether an update may leave out the resource version that it was made for; it then replaces
    /// what is stored (BK-10).
    fn updates_unconditionally(&self) -> bool {
        false
    }

    /// Whether an update of an object that does not exist creates it (BK-09).
    fn creates_on_update(&self) -> bool {
        false
    }

    /// Returns the rule of names: of a name, or with the flag set of a `generateName`, it returns what
    /// is wrong.
    fn name_rule(&self) -> fn(&str, bool) -> Vec<String> {
        subdomain_name
    }

    /// Returns the group of the kind in errors, if it is another one than that of the resource.
    fn group_in_errors(&self) -> Option<&str> {
        None
    }

    /// Returns the part of the keys of objects before their namespaces and names, which some errors
    /// show, if it is not that of custom resources (ES-02).
    fn storage_path(&self) -> Option<String> {
        None
    }

    /// Returns the place in the server's code that knows the type, as some errors say.
    fn scheme(&self) -> &'static str {
        BUILT_IN_SCHEME
    }

    /// Returns how many seconds an object has after its deletion was asked for, with those that
    /// the request gives it; none if deletions are not graceful (BK-109).
    fn grace_period(&self, _object: &Value, _requested: Option<i64>) -> Option<i64> {
        None
    }

    /// Whether dependents are orphaned unless the request says otherwise (BK-13).
    fn orphans_by_default(&self) -> bool {
        false
    }

    /// Converts an object to an API version in which it exists, too; false if it does not.
    fn convert(&self, _object: &mut Value, _api_version: &str) -> bool {
        false
    }

    /// Returns the resources whose objects are the same, if they are others than the versions of the
    /// definition (WM-48).
    fn equivalents(&self) -> Option<EquivalentResources> {
        None
    }

    /// Returns the rules of another kind that an object exists in, too.
    fn of_equivalent(&self, _kind: &GroupVersionKind) -> Option<Box<dyn Strategy>> {
        None
    }

    /// Returns how objects are merged as that other kind, for mutating policies (PO-66).
    fn merge_schema_of(&self, _kind: &GroupVersionKind) -> Option<MergeSchema> {
        None
    }

    /// Whether objects can have dependents, whose fate a deletion may decide (BK-13).
    fn has_dependents(&self) -> bool {
        true
    }

    /// Returns why an object of a name must not be deleted, if it must not.
    fn undeletable(&self, _name: &str) -> Option<&'static str> {
        None
    }

    /// Returns the warning of a deletion that does not say whether dependents go, too (BK-13).
    fn deletion_warning(&self) -> Option<&'static str> {
        None
    }

    /// Whether a write of a subresource takes the metadata of its body over.
    fn takes_metadata(&self, subresource: Subresource) -> bool;

    /// Returns the fields that a write to the object, or to a subresource, does not own, if they are
    /// others than those of custom resources.
    fn resets(&self, _subresource: Option<Subresource>) -> Option<&'static [&'static str]> {
        None
    }

    /// Whether objects are of a fixed type: they are stored as they are read (BK-01).
    fn is_typed(&self) -> bool;

    /// Whether metadata is validated as that of all kinds, and not by [`Strategy::validate`].
    fn has_plain_metadata(&self) -> bool;

    /// Validates an object.
    fn validate(
        &self,
        object: &Value,
        old: Option<&Value>,
        context: &StrategyContext<'_>,
    ) -> Findings;

    /// Whether an object whose deletion was asked for stays until others have done their part.
    fn marks_deletions(&self) -> bool;

    /// Marks such an object. `finalizers` are those that the fate of its dependents asks for, beside
    /// its own (RE-114).
    fn mark(&self, object: &mut Value, now: &str, finalizers: Vec<Value>);

    /// Returns the fields of the objects, which say how strategic merge patches merge them.
    fn record(&self) -> &'static Record;

    /// Whether an object that is being deleted stays although it has no finalizers.
    fn is_kept(&self, object: &Value) -> bool;
}

/// Allocates to objects values that must be unique, such as the addresses of services.
pub trait Allocator: Send + Sync {
    /// Allocates for an object that is created, or that replaces another one: after it was prepared,
    /// before it is validated (BK-05). A dry run keeps nothing.
    ///
    /// # Errors
    ///
    /// The status that the client gets.
    fn allocate(
        &self,
        object: &mut Value,
        old: Option<&Value>,
        dry_run: bool,
    ) -> Result<(), Status>;
}

/// The request that an object is written by.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct StrategyContext<'c> {
    /// The subresource that is written; none for the object itself.
    pub subresource: Option<Subresource>,
    /// The user who makes the request.
    pub user: &'c UserInfo,
    /// The time of the request, as objects hold it.
    pub now: &'c str,
    /// The body of the request.
    pub body: &'c [u8],
}

/// The findings in an object.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Findings {
    /// The errors, in the server's order.
    pub errors: Vec<FieldError>,
    /// The warnings.
    pub warnings: Vec<String>,
}

impl Findings {
    /// Returns findings.
    pub fn new(errors: Vec<FieldError>, warnings: Vec<String>) -> Self {
        Findings { errors, warnings }
    }
}
