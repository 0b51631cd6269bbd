//! Requests for objects of a definition: what a client sends, and what is stored.

use billhook::webhook::{AdmissionAttributes, Operation};
use billhook::{BodyFormat, CrdVersion, FieldValidation};
use billhook_apimachinery::UserInfo;
use billhook_apimachinery::record::TypedRecord;
use billhook_apimachinery::value::DeepValue;
use bytes::Bytes;
use serde_json::{Value, json};

use super::deletion::DeleteOptions;
use super::store::StoredObject;
use crate::options::RequestOptions;

/// A part of an object that has a URL of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Subresource {
    /// `status`: only the status changes (RP-70).
    Status,
    /// `scale`: the body is a `Scale` of `autoscaling/v1`, and only the number of replicas changes
    /// (RP-77).
    Scale,
    /// Another one of a built-in kind, by its name: the body is the object, and the
    /// [`Strategy`](super::Strategy) of the resource takes over from it what the subresource is for.
    Of(&'static str),
}

impl Subresource {
    /// The name in URLs.
    pub fn name(self) -> &'static str {
        match self {
            Subresource::Status => "status",
            Subresource::Scale => "scale",
            Subresource::Of(name) => name,
        }
    }

    /// Whether a version has it (RE-05).
    pub(super) fn is_enabled(self, version: &CrdVersion) -> bool {
        match self {
            Subresource::Status => version.has_status_subresource(),
            Subresource::Scale => version.has_scale_subresource(),
            Subresource::Of(_) => true,
        }
    }
}

/// The form of an update's body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum UpdateForm {
    /// The new object as a manifest has it: what only servers write may be left out and is then
    /// that of the stored object.
    #[default]
    Applied,
    /// The new object as a `PUT` sends it: it must name the resource version that it was made for
    /// (RP-42).
    Replacement,
    /// A JSON patch of the stored object (RP-30).
    JsonPatch,
    /// A merge patch of the stored object (RP-30).
    MergePatch,
    /// The body is a strategic merge patch (`application/strategic-merge-patch+json`): a merge patch
    /// that merges the lists which the [`Strategy`](super::Strategy) of the resource names. Custom
    /// resources have none.
    StrategicMergePatch,
    /// A configuration for server-side apply (SA-60); it may also create the object.
    ServerSideApply,
}

/// A request for one object.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ObjectRequest {
    /// The operation; custom resources do not have `CONNECT`.
    pub operation: Operation,
    /// The version in the URL.
    pub version: String,
    /// The namespace in the URL; if empty, that of the object, and then `default`.
    pub namespace: String,
    /// The name in the URL; if empty, any name will do. That of a new object is shown to admission
    /// only.
    pub name: String,
    /// The body: the new object in JSON or YAML, or a patch in JSON.
    pub body: Bytes,
    /// The new object in place of a body, where it is known to decode.
    pub(crate) object: Option<DeepValue>,
    /// The object as it is stored. For an update or a deletion there must be one; a creation fails
    /// if there is one of the same name.
    pub stored: StoredObject,
    /// The subresource that is updated.
    pub subresource: Option<Subresource>,
    /// The form of an update's body.
    pub form: UpdateForm,
    /// The options of a deletion.
    pub delete_options: DeleteOptions,
    /// Whether the object is deleted as part of its collection, so that webhooks do not see its
    /// name (AR-35).
    pub is_in_collection: bool,
    /// The format of the body.
    pub body_format: BodyFormat,
    /// The handling of unknown and duplicate fields.
    pub field_validation: FieldValidation,
    /// Whether the client named the handling even if it is the one by default, as webhooks see (AR-19).
    pub names_field_validation: bool,
    /// The name under which the client's fields are managed; webhooks see it among the options.
    pub field_manager: String,
    /// Whether an apply takes the fields that others own and that it changes (SA-75).
    pub force: bool,
    /// Whether the request is a dry run, which stores nothing.
    pub dry_run: bool,
    /// The user who makes the request.
    pub user: UserInfo,
    /// The deadline and what is to be reported.
    pub options: RequestOptions,
}

