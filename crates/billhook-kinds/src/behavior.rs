//! The rules of kinds beside their fields.

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::record::{Record, RecordError, decode};
use billhook_apimachinery::{FieldError, KubernetesVersion, UserInfo};
use serde_json::Value;

use crate::rules;
use crate::values::{items, path, text, value_at};

/// The rules of a kind beside its fields. Every method has a default.
pub trait Behavior: Sync {
    /// Reads a decoded object as its type: checks the types of its fields, brings it into the form
    /// in which servers print it and sets its defaults. Returns the unknown fields as field
    /// validation reports them.
    ///
    /// # Errors
    ///
    /// If a value is not of the type of its field.
    fn read(
        &self,
        object: &mut Value,
        record: &'static Record,
        kubernetes: KubernetesVersion,
    ) -> Result<Vec<String>, RecordError> {
        let unknown = decode(object, record, kubernetes)?;
        self.set_defaults(object, kubernetes);
        Ok(unknown)
    }

    /// Sets the defaults of an object in the form of its type (BK-06).
    fn set_defaults(&self, _object: &mut Value, _kubernetes: KubernetesVersion) {}

    /// Whether a write takes the status of its body over: a creation (`""`), or a write of a
    /// subresource other than the status.
    fn takes_status(&self, _subresource: &str) -> bool {
        false
    }

    /// Prepares an object for a write: the fields that depend on others or on the stored object
    /// (BK-05). Metadata and the status of the stored object are there already.
    fn prepare(&self, _object: &mut Value, _old: Option<&Value>, _context: &WriteContext<'_>) {}

    /// Whether preparation copies the name or the UID of an object to its other fields.
    fn copies_identity(&self) -> bool {
        false
    }

    /// Whether a write to the status takes metadata but its generation from the body.
    fn takes_metadata(&self) -> bool {
        true
    }

    /// Returns the fields that a write to the object (`""`), or to a subresource, does not own, if they
    /// are others than those of custom resources.
    fn resets(&self, subresource: &str) -> Option<&'static [&'static str]> {
        (subresource == "status" && self.takes_metadata()).then_some(&["spec"])
    }

    /// Returns the annotations that are made where an object is written: metadata without its object
    /// does not have them.
    fn written_annotations(&self) -> &'static [&'static str] {
        &[]
    }

    /// Validates an object that is created, or that replaces another one.
    fn validate(
        &self,
        _object: &Value,
        _old: Option<&Value>,
        _context: &WriteContext<'_>,
        _found: &mut Findings,
    ) {
    }

    /// Whether metadata is validated as that of all kinds, and not by [`Behavior::validate`].
    fn has_plain_metadata(&self) -> bool {
        true
    }

    /// Whether finalizers without a domain must be those of the server (BK-12).
    fn checks_finalizers(&self) -> bool {
        self.has_plain_metadata()
    }

    /// Validates the finalizers of an object.
    fn validate_finalizers(&self, object: &Value, context: &WriteContext<'_>) -> Vec<FieldError> {
        let mut errors = Vec::new();
        if self.checks_finalizers() && context.subresource.is_empty() {
            for (index, name) in items(object, "/metadata/finalizers").iter().enumerate() {
                let at = path(&["metadata", "finalizers"]).index(index);
                rules::finalizer(&mut errors, &at, text(name, ""), context.kubernetes);
            }
        }
        errors
    }

    /// Returns the group of the kind in errors, if it is another one than that of the kind.
    fn group_in_errors(&self) -> Option<&'static str> {
        None
    }

    /// Returns the name of the resource in the failure of a request for an object that does not
    /// exist, if it is another one than its plural.
    fn missing_resource(&self) -> Option<&'static str> {
        None
    }

    /// Returns how many seconds an object has after its deletion was asked for, with those that
    /// the request gives it; none if deletions are not graceful (BK-109).
    fn grace_period(&self, _object: &Value, _requested: Option<i64>) -> Option<i64> {
        None
    }

    /// Whether an object whose deletion was asked for stays until others have done their part.
    fn marks_deletions(&self) -> bool {
        false
    }

    /// Marks such an object. `finalizers` are those that the fate of its dependents asks for, beside
    /// its own.
    fn mark(&self, _object: &mut Value, _now: &str, _finalizers: Vec<Value>) {}

    /// Converts an object to an API version in which it exists, too; false if it does not.
    fn convert(&self, _object: &mut Value, _api_version: &str, _: KubernetesVersion) -> bool {
        false
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

    /// Returns the failure of a selector for a field that objects cannot be selected by, where the kind
    /// has selectable fields of its own (BK-700).
    fn unknown_field(&self, field: &str) -> String {
        format!("field label not supported: {field}")
    }

    /// Returns the old names of fields that objects are selected by (BK-701).
    fn old_fields(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns the value of a field that objects are selected by, if it is another one than that of
    /// the field in the object (BK-701).
    fn selected_field(&self, _object: &Value, _field: &str) -> Option<String> {
        None
    }

    /// Whether an object that is being deleted stays although it has no finalizers.
    fn is_kept(&self, _object: &Value) -> bool {
        false
    }

    /// Returns the cells of an object in the columns of its kind at a time (BK-722).
    fn cells(&self, object: &Value, _now: Time) -> Vec<Value> {
        let created = value_at(object, "/metadata/creationTimestamp");
        vec![text(object, "/metadata/name").into(), created.cloned().unwrap_or_default()]
    }

    /// Returns the conditions of an object's row (BK-722).
    fn row_conditions(&self, _object: &Value) -> Vec<Value> {
        Vec::new()
    }
}

/// The rules of kinds that have none.
#[derive(Debug)]
pub(crate) struct Plain;

impl Behavior for Plain {}

/// The request that an object is written by.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct WriteContext<'w> {
    /// The version of the server.
    pub kubernetes: KubernetesVersion,
    /// The subresource; empty for the object itself.
    pub subresource: &'w str,
    /// The user who makes the request.
    pub user: &'w UserInfo,
    /// The time of the request, as objects hold it.
    pub now: &'w str,
    /// The body of the request, if it is known.
    pub body: &'w [u8],
    /// Whether the server refuses privileged containers.
    pub refuses_privileged: bool,
}

impl<'w> WriteContext<'w> {
    /// Creates the context of a write of an object itself.
    pub fn new(kubernetes: KubernetesVersion, user: &'w UserInfo, now: &'w str) -> Self {
        WriteContext {
            kubernetes,
            subresource: "",
            user,
            now,
            body: &[],
            refuses_privileged: false,
        }
    }

    /// The context of a write with a body.
    #[must_use]
    pub fn body(mut self, body: &'w [u8]) -> Self {
        self.body = body;
        self
    }

    /// The context of a write to a server that may refuse privileged containers.
    #[must_use]
    pub fn refuse_privileged(mut self, refuses: bool) -> Self {
        self.refuses_privileged = refuses;
        self
    }

    /// The context of a write of a subresource.
    #[must_use]
    pub fn subresource(mut self, subresource: &'w str) -> Self {
        self.subresource = subresource;
        self
    }
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
