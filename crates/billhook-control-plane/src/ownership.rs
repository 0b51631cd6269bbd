//! Which objects are a controller's: adoption and release (CP-04).

use std::sync::Arc;

use billhook_apimachinery::label_selector::{LabelSelector, Selector};
use serde_json::{Value, json};

use crate::document::set;
use crate::object::Object;
use crate::plan::Plan;
use crate::request::Request;
use crate::resource::Resource;
use crate::view::View;

/// The owner of objects: the object that a controller works on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner<'o> {
    pub(crate) resource: &'static Resource,
    pub(crate) object: &'o Arc<Object>,
}

/// The objects that belong to an owner, and what has to be done so that they do.
#[derive(Debug)]
pub(crate) struct Claimed {
    pub(crate) objects: Vec<Arc<Object>>,
    pub(crate) plan: Plan,
}

impl Owner<'_> {
    /// Returns the reference of an object that it controls.
    pub(crate) fn reference(&self) -> Value {
        json!({
            "apiVersion": self.resource.api_version(), "kind": self.resource.kind,
            "name": self.object.name(), "uid": self.object.uid(),
            "controller": true, "blockOwnerDeletion": true,
        })
    }

    /// Claims the objects of a resource that match a selector, of those that pass a filter; the others are
    /// left as they are.
    pub(crate) fn claim(
        &self,
        view: &View,
        resource: &'static Resource,
        selector: &Selector,
        is_candidate: impl Fn(&Object) -> bool,
    ) -> Claimed {
        self.claim_with_finalizers(view, resource, selector, is_candidate, &[])
    }

    /// Claims objects as [`Owner::claim`]; those that it adopts get finalizers.
    pub(crate) fn claim_with_finalizers(
        &self,
        view: &View,
        resource: &'static Resource,
        selector: &Selector,
        is_candidate: impl Fn(&Object) -> bool,
        finalizers: &[&str],
    ) -> Claimed {
        let (owner, is_deleting) = (self.object, self.object.is_deleting());
        let mut claimed = Claimed { objects: Vec::new(), plan: Plan::nothing() };
        for object in view.controlled(resource, owner.uid()).filter(|it| is_candidate(it)) {
            if selector.matches(object.labels()) {
                claimed.objects.push(Arc::clone(object));
            } else if !is_deleting {
                let release = Request::patch(resource, object.key(), &self.release(object));
                claimed.plan = claimed.plan.try_request(release, &[404, 422]);
            }
        }
        let is_orphan = |object: &&Arc<Object>| {
            selector.matches(object.labels()) && !object.is_deleting() && is_candidate(object)
        };
        let orphans = view.uncontrolled(resource, owner.namespace()).filter(is_orphan);
        let orphans: Vec<_> = orphans.filter(|_| !is_deleting).cloned().collect();
        if !orphans.is_empty() {
            let adopt = |orphan: &Arc<Object>| self.adopt(resource, orphan, finalizers);
            let adoptions: Vec<Request> = orphans.iter().map(adopt).collect();
            claimed.plan = claimed.plan.and(self.checked(adoptions));
            claimed.objects.extend(orphans);
        }
        claimed
    }

    fn release(&self, object: &Object) -> Value {
        let reference = json!({"$patch": "delete", "uid": self.object.uid()});
        json!({"metadata": {"ownerReferences": [reference], "uid": object.uid()}})
    }

    fn adopt(&self, resource: &Resource, object: &Object, finalizers: &[&str]) -> Request {
        let mut metadata = json!({"ownerReferences": [self.reference()], "uid": object.uid()});
        if !finalizers.is_empty() {
            set(&mut metadata, &["finalizers"], finalizers.into());
        }
        Request::patch(resource, object.key(), &json!({"metadata": metadata}))
    }

    /// Makes adoptions, if the owner is still there when it is read anew.
    fn checked(&self, adoptions: Vec<Request>) -> Plan {
        let uid = self.object.uid().to_owned();
        let read = Request::get(self.resource, self.object.key());
        Plan::nothing().then(vec![read], move |outcomes| {
            let owner = outcomes.first().map(|outcome| outcome.object()).unwrap_or_default();
            let metadata = owner.get("metadata").unwrap_or(&Value::Null);
            let is_same = metadata.get("uid").and_then(Value::as_str) == Some(&*uid);
            if !is_same || metadata.get("deletionTimestamp").is_some() {
                return Plan::failure("the owner is gone or being deleted");
            }
            adoptions.into_iter().fold(Plan::nothing(), Plan::request)
        })
    }
}

/// Returns the selector of an object, as a label selector or as a map of labels. Without one it selects
/// nothing.
pub(crate) fn selector_of(object: &Object) -> Selector {
    let written = object.get("/spec/selector");
    let is_document =
        ["matchLabels", "matchExpressions"].iter().any(|it| written.get(it).is_some());
    match is_document || written.is_null() {
        true => read_selector(written),
        false => read_selector(&json!({"matchLabels": written})),
    }
}

/// Reads a label selector. One that is absent or cannot be read selects nothing.
pub(crate) fn read_selector(document: &Value) -> Selector {
    let selector = LabelSelector::from_value(document).ok().filter(|_| document.is_object());
    selector.and_then(|selector| selector.parse().ok()).unwrap_or_else(Selector::nothing)
}