impl ObjectRequest {
    /// The creation of an object.
    pub fn create(version: &str, body: &[u8]) -> Self {
        let (version, body) = (version.to_owned(), Bytes::copy_from_slice(body));
        ObjectRequest { operation: Operation::Create, version, body, ..Self::default() }
    }

    /// A change of an object: the complete new object, and what is stored. Fields that only
    /// servers write may be left out of it ([`UpdateForm::Applied`]).
    pub fn update(version: &str, body: &[u8], stored: &[u8]) -> Self {
        ObjectRequest {
            operation: Operation::Update,
            stored: StoredObject::new(Bytes::copy_from_slice(stored)),
            ..Self::create(version, body)
        }
    }

    /// A change of an object by a `PUT` ([`UpdateForm::Replacement`]).
    pub fn replace(version: &str, body: &[u8], stored: &[u8]) -> Self {
        let form = UpdateForm::Replacement;
        ObjectRequest { form, ..Self::update(version, body, stored) }
    }

    /// A change of an object by the server itself: the new object is not decoded but taken as it is,
    /// as it is one that [`Admission::read`](crate::Admission::read) returned and the server changed.
    pub fn replace_object(version: &str, object: DeepValue, stored: StoredObject) -> Self {
        ObjectRequest { object: Some(object), ..Self::replace(version, &[], &[]) }.stored(stored)
    }

    /// A change of an object by a JSON patch ([`UpdateForm::JsonPatch`]).
    pub fn json_patch(version: &str, patch: &[u8], stored: &[u8]) -> Self {
        let form = UpdateForm::JsonPatch;
        ObjectRequest { form, ..Self::update(version, patch, stored) }
    }

    /// A change of an object by a merge patch ([`UpdateForm::MergePatch`]).
    pub fn merge_patch(version: &str, patch: &[u8], stored: &[u8]) -> Self {
        let form = UpdateForm::MergePatch;
        ObjectRequest { form, ..Self::update(version, patch, stored) }
    }

    /// A change of an object by a strategic merge patch ([`UpdateForm::StrategicMergePatch`]).
    pub fn strategic_merge_patch(version: &str, patch: &[u8], stored: &[u8]) -> Self {
        let form = UpdateForm::StrategicMergePatch;
        ObjectRequest { form, ..Self::update(version, patch, stored) }
    }

    /// The apply of a configuration by a field manager ([`UpdateForm::ServerSideApply`]); nothing
    /// is stored if the object does not exist yet.
    pub fn apply(version: &str, configuration: &[u8], stored: &[u8], manager: &str) -> Self {
        let form = UpdateForm::ServerSideApply;
        ObjectRequest { form, ..Self::update(version, configuration, stored) }
            .field_manager(manager)
    }

    /// The deletion of an object.
    pub fn delete(version: &str, stored: &[u8]) -> Self {
        ObjectRequest {
            operation: Operation::Delete,
            version: version.to_owned(),
            stored: StoredObject::new(Bytes::copy_from_slice(stored)),
            ..Self::default()
        }
    }

    /// The request with another body, which is shared and not copied.
    ///
    /// ```
    /// use billhook_admission::ObjectRequest;
    ///
    /// let request = ObjectRequest::create("v1", &[]).body(r#"{"metadata": {"name": "x"}}"#);
    /// assert_eq!(request.body.len(), 27);
    /// ```
    #[must_use]
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// The request in a namespace.
    #[must_use]
    pub fn namespace(mut self, namespace: &str) -> Self {
        namespace.clone_into(&mut self.namespace);
        self
    }

    /// The request with another stored object.
    #[must_use]
    pub fn stored(mut self, stored: StoredObject) -> Self {
        self.stored = stored;
        self
    }

    /// The request for a subresource.
    #[must_use]
    pub fn subresource(mut self, subresource: Subresource) -> Self {
        self.subresource = Some(subresource);
        self
    }

    /// The request for the `status` subresource.
    #[must_use]
    pub fn status_update(self) -> Self {
        self.subresource(Subresource::Status)
    }

    /// The request for the `scale` subresource.
    #[must_use]
    pub fn scale_update(self) -> Self {
        self.subresource(Subresource::Scale)
    }

