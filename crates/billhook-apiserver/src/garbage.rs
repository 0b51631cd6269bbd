//! The garbage collector: it deletes objects whose owners are gone, and ends the deletion of objects
//! that wait for their dependents or let go of them (RE-114).

use std::sync::Arc;

use billhook::Scope;
use billhook_admission::{DeleteOptions, ObjectRequest};
use billhook_apimachinery::metadata::{ObjectMeta, OwnerReference};
use billhook_apimachinery::record::{TypedRecord as _, to_value};
use billhook_apimachinery::split_api_version;
use billhook_decode::read_json;
use serde_json::{Value, json};

use crate::catalog::{Catalog, DEFINITIONS, NAMESPACES, Resource};
use crate::state::Shared;
use crate::storage::{Object, Range, Storage as _};
use crate::write_path::{admit_own, object_key};

/// The finalizer of an object that is deleted after its dependents.
const FOREGROUND: &str = "foregroundDeletion";
/// The finalizer of an object that is deleted without its dependents.
const ORPHAN: &str = "orphan";

/// How often all objects are looked at; each time, something is deleted or changed for good.
const MAX_ROUNDS: usize = 10_000;

/// Whether an object that was written may give the collector something to do.
pub(crate) fn concerns(object: &Value) -> bool {
    let has = |name| object.get("metadata").is_some_and(|all| all.get(name).is_some());
    has("ownerReferences") || has("deletionTimestamp")
}

/// Collects until nothing is left to collect. All objects are looked at.
pub(crate) async fn collect(server: &Arc<Shared>) {
    let _turn = server.settling.lock().await;
    collect_in_turn(server).await;
}

/// [`collect`] for the one that does the server's own work already.
pub(crate) async fn collect_in_turn(server: &Arc<Shared>) {
    for _ in 0..MAX_ROUNDS {
        let catalog = server.catalog();
        let linked: Vec<Linked<'_>> =
            catalog.resources().flat_map(|it| links(server, it)).collect();
        let round = Round { server, catalog: &catalog, linked: &linked };
        if !round.run().await {
            return;
        }
    }
}

/// An object that has owners or waits for the collector.
struct Linked<'c> {
    resource: &'c Resource,
    object: Object,
    metadata: ObjectMeta,
}

/// The objects of a resource that have owners or wait for the collector.
fn links<'c>(server: &Shared, resource: &'c Resource) -> Vec<Linked<'c>> {
    // These go in their own ways.
    if [DEFINITIONS, NAMESPACES].contains(&resource.definition.name()) {
        return Vec::new();
    }
    let listing = server.storage.list(&resource.collection, Range::default(), None);
    let objects = listing.map(|listing| listing.objects).unwrap_or_default();
    let linked = objects.into_iter().filter_map(|object| {
        // Most objects have neither; the text alone tells.
        let text = str::from_utf8(&object.text).ok()?;
        ["\"ownerReferences\"", "\"deletionTimestamp\""].iter().find(|it| text.contains(**it))?;
        let metadata = metadata(&object)?;
        Some(Linked { resource, object, metadata })
    });
    linked.collect()
}

fn metadata(object: &Object) -> Option<ObjectMeta> {
    let document = read_json(&object.text).ok()?;
    ObjectMeta::read(document.value().get("metadata")?).ok().map(|(metadata, _)| metadata)
}

/// The part that an owner plays for its dependents.
#[derive(Clone, Copy, PartialEq)]
enum Owner {
    /// It stays, or nobody knows.
    Solid,
    /// It waits until they are deleted.
    Waiting,
    /// It lets go of them.
    Orphaning,
    Gone,
}

impl Owner {
    fn of(metadata: &ObjectMeta) -> Self {
        let has = |name: &str| metadata.finalizers.iter().any(|finalizer| finalizer == name);
        match () {
            () if metadata.deletion_timestamp.is_zero() => Owner::Solid,
            () if has(ORPHAN) => Owner::Orphaning,
            () if has(FOREGROUND) => Owner::Waiting,
            () => Owner::Solid,
        }
    }
}

/// One look at all objects.
struct Round<'r> {
    server: &'r Arc<Shared>,
    catalog: &'r Catalog,
    linked: &'r [Linked<'r>],
}

