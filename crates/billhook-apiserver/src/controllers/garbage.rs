//! The garbage collector: it deletes objects whose owners are gone, and ends the deletion of objects
//! that wait for their dependents or let go of them (RE-114). Its writes are asked about like those of a
//! client (CP-06): they hold no lock, as a webhook may write to the server before it answers, and each is
//! for the object as it was looked at (CP-11, CP-12).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use billhook::Scope;
use billhook_admission::{DeleteOptions, ObjectRequest};
use billhook_apimachinery::metadata::{
    FOREGROUND_FINALIZER, ORPHAN_FINALIZER, ObjectMeta, OwnerReference,
};
use billhook_apimachinery::record::to_value;
use billhook_apimachinery::{Status, split_api_version};
use serde_json::{Value, json};

use crate::links::{Linked, Owner, Place, has_finalizer, metadata};
use crate::recovery::UnderWay;
use crate::resources::Catalog;
use crate::shared::{Change, Controller, Shared, Work, Written};
use crate::storage::Revision;
use crate::write_path::{admit_as_controller, object_key};

/// The account of the collector (CP-01).
const ACCOUNT: &str = "generic-garbage-collector";

/// How often the collector looks at what it has changed itself; each time, something is deleted or
/// changed for good.
const MAX_ROUNDS: usize = 10_000;

/// Collects garbage where the server was asked to.
#[derive(Debug)]
pub(super) struct Garbage;

impl Controller for Garbage {
    fn watches(&self, _: &str, _: &str) -> bool {
        true
    }

    fn take_over(&self, server: &Shared, change: &Change<'_>) {
        if !server.settings.collects_garbage {
            return;
        }
        let mut links = server.links();
        // What is stored by now counts, in whatever order writes come here.
        let stored = server.storage.get(change.collection, change.key);
        links.update((change.collection.clone(), change.key.into()), change.before, stored);
    }

    fn after<'w>(&self, server: &'w Arc<Shared>, _: &Written<'w>) -> Option<Work<'w>> {
        let is_touched = server.settings.collects_garbage && server.links().is_touched();
        is_touched.then(|| -> Work<'w> { Box::pin(collect_and_go_on(server)) })
    }

    fn resume<'w>(&self, server: &'w Arc<Shared>) -> Option<Work<'w>> {
        let resumed = || -> Work<'w> {
            server.links().touch_all();
            Box::pin(collect_and_go_on(server))
        };
        server.settings.collects_garbage.then(resumed)
    }
}

/// Collects garbage, and goes on with what is being deleted: it may have waited for garbage, or be a
/// part of it.
async fn collect_and_go_on(server: &Arc<Shared>) {
    while server.links().is_touched() && collect(server).await {
        server.go_on().await;
    }
}

/// Collects until nothing is left to collect. What writes have touched is looked at. Returns whether
/// there was anything.
pub(super) async fn collect(server: &Arc<Shared>) -> bool {
    let under_way = UnderWay::begin(server);
    let mut is_changed = false;
    for _ in 0..MAX_ROUNDS {
        let touched = server.links().take_touched();
        if touched.is_empty() {
            break;
        }
        let catalog = server.catalog();
        is_changed |= Round { server, catalog: &catalog, read: BTreeMap::new() }.run(touched).await;
    }
    under_way.end();
    is_changed
}

/// One look at what was touched.
struct Round<'r> {
    server: &'r Arc<Shared>,
    catalog: &'r Catalog,
    /// The UIDs and parts of owners, by the revisions of their texts.
    read: BTreeMap<Revision, Option<(String, Owner)>>,
}