    /// The deletion of no other object than the one with this UID.
    #[must_use]
    pub fn only_uid(mut self, uid: &str) -> Self {
        let preconditions = self.delete_options.preconditions.get_or_insert_default();
        preconditions.uid = Some(uid.to_owned());
        self
    }

    /// The deletion of the object only at this resource version.
    #[must_use]
    pub fn only_resource_version(mut self, resource_version: &str) -> Self {
        let preconditions = self.delete_options.preconditions.get_or_insert_default();
        preconditions.resource_version = Some(resource_version.to_owned());
        self
    }

    /// The deletion with options.
    #[must_use]
    pub fn delete_options(mut self, options: DeleteOptions) -> Self {
        self.delete_options = options;
        self
    }

    /// The request as one of those that the deletion of a collection is made of.
    #[must_use]
    pub fn in_collection(mut self) -> Self {
        self.is_in_collection = true;
        self
    }

    /// The format of the body, where the client says it.
    #[must_use]
    pub fn body_format(mut self, format: BodyFormat) -> Self {
        self.body_format = format;
        self
    }

    /// The request with another field validation.
    #[must_use]
    pub fn field_validation(mut self, field_validation: FieldValidation) -> Self {
        self.field_validation = field_validation;
        self
    }

    /// The request that names its field validation, or has that by default.
    #[must_use]
    pub fn names_field_validation(mut self, names: bool) -> Self {
        self.names_field_validation = names;
        self
    }

    /// The request for the object of a name.
    #[must_use]
    pub fn name(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }

    /// The apply that takes the fields that others own and that it changes, or not.
    #[must_use]
    pub fn force(mut self, force: bool) -> Self {
        self.force = force;
        self
    }

    /// The request of a field manager.
    #[must_use]
    pub fn field_manager(mut self, field_manager: &str) -> Self {
        field_manager.clone_into(&mut self.field_manager);
        self
    }

    /// The request with or without storing anything.
    #[must_use]
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }

    /// The request of another user.
    #[must_use]
    pub fn user(mut self, user: UserInfo) -> Self {
        self.user = user;
        self
    }

    /// The request with other options.
    #[must_use]
    pub fn options(mut self, options: RequestOptions) -> Self {
        self.options = options;
        self
    }

    /// Whether the body is a patch.
    pub(super) fn is_patch(&self) -> bool {
        use UpdateForm::{JsonPatch, MergePatch, StrategicMergePatch};
        matches!(self.form, JsonPatch | MergePatch | StrategicMergePatch)
    }

    /// Whether the request is for a subresource.
    pub(super) fn is_for(&self, subresource: Subresource) -> bool {
        self.subresource == Some(subresource)
    }

    /// Returns the attributes of an object that is not stored, with what the request says besides: its
    /// namespace and user, whether it is a dry run, and its options, which connections have in their object
    /// (AR-19, AR-37).
    #[must_use]
    pub fn attributes(&self, of: AdmissionAttributes) -> AdmissionAttributes {
        let operation = of.operation;
        let attributes =
            of.namespace(&*self.namespace).user(self.user.clone()).dry_run(self.dry_run);
        match operation {
            Operation::Connect => attributes,
            _ => attributes.options(self.options_object(operation)),
        }
    }

    /// The options object of the operation that the request turns out to be, which webhooks see
    /// (AR-19).
    pub(crate) fn options_object(&self, operation: Operation) -> DeepValue {
        let mut options = operation.empty_options().unwrap_or_default();
        if operation == Operation::Delete {
            if let Value::Object(mut given) = self.delete_options.to_document().into_inner() {
                options.append(&mut given);
            }
        } else {
            let field_validation = match self.field_validation {
                FieldValidation::Strict => "Strict",
                FieldValidation::Ignore => "Ignore",
                FieldValidation::Warn if self.names_field_validation => "Warn",
                FieldValidation::Warn => "",
            };
            for (name, value) in
                [("fieldManager", &*self.field_manager), ("fieldValidation", field_validation)]
            {
                if !value.is_empty() {
                    options.insert(name.to_owned(), value.into());
                }
            }
        }
        if self.dry_run {
            options.insert("dryRun".to_owned(), json!(["All"]));
        }
        DeepValue::from(Value::Object(options))
    }
}
