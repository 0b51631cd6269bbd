//! The preconditions of a request: nothing is stored, or the object that the client means (RE-72, RE-112,
//! BK-09, BK-308).

use billhook_apimachinery::print::quote;
use billhook_apimachinery::{GroupVersionResource, Status};
use serde_json::{Value, json};

use super::body::IncomingRequest;
use super::request::UpdateForm;
use super::strategy::Strategy;
use crate::object_model::metadata_text;

impl IncomingRequest<'_> {
    /// A replacement that names a UID is for the object with that UID only (RE-72), and so is any update
    /// of the scale of a built-in kind, which has a text of its own (BK-308).
    pub(super) fn check_uid(&self, object: &Value, old: &Value) -> Result<(), Status> {
        let (wanted, found) = (metadata_text(object, "uid"), metadata_text(old, "uid"));
        let is_replacement = self.request.form == UpdateForm::Replacement;
        let is_own_scale = self.scale().is_some() && self.strategy.is_some();
        if !(is_replacement || is_own_scale) || wanted.is_empty() || wanted == found {
            return Ok(());
        }
        let (name, namespace) = (metadata_text(old, "name"), metadata_text(old, "namespace"));
        let resource = &self.resource.resource;
        let failed = format!(
            "Precondition failed: UID in precondition: {wanted}, UID in object meta: {found}"
        );
        if is_own_scale {
            let mut conflict = Status::conflict(resource, name, &failed);
            conflict.message = format!(
                "Operation cannot be fulfilled on {}/scale {}: {failed}",
                resource.qualified(),
                quote(name)
            );
            return Err(conflict);
        }
        let slash = if namespace.is_empty() { "" } else { "/" };
        let root = if self.request.dry_run { "" } else { self.registry };
        let own = self.strategy.and_then(Strategy::storage_path);
        let path = own.unwrap_or_else(|| [&*resource.group, "/", &resource.resource].concat());
        let why = format!(
            "StorageError: invalid object, Code: 4, Key: {root}/{path}/{namespace}{slash}{name}, \
             ResourceVersion: 0, AdditionalErrorMsg: {failed}"
        );
        Err(Status::conflict(resource, name, &why))
    }

    /// An update that creates its object must be for none: one that names a revision or a UID is for
    /// an object that is gone (BK-09).
    pub(super) fn check_absent(&self, object: &Value) -> Result<(), Status> {
        let creates = self.strategy.is_some_and(Strategy::creates_on_update);
        if !creates || self.request.form != UpdateForm::Replacement {
            return Ok(());
        }
        if !self.request.name.is_empty() {
            self.check_name(object, None)?;
        }
        let name = metadata_text(object, "name");
        if !matches!(metadata_text(object, "resourceVersion"), "" | "0") {
            return Err(Status::not_found(&self.resource.resource, name));
        }
        let namespace = metadata_text(object, "namespace");
        self.check_uid(object, &json!({"metadata": {"name": name, "namespace": namespace}}))
    }

    /// Whether the object may be deleted.
    pub(super) fn check_deletion(&self, old: &Value, revision: Option<&str>) -> Result<(), Status> {
        let Some(wanted) = &self.request.delete_options.preconditions else { return Ok(()) };
        let uid = metadata_text(old, "uid");
        let (what, wanted, found) = if let Some(wanted) = wanted.uid.as_deref()
            && wanted != uid
        {
            ("UID", wanted, uid)
        } else if let Some((wanted, found)) = wanted.resource_version.as_deref().zip(revision)
            && wanted != found
        {
            ("ResourceVersion", wanted, found)
        } else {
            return Ok(());
        };
        let name = metadata_text(old, "name");
        if self.strategy.is_some_and(Strategy::marks_deletions) {
            let why = format!(
                "Precondition failed: {what} in precondition: {wanted}, {what} in object meta: \
                 {found}"
            );
            return Err(Status::conflict(&self.resource.resource, name, &why));
        }
        let rest = match what {
            "UID" => "deleted and then recreated",
            _ => "modified",
        };
        let why = format!(
            "the {what} in the precondition ({wanted}) does not match the {what} in record \
             ({found}). The object might have been {rest}"
        );
        // This error alone names the kind in place of the resource (RE-112).
        let kind = &self.resource.kind;
        let group = self.strategy.and_then(Strategy::group_in_errors).unwrap_or(&kind.group);
        let subject = GroupVersionResource::new(group, &kind.version, &kind.kind);
        Err(Status::conflict(&subject, name, &why))
    }
}