impl Round<'_> {
    /// Does what is to be done; false if that is nothing.
    async fn run(mut self, touched: BTreeSet<Place>) -> bool {
        let mut is_changed = false;
        // Dependents see their owners wait before these do so no longer.
        let (owners, others): (Vec<Place>, Vec<Place>) =
            touched.into_iter().partition(|place| self.is_going(place));
        for place in others.into_iter().chain(owners) {
            let Some(linked) = self.server.links().get(&place).cloned() else { continue };
            let Some(resource) = self.catalog.of_collection(&place.0) else { continue };
            let Ok(version) = resource.definition.storage() else { continue };
            let Some(step) = self.step(&linked) else { continue };
            let request = step
                .request(version.name(), &linked)
                .stored(resource.stored(&linked.object))
                .namespace(&linked.metadata.namespace);
            let outcome = admit_as_controller(self.server, &resource, ACCOUNT, request).await;
            match outcome.result {
                Ok(_) => is_changed = true,
                Err(status) => self.failed(place, &linked, &status),
            }
        }
        is_changed
    }

    /// Looks again at an object that has changed meanwhile; other failures are for later (CP-13).
    fn failed(&self, place: Place, linked: &Linked, status: &Status) {
        let now = self.server.links().get(&place).map(|now| now.object.modified);
        match status.code {
            404 => {}
            409 if now != Some(linked.object.modified) => self.server.links().touch(place),
            _ => self.server.leave_undone(),
        }
    }

    /// Whether an object waits for its dependents or lets go of them.
    fn is_going(&self, place: &Place) -> bool {
        let links = self.server.links();
        let part = links.get(place).map(|linked| Owner::of(&linked.metadata));
        matches!(part, Some(Owner::Waiting | Owner::Orphaning))
    }

    fn step(&mut self, linked: &Linked) -> Option<Step> {
        let metadata = &linked.metadata;
        let uid = metadata.uid.as_str();
        match Owner::of(metadata) {
            Owner::Waiting if !self.server.links().is_blocked(uid) => {
                Some(Step::without_finalizer(metadata, FOREGROUND_FINALIZER))
            }
            Owner::Orphaning if !self.server.links().is_owner(uid) => {
                Some(Step::without_finalizer(metadata, ORPHAN_FINALIZER))
            }
            _ => self.step_of_dependent(metadata),
        }
    }

    /// A dependent loses the owners that let go of it or, if it has others, are going; without any
    /// it is deleted, unless it is being deleted already.
    fn step_of_dependent(&mut self, metadata: &ObjectMeta) -> Option<Step> {
        let references = &metadata.owner_references;
        let owners: Vec<Option<Owner>> =
            references.iter().map(|it| self.owner(&metadata.namespace, it)).collect();
        let keep = |kept: &dyn Fn(Owner) -> bool| {
            let all = references.iter().zip(&owners).filter(|(_, owner)| owner.is_none_or(kept));
            let kept: Vec<Value> = all.map(|(it, _)| to_value(it).into_inner()).collect();
            Step::references(&kept)
        };
        if owners.contains(&Some(Owner::Orphaning)) {
            return Some(keep(&|owner| owner != Owner::Orphaning));
        }
        let are_known = owners.iter().all(Option::is_some);
        let are_solid = owners.iter().all(|owner| *owner == Some(Owner::Solid));
        if !metadata.deletion_timestamp.is_zero() || !are_known || are_solid {
            return None;
        }
        if owners.contains(&Some(Owner::Solid)) {
            return Some(keep(&|owner| owner == Owner::Solid));
        }
        let is_waited_for = owners.contains(&Some(Owner::Waiting));
        Some(self.deletion(metadata, is_waited_for))
    }

    /// Deletes a dependent. One that an owner waits for waits for its own dependents; if one of these
    /// waits as well, it may wait for this one, which therefore first ceases to block its owners.
    fn deletion(&self, metadata: &ObjectMeta, is_waited_for: bool) -> Step {
        let links = self.server.links();
        let waits = is_waited_for && links.is_owner(&metadata.uid);
        let blocks = |it: &OwnerReference| it.block_owner_deletion == Some(true);
        if waits
            && links.has_waiting_dependent(&metadata.uid)
            && metadata.owner_references.iter().any(blocks)
        {
            let unblocked = metadata.owner_references.iter().cloned().map(|mut reference| {
                reference.block_owner_deletion = Some(false);
                to_value(&reference).into_inner()
            });
            return Step::references(&unblocked.collect::<Vec<_>>());
        }
        Step::delete(match () {
            () if waits || has_finalizer(metadata, FOREGROUND_FINALIZER) => "Foreground",
            () if has_finalizer(metadata, ORPHAN_FINALIZER) => "Orphan",
            () => "Background",
        })
    }

    /// Finds the owner that a dependent in a namespace names; `None` if that cannot be known, and so
    /// nothing may be done.
    fn owner(&mut self, namespace: &str, reference: &OwnerReference) -> Option<Owner> {
        let (group, version) = split_api_version(&reference.api_version);
        let resource = self.catalog.serving(group, version, &reference.kind)?;
        let namespace = match (resource.definition.scope(), namespace) {
            (Scope::Cluster, _) => "",
            // An object of the cluster cannot have such an owner.
            (Scope::Namespaced, "") => return None,
            (Scope::Namespaced, namespace) => namespace,
        };
        let key = object_key(namespace, &reference.name);
        let Some(found) = self.server.storage.get(&resource.collection, &key) else {
            return Some(Owner::Gone);
        };
        let read = self.read.entry(found.modified).or_insert_with(|| {
            let metadata = metadata(&found)?;
            let owner = Owner::of(&metadata);
            Some((metadata.uid, owner))
        });
        let (uid, owner) = read.as_ref()?;
        Some(if *uid == reference.uid { *owner } else { Owner::Gone })
    }
}

/// A change of an object: a deletion if there is a policy for it, or a patch.
struct Step {
    policy: Option<&'static str>,
    patch: Value,
}

impl Step {
    /// Returns the request for an object, which is for no other revision of it.
    fn request(self, version: &str, linked: &Linked) -> ObjectRequest {
        let revision = linked.object.modified.to_string();
        if let Some(policy) = self.policy {
            let mut options = DeleteOptions::default();
            options.propagation_policy = Some(policy.to_owned());
            return ObjectRequest::delete(version, &[])
                .delete_options(options)
                .only_uid(&linked.metadata.uid)
                .only_resource_version(&revision);
        }
        let mut patch = self.patch;
        if let Some(Value::Object(metadata)) = patch.get_mut("metadata") {
            metadata.insert("resourceVersion".to_owned(), revision.into());
        }
        ObjectRequest::merge_patch(version, &[], &[])
            .body(billhook::to_json(&patch))
            .name(&linked.metadata.name)
            .field_manager("kube-controller-manager")
    }

    fn delete(policy: &'static str) -> Self {
        Step { policy: Some(policy), patch: Value::Null }
    }

    fn patch(patch: Value) -> Self {
        Step { policy: None, patch }
    }

    fn references(references: &[Value]) -> Self {
        Step::patch(json!({"metadata": {"ownerReferences": references}}))
    }

    fn without_finalizer(metadata: &ObjectMeta, name: &str) -> Self {
        let others = metadata.finalizers.iter().filter(|finalizer| *finalizer != name);
        let others: Vec<&String> = others.collect();
        Step::patch(json!({"metadata": {"finalizers": others}}))
    }
}
