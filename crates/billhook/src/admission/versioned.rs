//! The object of a request in the version that a webhook wants (DI-11, DI-37 to DI-39).

use std::sync::Arc;

use billhook_schema::value::{DeepValue, deep_clone};
use serde_json::Value;

use super::model::ObjectModel;
use super::review::SharedObject;
use super::status::Status;
use crate::webhook::{AdmissionAttributes, GroupVersionKind};

/// The objects of a request in one version.
#[derive(Clone, Debug)]
pub(super) struct Versioned {
    pub(super) kind: GroupVersionKind,
    pub(super) object: Option<SharedObject>,
    pub(super) old_object: Option<SharedObject>,
}

impl Versioned {
    /// The objects of a request in a version.
    pub(super) fn of(
        request: &AdmissionAttributes,
        kind: &GroupVersionKind,
        model: &dyn ObjectModel,
    ) -> Result<Self, String> {
        let convert = |object: &Option<DeepValue>| {
            object.as_deref().map(|object| share(object, &request.kind, kind, model)).transpose()
        };
        Ok(Versioned {
            kind: kind.clone(),
            object: convert(&request.object)?,
            old_object: convert(&request.old_object)?,
        })
    }
}

/// The object in a version, with `apiVersion` and `kind` even if it is an in-process object that
/// goes without, and without a creation time that is not set (AR-17).
fn share(
    object: &Value,
    from: &GroupVersionKind,
    to: &GroupVersionKind,
    model: &dyn ObjectModel,
) -> Result<SharedObject, String> {
    if from != to {
        return model.convert(object, to).map(Arc::new);
    }
    let mut object = DeepValue::from(deep_clone(object));
    if let Value::Object(members) = &mut *object {
        members.entry("apiVersion").or_insert_with(|| to.api_version().into());
        members.entry("kind").or_insert_with(|| to.kind.as_str().into());
        if let Some(Value::Object(metadata)) = members.get_mut("metadata")
            && metadata.get("creationTimestamp").is_some_and(Value::is_null)
        {
            metadata.remove("creationTimestamp");
        }
    }
    Ok(Arc::new(object))
}

/// The state that the webhooks of a mutating pass share (DI-11).
pub(super) struct State<'s> {
    /// The client's request; its object is the one of the last conversion back.
    pub(super) request: &'s mut AdmissionAttributes,
    pub(super) model: &'s dyn ObjectModel,
    versioned: Option<Versioned>,
    is_dirty: bool,
    /// Counts the objects there were.
    revision: usize,
}

impl<'s> State<'s> {
    pub(super) fn new(request: &'s mut AdmissionAttributes, model: &'s dyn ObjectModel) -> Self {
        State { request, model, versioned: None, is_dirty: false, revision: 0 }
    }

    /// The object as the last webhook left it, in the version it left it in (WM-08).
    pub(super) fn current(&self) -> Option<&DeepValue> {
        match &self.versioned {
            Some(versioned) => versioned.object.as_deref(),
            None => self.request.object.as_ref(),
        }
    }

    /// Differs whenever [`State::current`] does.
    pub(super) fn revision(&self) -> usize {
        self.revision
    }

    /// Brings the objects to a version (DI-37, DI-38).
    pub(super) fn bring_to(&mut self, kind: &GroupVersionKind) -> Result<&Versioned, String> {
        let is_there = self.versioned.as_ref().is_some_and(|versioned| versioned.kind == *kind);
        if !is_there {
            self.write_back()?;
            self.versioned = None;
        }
        if self.versioned.is_none() {
            self.versioned = Some(Versioned::of(self.request, kind, self.model)?);
            self.revision += 1;
        }
        self.versioned.as_ref().ok_or_else(String::new)
    }

    /// Replaces the object in the current version.
    pub(super) fn set(&mut self, object: SharedObject) {
        if let Some(versioned) = &mut self.versioned {
            versioned.object = Some(object);
            self.is_dirty = true;
            self.revision += 1;
        }
    }

    /// Converts the object back into the version of the request if it was changed (DI-14).
    pub(super) fn write_back(&mut self) -> Result<(), String> {
        let Some(versioned) = self.versioned.as_ref().filter(|_| self.is_dirty) else {
            return Ok(());
        };
        if let Some(object) = &versioned.object {
            let to = &self.request.kind;
            let object = if versioned.kind == *to {
                DeepValue::clone(object)
            } else {
                self.model.convert(object, to)?
            };
            self.request.object = Some(object);
        }
        self.is_dirty = false;
        Ok(())
    }
}

/// A failed conversion in the mutating pass: the prefix is there twice (DI-39).
pub(super) fn mutating_conversion_failed(error: &str) -> Status {
    Status::internal_error(&format!("Internal error occurred: {error}"))
}
