//! The object of a request in the version that a webhook wants (DI-11, DI-37 to DI-39).

use billhook::webhook::AdmissionAttributes;
use billhook_apimachinery::GroupVersionKind;
use billhook_apimachinery::Status;
use billhook_apimachinery::value::{DeepValue, deep_clone};
use billhook_policy::{ObjectModel, ObjectModelError, RequestObjects};
use serde_json::Value;

/// The objects of a request in one version.
#[derive(Clone, Debug)]
pub(crate) struct Versioned {
    pub(crate) kind: GroupVersionKind,
    pub(crate) objects: RequestObjects,
}

impl Versioned {
    /// The objects of a request in a version.
    pub(crate) async fn of(
        request: &AdmissionAttributes,
        kind: &GroupVersionKind,
        model: &dyn ObjectModel,
    ) -> Result<Self, ObjectModelError> {
        let old_object = share(request.old_object.as_ref(), &request.kind, kind, model).await?;
        let object = share(request.object.as_ref(), &request.kind, kind, model).await?;
        Ok(Versioned { kind: kind.clone(), objects: RequestObjects { object, old_object } })
    }
}

/// The object in a version, with `apiVersion` and `kind` even if it is an in-process object that
/// goes without, and without a creation time that is not set, unless the model shows it (AR-17).
async fn share(
    object: Option<&DeepValue>,
    from: &GroupVersionKind,
    to: &GroupVersionKind,
    model: &dyn ObjectModel,
) -> Result<Option<DeepValue>, ObjectModelError> {
    let Some(object) = object else { return Ok(None) };
    if from != to {
        return model.convert(object, to).await.map(Some);
    }
    let mut object = DeepValue::from(deep_clone(object));
    if let Value::Object(members) = &mut *object {
        members.entry("apiVersion").or_insert_with(|| to.api_version().into());
        members.entry("kind").or_insert_with(|| to.kind.as_str().into());
        if let Some(Value::Object(metadata)) = members.get_mut("metadata")
            && metadata.get("creationTimestamp").is_none_or(Value::is_null)
        {
            match model.shows_unset_time() {
                true => metadata.insert("creationTimestamp".to_owned(), Value::Null),
                false => metadata.remove("creationTimestamp"),
            };
        }
    }
    Ok(Some(object))
}

/// The state that the webhooks of a mutating pass share (DI-11).
pub(crate) struct State<'s> {
    /// The client's request; its object is the one of the last conversion back.
    pub(crate) request: &'s mut AdmissionAttributes,
    model: &'s dyn ObjectModel,
    versioned: Option<Versioned>,
    is_dirty: bool,
    /// The object that the request came with, if another one took its place.
    pub(crate) replaced: Option<DeepValue>,
    /// Counts the objects there were.
    revision: usize,
}

impl<'s> State<'s> {
    pub(crate) fn new(request: &'s mut AdmissionAttributes, model: &'s dyn ObjectModel) -> Self {
        State { request, model, versioned: None, is_dirty: false, replaced: None, revision: 0 }
    }

    /// The object as the last webhook left it, in the version it left it in (WM-08).
    pub(crate) fn current(&self) -> Option<&DeepValue> {
        match &self.versioned {
            Some(versioned) => versioned.objects.object.as_ref(),
            None => self.request.object.as_ref(),
        }
    }

    /// Differs whenever [`State::current`] does.
    pub(crate) fn revision(&self) -> usize {
        self.revision
    }

    /// Brings the objects to a version (DI-37, DI-38).
    pub(crate) async fn bring_to(
        &mut self,
        kind: &GroupVersionKind,
    ) -> Result<RequestObjects, ObjectModelError> {
        if let Some(versioned) = self.versioned.as_ref().filter(|found| found.kind == *kind) {
            return Ok(versioned.objects.clone());
        }
        let old_object = self.share(self.request.old_object.as_ref(), kind).await?;
        self.write_back().await?;
        let object = self.share(self.request.object.as_ref(), kind).await?;
        self.revision += 1;
        let objects = RequestObjects { object, old_object };
        let versioned = Versioned { kind: kind.clone(), objects };
        Ok(self.versioned.insert(versioned).objects.clone())
    }

    async fn share(
        &self,
        object: Option<&DeepValue>,
        kind: &GroupVersionKind,
    ) -> Result<Option<DeepValue>, ObjectModelError> {
        share(object, &self.request.kind, kind, self.model).await
    }

    /// Replaces the object in the current version.
    pub(crate) fn set(&mut self, object: DeepValue) {
        if let Some(versioned) = &mut self.versioned {
            versioned.objects.object = Some(object);
            self.is_dirty = true;
            self.revision += 1;
        }
    }

    /// Converts the object back into the version of the request if it was changed (DI-14).
    pub(crate) async fn write_back(&mut self) -> Result<(), ObjectModelError> {
        let Some(versioned) = self.versioned.as_ref().filter(|_| self.is_dirty) else {
            return Ok(());
        };
        if let Some(object) = &versioned.objects.object {
            let to = &self.request.kind;
            // A webhook may have changed the version of the object too (DI-35).
            let api_version = object.get("apiVersion").and_then(Value::as_str);
            let object = match api_version == Some(&to.api_version()) {
                true => object.clone(),
                false => self.model.convert(object, to).await?,
            };
            let before = self.request.object.replace(object);
            self.replaced = self.replaced.take().or(before);
        }
        self.is_dirty = false;
        Ok(())
    }
}

/// A failed conversion in the mutating pass: the prefix is there twice (DI-39).
pub(crate) fn mutating_conversion_failed(error: &ObjectModelError) -> Status {
    Status::internal_error(&format!("Internal error occurred: {error}"))
}