impl Round<'_> {
    /// Does what is to be done; false if that is nothing.
    async fn run(&self) -> bool {
        let mut is_changed = false;
        for linked in self.linked {
            let Ok(version) = linked.resource.definition.storage() else { continue };
            let Some(step) = self.step(linked) else { continue };
            let body = billhook::to_json(&step.patch).into_bytes();
            let request = match step.policy {
                Some(policy) => {
                    let mut options = DeleteOptions::default();
                    options.propagation_policy = Some(policy.to_owned());
                    ObjectRequest::delete(version.name(), &[]).delete_options(options)
                }
                None => ObjectRequest::merge_patch(version.name(), &body, &[])
                    .name(&linked.metadata.name)
                    .field_manager("kube-controller-manager"),
            };
            let request = request
                .stored(linked.resource.stored(&linked.object))
                .namespace(&linked.metadata.namespace);
            let outcome = admit_own(self.server, linked.resource, request).await;
            is_changed |= outcome.result.is_ok();
        }
        is_changed
    }

    fn step(&self, linked: &Linked<'_>) -> Option<Step> {
        let metadata = &linked.metadata;
        let role = Owner::of(metadata);
        let mut dependents = self.linked.iter().flat_map(|other| &other.metadata.owner_references);
        let is_own = |reference: &&OwnerReference| reference.uid == metadata.uid;
        match role {
            Owner::Waiting if !dependents.any(|it| is_own(&it) && is_blocking(it)) => {
                return Some(Step::without_finalizer(metadata, FOREGROUND));
            }
            Owner::Orphaning if !dependents.any(|it| is_own(&it)) => {
                return Some(Step::without_finalizer(metadata, ORPHAN));
            }
            _ => {}
        }
        self.step_of_dependent(linked)
    }

    /// A dependent loses the owners that let go of it or, if it has others, are going; without any
    /// it is deleted.
    fn step_of_dependent(&self, linked: &Linked<'_>) -> Option<Step> {
        let references = &linked.metadata.owner_references;
        let owners: Vec<Owner> = references.iter().map(|it| self.owner(linked, it)).collect();
        let keep = |kept: &dyn Fn(Owner) -> bool| {
            let all = references.iter().zip(&owners).filter(|(_, owner)| kept(**owner));
            let kept: Vec<Value> = all.map(|(it, _)| to_value(it).into_inner()).collect();
            Step::patch(json!({"metadata": {"ownerReferences": kept}}))
        };
        if owners.contains(&Owner::Orphaning) {
            return Some(keep(&|owner| owner != Owner::Orphaning));
        }
        if owners.iter().all(|owner| *owner == Owner::Solid) {
            return None;
        }
        if owners.contains(&Owner::Solid) {
            return Some(keep(&|owner| owner == Owner::Solid));
        }
        if !linked.metadata.deletion_timestamp.is_zero() {
            return None;
        }
        let uid = &linked.metadata.uid;
        let mut others = self.linked.iter().flat_map(|other| &other.metadata.owner_references);
        let has_dependents = others.any(|reference| reference.uid == *uid);
        let is_waited_for = owners.contains(&Owner::Waiting) && has_dependents;
        let has = |name: &str| linked.metadata.finalizers.iter().any(|it| it == name);
        Some(Step::delete(match () {
            () if is_waited_for || has(FOREGROUND) => "Foreground",
            () if has(ORPHAN) => "Orphan",
            () => "Background",
        }))
    }

    fn owner(&self, dependent: &Linked<'_>, reference: &OwnerReference) -> Owner {
        let (group, _) = split_api_version(&reference.api_version);
        let Some(resource) = self.catalog.of_kind(group, &reference.kind) else {
            return Owner::Solid;
        };
        let namespace = match (resource.definition.scope(), &*dependent.metadata.namespace) {
            (Scope::Cluster, _) => "",
            // An object of the cluster cannot have such an owner.
            (Scope::Namespaced, "") => return Owner::Solid,
            (Scope::Namespaced, namespace) => namespace,
        };
        let key = object_key(namespace, &reference.name);
        let found = self.server.storage.get(&resource.collection, &key);
        let found = found.and_then(|found| metadata(&found));
        let found = found.filter(|found| found.uid == reference.uid);
        found.map_or(Owner::Gone, |found| Owner::of(&found))
    }
}

fn is_blocking(reference: &OwnerReference) -> bool {
    reference.block_owner_deletion == Some(true)
}

/// A change of an object: a deletion if there is a policy for it, or a patch.
struct Step {
    policy: Option<&'static str>,
    patch: Value,
}

impl Step {
    fn delete(policy: &'static str) -> Self {
        Step { policy: Some(policy), patch: Value::Null }
    }

    fn patch(patch: Value) -> Self {
        Step { policy: None, patch }
    }

    fn without_finalizer(metadata: &ObjectMeta, name: &str) -> Self {
        let others = metadata.finalizers.iter().filter(|finalizer| *finalizer != name);
        let others: Vec<&String> = others.collect();
        Step::patch(json!({"metadata": {"finalizers": others}}))
    }
}
