//! The garbage collector: it deletes objects whose owners are gone, and ends the deletion of objects
//! that wait for their dependents or let go of them (RE-114).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use billhook::Scope;
use billhook_admission::{DeleteOptions, ObjectRequest};
use billhook_apimachinery::metadata::{
    FOREGROUND_FINALIZER, ORPHAN_FINALIZER, ObjectMeta, OwnerReference,
};
use billhook_apimachinery::record::{TypedRecord as _, to_value};
use billhook_apimachinery::split_api_version;
use billhook_decode::read_json;
use serde_json::{Value, json};

use crate::catalog::{Catalog, Resource};
use crate::state::Shared;
use crate::storage::{Object, Range, Revision, Storage as _};
use crate::write_path::{admit_own, object_key};

/// How often all objects are looked at; each time, something is deleted or changed for good.
const MAX_ROUNDS: usize = 10_000;

/// Whether an object that was written may give the collector something to do.
pub(crate) fn concerns(object: &Value) -> bool {
    let has = |name| object.get("metadata").is_some_and(|all| all.get(name).is_some());
    has("ownerReferences") || has("deletionTimestamp")
}

/// Collects until nothing is left to collect. All objects are looked at. Returns whether there was
/// anything.
pub(crate) async fn collect(server: &Arc<Shared>) -> bool {
    let _turn = server.settling.lock().await;
    collect_in_turn(server).await
}

/// [`collect`] for the one that does the server's own work already.
pub(crate) async fn collect_in_turn(server: &Arc<Shared>) -> bool {
    for round in 0..MAX_ROUNDS {
        let catalog = server.catalog();
        let linked: Vec<Linked<'_>> =
            catalog.resources().flat_map(|it| links(server, it)).collect();
        if !Round::new(server, &catalog, &linked).run().await {
            return round > 0;
        }
    }
    true
}

/// An object that has owners or waits for the collector.
struct Linked<'c> {
    resource: &'c Resource,
    object: Object,
    metadata: ObjectMeta,
}

/// The objects of a resource that have owners or wait for the collector.
fn links<'c>(server: &Shared, resource: &'c Resource) -> Vec<Linked<'c>> {
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
        match () {
            () if metadata.deletion_timestamp.is_zero() => Owner::Solid,
            () if has_finalizer(metadata, ORPHAN_FINALIZER) => Owner::Orphaning,
            () if has_finalizer(metadata, FOREGROUND_FINALIZER) => Owner::Waiting,
            () => Owner::Solid,
        }
    }
}

fn has_finalizer(metadata: &ObjectMeta, name: &str) -> bool {
    metadata.finalizers.iter().any(|finalizer| finalizer == name)
}

/// One look at all objects.
struct Round<'r> {
    server: &'r Arc<Shared>,
    catalog: &'r Catalog,
    linked: &'r [Linked<'r>],
    /// The UIDs that dependents name.
    owners: BTreeSet<&'r str>,
    /// The UIDs that dependents name whose deletion waits for them.
    blocked: BTreeSet<&'r str>,
    /// The UIDs and parts of owners, by the revisions of their texts.
    read: BTreeMap<Revision, Option<(String, Owner)>>,
}

impl<'r> Round<'r> {
    fn new(server: &'r Arc<Shared>, catalog: &'r Catalog, linked: &'r [Linked<'r>]) -> Self {
        let references = || linked.iter().flat_map(|it| &it.metadata.owner_references);
        let blocking = references().filter(|it| it.block_owner_deletion == Some(true));
        let owners = references().map(|it| it.uid.as_str()).collect();
        let blocked = blocking.map(|it| it.uid.as_str()).collect();
        Round { server, catalog, linked, owners, blocked, read: BTreeMap::new() }
    }

    /// Does what is to be done; false if that is nothing.
    async fn run(mut self) -> bool {
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

    fn step(&mut self, linked: &Linked<'_>) -> Option<Step> {
        let metadata = &linked.metadata;
        let uid = metadata.uid.as_str();
        match Owner::of(metadata) {
            Owner::Waiting if !self.blocked.contains(uid) => {
                Some(Step::without_finalizer(metadata, FOREGROUND_FINALIZER))
            }
            Owner::Orphaning if !self.owners.contains(uid) => {
                Some(Step::without_finalizer(metadata, ORPHAN_FINALIZER))
            }
            _ => self.step_of_dependent(metadata),
        }
    }

    /// A dependent loses the owners that let go of it or, if it has others, are going; without any
    /// it is deleted.
    fn step_of_dependent(&mut self, metadata: &ObjectMeta) -> Option<Step> {
        let references = &metadata.owner_references;
        let owners: Vec<Owner> =
            references.iter().map(|it| self.owner(&metadata.namespace, it)).collect();
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
        if !metadata.deletion_timestamp.is_zero() {
            return None;
        }
        let is_waited_for =
            owners.contains(&Owner::Waiting) && self.owners.contains(metadata.uid.as_str());
        Some(Step::delete(match () {
            () if is_waited_for || has_finalizer(metadata, FOREGROUND_FINALIZER) => "Foreground",
            () if has_finalizer(metadata, ORPHAN_FINALIZER) => "Orphan",
            () => "Background",
        }))
    }

    /// Finds the owner that a dependent in a namespace names.
    fn owner(&mut self, namespace: &str, reference: &OwnerReference) -> Owner {
        let (group, _) = split_api_version(&reference.api_version);
        let Some(resource) = self.catalog.of_kind(group, &reference.kind) else {
            return Owner::Solid;
        };
        let namespace = match (resource.definition.scope(), namespace) {
            (Scope::Cluster, _) => "",
            // An object of the cluster cannot have such an owner.
            (Scope::Namespaced, "") => return Owner::Solid,
            (Scope::Namespaced, namespace) => namespace,
        };
        let key = object_key(namespace, &reference.name);
        let Some(found) = self.server.storage.get(&resource.collection, &key) else {
            return Owner::Gone;
        };
        let read = self.read.entry(found.modified).or_insert_with(|| {
            let metadata = metadata(&found)?;
            let owner = Owner::of(&metadata);
            Some((metadata.uid, owner))
        });
        match read {
            Some((uid, owner)) if *uid == reference.uid => *owner,
            _ => Owner::Gone,
        }
    }
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
