//! Ownership of the fields of a request: tracking of writes, and server-side apply (SA-50 to
//! SA-64).

use std::cell::RefCell;

use billhook::{
    ApplyError, FieldManagement, FieldValidation, ScaleManagement, Time, field_warnings,
};
use billhook_apimachinery::metadata::validate_manager;
use billhook_apimachinery::record::RecordError;
use billhook_apimachinery::value::{DeepValue, deep_clone, json_type};
use billhook_apimachinery::{
    FieldError, FieldPath, GroupVersionKind, Location, Status, split_api_version,
};
use billhook_apply::{ConversionError, ManagedFields, manager_name};
use billhook_policy::ObjectModel as _;
use serde_json::{Map, Value};

use super::body::IncomingRequest;
use super::request::{Subresource, UpdateForm};
use super::storage::read_revision;
use super::strategy::Strategy;
use crate::audit::Warnings;
use crate::object_model::{metadata_member, metadata_text};

type Converted = Result<DeepValue, ConversionError>;

impl IncomingRequest<'_> {
    /// Tracks the fields of a decoded object.
    pub(super) async fn track_fields(
        &self,
        object: &mut DeepValue,
        mut old: Option<&mut DeepValue>,
        now: Time,
    ) {
        let empty = self.strategy.filter(|_| old.is_none()).and_then(Strategy::empty);
        let mut track = |fields: &FieldManagement<'_>, object: &mut Value| match &empty {
            Some(empty) => fields.track_from(object, empty),
            None => fields.track(object, old.as_deref_mut()),
        };
        if self.model.is_immediate() {
            return self.with_field_management(now, |fields| track(fields, object)).await;
        }
        let before = &*object;
        let tracked = |fields: &FieldManagement<'_>| {
            let mut tracked = before.clone();
            track(fields, &mut tracked);
            tracked
        };
        let tracked = self.with_field_management(now, tracked).await;
        *object = tracked;
    }

    /// Returns the managed fields of a new object, if they can stay beside it: no client has given any, and
    /// they are valid.
    pub(super) async fn owners_beside(&self, object: &Value, now: Time) -> Option<ManagedFields> {
        let mut errors = Vec::new();
        let manager = manager_name(&self.request.field_manager, "");
        validate_manager(&manager, &Location::TOP, &mut errors);
        if !self.model.is_immediate()
            || !errors.is_empty()
            || metadata_member(object, "managedFields").is_some()
        {
            return None;
        }
        let empty = self.strategy.and_then(Strategy::empty);
        let create = |fields: &FieldManagement<'_>| fields.creation(object, empty.as_ref());
        let owners = self.with_field_management(now, create).await;
        owners.filter(|owners| !owners.is_empty())
    }

    /// Does the work of field management for the scale subresource.
    pub(super) fn with_scale_management<R>(
        &self,
        now: Time,
        work: impl FnOnce(&ScaleManagement<'_>) -> R,
    ) -> R {
        let manager = manager_name(&self.request.field_manager, "");
        let management = ScaleManagement::new(self.version, &manager, now);
        work(&management.converts(self.strategy.is_some()))
    }

    /// Drops the managed fields of an object that is too large for storage, except for an apply
    /// (SA-57). Returns whether there were any.
    pub(super) fn forget_owners(&self, object: &mut Value) -> bool {
        self.request.form != UpdateForm::ServerSideApply
            && ManagedFields::take_out(object).is_some()
    }

    /// Applies the body of a request. Returns the resulting object.
    pub(super) async fn apply(
        &self,
        old: Option<&DeepValue>,
        now: Time,
        warnings: &mut Warnings,
    ) -> Result<DeepValue, Status> {
        let (configuration, repeated) = self.configuration()?;
        let force = self.request.force;
        let apply = |fields: &FieldManagement<'_>| fields.apply(&configuration, old, force);
        let applied = self.with_field_management(now, apply).await;
        let mut object = self.applied(applied, old.map(|old| &**old), repeated, warnings)?;
        if let Some(strategy) = self.strategy {
            let failed = |error: RecordError| Status::failure(500, "", error.to_string());
            strategy.read(&mut object).map_err(failed)?;
        }
        Ok(object)
    }

    /// Applies the body of a request to the `Scale` of an object. Returns it with its owners.
    pub(super) fn apply_to_scale(
        &self,
        old: &Value,
        now: Time,
        warnings: &mut Warnings,
    ) -> Result<DeepValue, Status> {
        let (configuration, repeated) = self.configuration()?;
        let force = self.request.force;
        let apply = |fields: &ScaleManagement<'_>| fields.apply(&configuration, old, force);
        let applied = self.with_scale_management(now, apply);
        self.applied(applied, Some(old), repeated, warnings)
    }

    /// The object of an apply, or its failure (SA-61, steps 11 to 15).
    fn applied(
        &self,
        applied: Result<DeepValue, ApplyError>,
        old: Option<&Value>,
        repeated: Option<String>,
        warnings: &mut Warnings,
    ) -> Result<DeepValue, Status> {
        let mut object = applied.map_err(|error| match error {
            ApplyError::Merge(error) => error.to_status(),
            other => Status::failure(500, "", other.to_string()),
        })?;
        if let Some(repeated) = repeated {
            match self.request.field_validation {
                FieldValidation::Strict => {
                    let message = format!(
                        "error strict decoding YAML: error converting YAML to JSON: {repeated}"
                    );
                    return Err(Status::bad_request(message));
                }
                FieldValidation::Warn => {
                    field_warnings(&[repeated]).for_each(|warning| warnings.add(warning));
                }
                FieldValidation::Ignore => {}
            }
        }
        self.check_applied(&mut object, old)?;
        Ok(object)
    }

    /// Runs work that may convert objects. Conversions wait, and the work does not: it ends at the
    /// first conversion whose result is not there, and begins again when it is.
    async fn with_field_management<R>(
        &self,
        now: Time,
        mut work: impl FnMut(&FieldManagement<'_>) -> R,
    ) -> R {
        let mut known = Vec::new();
        loop {
            let (object, to) = match self.attempt(now, &known, &mut work) {
                Ok(result) => return result,
                Err(missing) => missing,
            };
            let converted = self.model.convert(&object, &to).await;
            known.push(converted.map_err(|error| ConversionError::new(error.to_string())));
        }
    }

    /// Runs work with the results of the first conversions. Fails if it needs another one, with the
    /// object and the kind to convert it to.
    fn attempt<R>(
        &self,
        now: Time,
        known: &[Converted],
        work: &mut impl FnMut(&FieldManagement<'_>) -> R,
    ) -> Result<R, (DeepValue, GroupVersionKind)> {
        let manager = manager_name(&self.request.field_manager, "");
        let known = RefCell::new(known.iter());
        let missing = RefCell::new(None);
        let convert = |object: &Value, api_version: &str| {
            let (group, version) = split_api_version(api_version);
            let kind = self.version.definition().kind();
            let to = GroupVersionKind::new(group, version, kind);
            if let Some(strategy) = self.strategy {
                let mut in_version = DeepValue::from(deep_clone(object));
                if strategy.convert(&mut in_version, api_version) {
                    return Ok(in_version);
                }
            }
            if let Some(converted) = self.model.convert_now(object, &to) {
                return converted.map_err(|error| ConversionError::new(error.to_string()));
            }
            if let Some(converted) = known.borrow_mut().next() {
                return converted.clone();
            }
            missing.borrow_mut().get_or_insert_with(|| (DeepValue::from(deep_clone(object)), to));
            Err(ConversionError::new("not converted yet"))
        };
        let subresource = self.request.subresource.map_or("", Subresource::name);
        let fields = FieldManagement::new(self.version, &manager, now);
        let mut fields = fields.subresource(subresource).convert(&convert);
        let subresource = self.request.subresource;
        if let Some(resets) = self.strategy.and_then(|strategy| strategy.resets(subresource)) {
            fields = fields.resets(resets);
        }
        let result = work(&fields);
        match missing.into_inner() {
            Some(missing) => Err(missing),
            None => Ok(result),
        }
    }

    /// The configuration in the body, and the text about repeated keys if there are any (SA-61,
    /// step 1).
    fn configuration(&self) -> Result<(DeepValue, Option<String>), Status> {
        let failed = |error: &dyn std::fmt::Display| {
            Status::bad_request(format!("error decoding YAML: {error}"))
        };
        let document = billhook_yaml::read_document(&self.request.body)
            .map_err(|error| failed(&format_args!("error converting YAML to JSON: {error}")))?;
        let repeated = billhook_yaml::strict_error_text(document.duplicates());
        let configuration = document.into_value();
        match &*configuration {
            Value::Object(_) => Ok((configuration, repeated)),
            Value::Null => Ok((Value::Object(Map::new()).into(), repeated)),
            other => Err(failed(&format_args!(
                "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {} into Go \
                 value of type map[string]interface {{}}",
                json_type(other)
            ))),
        }
    }

    /// SA-61, steps 12 to 15.
    fn check_applied(&self, object: &mut Value, old: Option<&Value>) -> Result<(), Status> {
        let request = self.request;
        let (name, uid) = (metadata_text(object, "name"), metadata_text(object, "uid"));
        if old.is_none() && !uid.is_empty() {
            let why = format!(
                "uid mismatch: the provided object specified uid {uid}, and no existing object \
                 was found"
            );
            return Err(Status::conflict(&self.resource.resource, name, &why));
        }
        if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
            self.set_namespace(metadata, &request.namespace)?;
        }
        self.check_name(object, old)?;
        let revision = metadata_text(object, "resourceVersion");
        if !revision.is_empty() {
            read_revision(revision)?;
        }
        Ok(())
    }

    /// Whether an object has the name that its URL says.
    pub(super) fn check_name(&self, object: &Value, old: Option<&Value>) -> Result<(), Status> {
        let name = metadata_text(object, "name");
        let expected = match (self.request.name.as_str(), old) {
            ("", Some(old)) => metadata_text(old, "name"),
            ("", None) => name,
            (expected, _) => expected,
        };
        if name.is_empty() {
            return Err(Status::bad_request(format!(
                "the name of the object ({expected} based on URL) was undeterminable: name must be \
                 provided"
            )));
        }
        if name != expected {
            return Err(Status::bad_request(format!(
                "the name of the object ({name}) does not match the name on the URL ({expected})"
            )));
        }
        Ok(())
    }

    /// Whether the options that are about the owner of fields are right (SA-60).
    pub(super) fn check_field_options(&self) -> Result<(), Status> {
        let (request, mut errors) = (self.request, Vec::new());
        let at = |name: &str| FieldPath::default().name(name);
        let manager = request.field_manager.as_str();
        let is_apply = request.form == UpdateForm::ServerSideApply;
        if is_apply && manager.is_empty() {
            let detail = "is required for apply patch";
            errors.push(FieldError::required(at("fieldManager"), detail));
        }
        if request.force && !is_apply {
            let detail = "may not be specified for non-apply patch";
            errors.push(FieldError::forbidden(at("force"), detail));
        }
        validate_manager(manager, &Location::TOP.name("fieldManager"), &mut errors);
        match errors.as_slice() {
            [] => Ok(()),
            errors => Err(Status::invalid("meta.k8s.io", "PatchOptions", "", errors)),
        }
    }
}
