//! ControllerRevisions: the templates that a set has and had, which StatefulSets and DaemonSets keep
//! (CP-51, CP-59).

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::controller::Keys;
use crate::document::{remove, set};
use crate::hash::hash_of;
use crate::object::Object;
use crate::ownership::{Owner, selector_of};
use crate::plan::Plan;
use crate::request::Request;
use crate::resource::{CONTROLLER_REVISIONS, Resource};
use crate::view::{Change, View};

/// The label of pods that tells their revision.
pub(super) const REVISION: &str = "controller-revision-hash";

/// How much of the name of a set is in those of its revisions.
const MAX_PREFIX: usize = 223;

/// The revisions of a set, the oldest first.
pub(super) struct History {
    revisions: Vec<Arc<Object>>,
    /// The steps by which they become the set's.
    pub(super) plan: Plan,
}

impl History {
    /// Claims the revisions of a set.
    pub(super) fn claim(owner: &Owner<'_>, view: &View) -> Self {
        let selector = selector_of(owner.object);
        let claimed = owner.claim(view, &CONTROLLER_REVISIONS, &selector, |_| true);
        let mut revisions = claimed.objects;
        revisions.sort_by_key(|revision| (number_of(revision), revision.created()));
        History { revisions, plan: claimed.plan }
    }

    /// Returns the revision of a name.
    pub(super) fn get(&self, name: &str) -> Option<&Arc<Object>> {
        self.revisions.iter().find(|revision| revision.name() == name)
    }

    /// Returns the revisions that are not in use, the oldest first.
    pub(super) fn unused(&self, is_used: impl Fn(&Object) -> bool) -> Vec<Arc<Object>> {
        self.revisions.iter().filter(|revision| !is_used(revision)).cloned().collect()
    }

    /// Returns the other revisions that are of the same template as one.
    pub(super) fn duplicates(&self, of: &Object) -> impl Iterator<Item = &Arc<Object>> {
        let is_duplicate =
            |it: &&Arc<Object>| it.name() != of.name() && it.get("/data") == of.get("/data");
        self.revisions.iter().filter(is_duplicate)
    }

    /// Returns the revision of the template: the one with the highest number.
    ///
    /// # Errors
    ///
    /// The steps that bring it about, if the template is new, or was there before and needs a higher
    /// number.
    pub(super) fn newest(&self, owner: &Owner<'_>, label: &str) -> Result<&Arc<Object>, Plan> {
        let data = data_of(owner.object);
        let highest = self.revisions.last().map(|revision| number_of(revision));
        let next = highest.unwrap_or_default().saturating_add(1);
        let same = self.revisions.iter().rfind(|revision| *revision.get("/data") == data);
        match same {
            Some(same) if Some(number_of(same)) == highest => Ok(same),
            Some(same) => {
                let mut changed = same.copy();
                set(&mut changed, &["revision"], next.into());
                let update = Request::update(&CONTROLLER_REVISIONS, same.key(), &changed);
                Err(Plan::nothing().request(update))
            }
            None => Err(create(owner, &data, next, label)),
        }
    }
}

fn number_of(revision: &Object) -> i64 {
    revision.int("/revision").unwrap_or_default()
}

/// Returns the patch that brings a set to its template.
fn data_of(owner: &Object) -> Value {
    let mut template = owner.get("/spec/template").clone();
    set(&mut template, &["$patch"], "replace".into());
    json!({"spec": {"template": template}})
}

/// Returns the template of a revision.
pub(super) fn template_of(revision: &Object) -> Value {
    let mut template = revision.get("/data/spec/template").clone();
    remove(&mut template, &["$patch"]);
    template
}

/// Creates a revision. If its name is taken, the set counts a collision, and the next name is another.
fn create(owner: &Owner<'_>, data: &Value, number: i64, label: &str) -> Plan {
    let (resource, object) = (owner.resource, Arc::clone(owner.object));
    let collisions = object.int("/status/collisionCount").filter(|count| *count > 0);
    let hash = hash_of(data, collisions);
    let prefix = object.name().get(..MAX_PREFIX).unwrap_or(object.name());
    let mut labels = object.get("/spec/template/metadata/labels").clone();
    set(&mut labels, &[label], hash.as_str().into());
    let mut metadata = json!({
        "name": format!("{prefix}-{hash}"), "labels": labels, "ownerReferences": [owner.reference()],
    });
    if !object.annotations().is_empty() {
        set(&mut metadata, &["annotations"], Value::Object(object.annotations().clone()));
    }
    let revision = json!({
        "apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": metadata,
        "data": data, "revision": number,
    });
    let create = Request::create(&CONTROLLER_REVISIONS, object.namespace(), &revision);
    Plan::nothing().then(vec![create], move |outcomes| match outcomes.first() {
        Some(outcome) if outcome.code() == 409 => count_collision(resource, &object),
        outcome => outcome.and_then(Plan::of_outcome).unwrap_or_default(),
    })
}

fn count_collision(resource: &Resource, object: &Object) -> Plan {
    let mut changed = object.copy();
    let count = object.int("/status/collisionCount").unwrap_or_default().saturating_add(1);
    set(&mut changed, &["status", "collisionCount"], count.into());
    Plan::nothing().request(Request::update_in(resource, object.key(), "status", &changed))
}

/// Deletes the first ones of revisions.
pub(super) fn delete_oldest(revisions: &[Arc<Object>], count: usize) -> Plan {
    let delete = |revision: &Arc<Object>| {
        Request::delete(&CONTROLLER_REVISIONS, revision.key(), &Value::Null)
    };
    let requests = revisions.iter().take(count).map(delete);
    requests.fold(Plan::nothing(), |plan, request| plan.try_request(request, &[404]))
}

/// Returns how many old revisions are kept.
pub(super) fn limit(object: &Object) -> usize {
    usize::try_from(object.int("/spec/revisionHistoryLimit").unwrap_or(10)).unwrap_or_default()
}

/// Adds the sets of a resource that a change of a set, a pod or a revision concerns.
pub(super) fn add_concerned(
    change: &Change,
    resource: &'static Resource,
    view: &View,
    keys: &mut Keys,
) {
    if keys.add_changed(change, resource) {
        return;
    }
    keys.add_controllers(change, resource);
    // What has no controller may be adopted.
    let Some(object) = change.after.as_ref().filter(|object| object.controller().is_none()) else {
        return;
    };
    let wants = |set: &&Arc<Object>| selector_of(set).matches(object.labels());
    view.list(resource, object.namespace()).filter(wants).for_each(|set| keys.add(set.key()));
}

/// Writes the status of a set, if it differs from what the set has.
pub(super) fn write_status(
    resource: &'static Resource,
    object: &Object,
    status: Map<String, Value>,
) -> Plan {
    let status = Value::Object(status);
    if status == *object.get("/status") {
        return Plan::nothing();
    }
    let mut changed = object.copy();
    set(&mut changed, &["status"], status);
    Plan::nothing().request(Request::update_in(resource, object.key(), "status", &changed))
}
