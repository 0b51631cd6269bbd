//! The work of a server on definitions: names, establishing, the end (LC-21 to LC-55). It is done
//! before the request that gave rise to it is answered, unless the server was asked to take its time.

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

use billhook::definition::{DefinitionDocument, DefinitionStatus};
use billhook::{DeepValue, Time};
use billhook_admission::{DeleteOptions, ObjectRequest};
use billhook_apimachinery::Status;
use billhook_apimachinery::record::TypedRecord as _;
use billhook_definition::approval::{Conformance, annotation, conformance};
use billhook_definition::ca_bundle;
use serde_json::Value;
use tokio::runtime::Handle;

use super::garbage::collect;
use crate::definitions::conditions::{
    CONFORMANT, ESTABLISHED, NAMES_ACCEPTED, TERMINATING, is_true, reason, set,
};
use crate::definitions::{CLEANUP, DEFINITIONS, Reserved, accept, find_lost, write_status};
use crate::future::finish;
use crate::resources::{Served, StoredDefinition};
use crate::shared::{Change, Controller, Shared, Work, Written};
use crate::storage::{Collection, Range};
use crate::write_path::{admit_own, is_gone};

/// Serves what definitions say, and takes each through its life.
#[derive(Debug)]
pub(super) struct Definitions;

impl Controller for Definitions {
    fn watches(&self, _: &str, _: &str) -> bool {
        true
    }

    fn take_over(&self, server: &Shared, change: &Change<'_>) {
        let (group, plural) = change.collection.parts();
        if DEFINITIONS.split_once('.') == Some((plural, group)) {
            define(server, change.collection, change.key);
        }
    }

    fn after<'w>(&self, server: &'w Arc<Shared>, written: &Written<'w>) -> Option<Work<'w>> {
        let group = unsettled(written)?;
        Some(Box::pin(settle_or_begin(server, group)))
    }

    fn go_on<'w>(&self, server: &'w Arc<Shared>) -> Option<Work<'w>> {
        Some(Box::pin(async {
            for group in server.catalog().terminating_groups() {
                settle_or_begin(server, &group).await;
            }
        }))
    }

    fn resume<'w>(&self, server: &'w Arc<Shared>) -> Option<Work<'w>> {
        Some(Box::pin(async {
            for group in groups(server) {
                settle(server, &group).await;
            }
        }))
    }
}

/// Takes over a definition that was written.
fn define(server: &Shared, collection: &Collection, name: &str) {
    let mut catalog = server.catalog.write().unwrap_or_else(PoisonError::into_inner);
    // What is stored by now counts, in whatever order writes come here.
    let stored = server.storage.get(collection, name);
    if !catalog.define(name, stored.as_ref(), &server.settings.chain) {
        server.watch_caches.retire(name);
    }
    if stored.is_none() {
        let (plural, group) = name.split_once('.').unwrap_or_default();
        server.storage.forget(&Collection::new(group, plural));
    }
    drop(catalog);
    if server.settings.collects_garbage {
        server.links().touch_all();
    }
}

/// The group whose definitions a write may have left with something to do.
fn unsettled<'w>(written: &Written<'w>) -> Option<&'w str> {
    let definition = &written.resource.definition;
    written.accepted?;
    if definition.name() != DEFINITIONS {
        return definition.is_terminating().then(|| definition.group());
    }
    written.name().map(group_of)
}

/// The manager of the fields that a server writes itself.
const MANAGER: &str = "apiext";

/// Creates a definition, as a client of the server.
pub(crate) async fn create(server: &Arc<Shared>, document: &Value) -> Result<(), Status> {
    let Some(resource) = server.catalog().native(DEFINITIONS) else { return Ok(()) };
    let request =
        ObjectRequest::create("v1", &[]).body(billhook::to_json(document)).field_manager(MANAGER);
    let created = admit_own(server, &resource, request).await.result;
    let name = document.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
    // Nobody watches yet.
    settle_by(server, group_of(name), Pace::AtOnce).await;
    created.map(drop)
}

/// Lets a definition take the place of the stored one, as a client of the server.
pub(crate) async fn update(
    server: &Arc<Shared>,
    name: &str,
    document: &Value,
) -> Result<(), Status> {
    let Some(resource) = server.catalog().native(DEFINITIONS) else { return Ok(()) };
    let Some(stored) = server.storage.get(&resource.collection, name) else { return Ok(()) };
    let mut document = DeepValue::from(document.clone());
    if let Some(Value::Object(metadata)) = document.get_mut("metadata") {
        metadata.insert("resourceVersion".to_owned(), stored.modified.to_string().into());
    }
    let request = ObjectRequest::replace("v1", &[], &[])
        .body(billhook::to_json(&document))
        .stored(resource.stored(&stored))
        .name(name)
        .field_manager(MANAGER);
    let updated = admit_own(server, &resource, request).await.result;
    settle_by(server, group_of(name), Pace::AtOnce).await;
    updated.map(drop)
}

/// Returns the group in the name of a definition.
pub(crate) fn group_of(name: &str) -> &str {
    name.split_once('.').map_or("", |(_, group)| group)
}

/// How long a server takes for a step, if this one is to be as slow (LC-21).
const STEP_TIME: Duration = Duration::from_millis(20);

/// How long a deleted definition stays, if it goes in the background: as long as a server takes at
/// most, so that clients have the time to watch it.
const FINALIZING_TIME: Duration = Duration::from_millis(100);

/// Does all there is to do for the definitions of a group, or sees to it that it is done soon.
async fn settle_or_begin(server: &Arc<Shared>, group: &str) {
    let (weak, owned) = (Arc::downgrade(server), group.to_owned());
    if server.settings.settles_like_a_server {
        spawn(server, settle_in_time(weak, owned));
        return;
    }
    settle_by(server, group, pace_of_requests(server)).await;
    if server.settings.finalizes_in_background
        && server.catalog().terminating_groups().contains(group)
    {
        spawn(server, finalize_in_time(weak, owned));
    }
}

/// Does work in the background of the runtime in which requests are made.
fn spawn(server: &Shared, work: impl Future<Output = ()> + Send + 'static) {
    server.background.spawn(&Handle::current(), work);
}

/// The pace of what is done before a request is answered.
fn pace_of_requests(server: &Shared) -> Pace {
    if server.settings.finalizes_in_background { Pace::Unfinalized } else { Pace::Stepwise }
}

async fn finalize_in_time(server: Weak<Shared>, group: String) {
    tokio::time::sleep(FINALIZING_TIME).await;
    let Some(server) = server.upgrade() else { return };
    settle_by(&server, &group, Pace::Stepwise).await;
}

/// Goes on with the definitions of a server that was copied from another one: in its time, or at
/// once where nothing can wait.
pub(crate) fn resume(server: &Arc<Shared>) {
    for group in groups(server) {
        match Handle::try_current() {
            Ok(runtime) => {
                let work = settle_in_time(Arc::downgrade(server), group);
                server.background.spawn(&runtime, work);
            }
            Err(_) => finish(settle(server, &group)),
        }
    }
}

/// The groups of all definitions.
fn groups(server: &Shared) -> BTreeSet<String> {
    server.catalog().groups().map(str::to_owned).collect()
}

async fn settle_in_time(server: Weak<Shared>, group: String) {
    for _ in 0..MAX_STEPS {
        tokio::time::sleep(STEP_TIME).await;
        let Some(server) = server.upgrade() else { return };
        let _turn = server.settling.lock().await;
        if !step(&server, &group, Pace::Stepwise).await {
            return;
        }
    }
}

/// Does all there is to do for the definitions of a group.
pub(crate) async fn settle(server: &Arc<Shared>, group: &str) {
    settle_by(server, group, Pace::Stepwise).await;
}

async fn settle_by(server: &Arc<Shared>, group: &str, pace: Pace) {
    let _turn = server.settling.lock().await;
    // Each step changes a definition for good; the bound is for what cannot happen.
    for _ in 0..MAX_STEPS {
        if !step(server, group, pace).await {
            return;
        }
    }
}

/// How the steps of a definition are written.
#[derive(Clone, Copy, PartialEq)]
enum Pace {
    /// Each by itself, as clients that watch see it on a server.
    Stepwise,
    /// As stepwise, but definitions that are being deleted stay.
    Unfinalized,
    /// All together.
    AtOnce,
}

/// How many steps are taken at once.
const MAX_STEPS: usize = 100_000;

/// Takes the first step that is to be taken; false if there is none.
async fn step(server: &Arc<Shared>, group: &str, pace: Pace) -> bool {
    let definitions = server.catalog().definitions(group);
    for defined in &definitions {
        let now = server.now();
        let document = &*defined.document;
        let next = |status: &DefinitionStatus| next(document, status, &definitions, now);
        let mut steps = std::iter::successors(next(&document.status), next);
        let status = match pace {
            Pace::Stepwise | Pace::Unfinalized => steps.next(),
            Pace::AtOnce => steps.take(MAX_STEPS).last(),
        };
        if let Some(status) = status
            && save(server, defined, &status, Cleanup::Open).await
        {
            return true;
        }
        let is_ending = pace != Pace::Unfinalized && is_terminating(&defined.document);
        if is_ending && clean_up(server, defined, now).await {
            return true;
        }
    }
    false
}

/// The status of a definition after its next step, if there is one.
fn next(
    document: &DefinitionDocument,
    before: &DefinitionStatus,
    all: &[Arc<StoredDefinition>],
    now: Time,
) -> Option<DefinitionStatus> {
    let accepted = |status: &mut DefinitionStatus| accept_names(document, status, all, now);
    let established = |status: &mut DefinitionStatus| establish(document, status, now);
    let approved = |status: &mut DefinitionStatus| examine_approval(document, status, now);
    let steps: [&dyn Fn(&mut DefinitionStatus); 3] = [&accepted, &established, &approved];
    let mut status = before.clone();
    let is_changed = steps.iter().any(|step| {
        step(&mut status);
        status != *before
    });
    is_changed.then_some(status)
}

/// Accepts the names that are free (LC-30).
fn accept_names(
    document: &DefinitionDocument,
    status: &mut DefinitionStatus,
    all: &[Arc<StoredDefinition>],
    now: Time,
) {
    let requested = &document.spec.names;
    if *requested != status.accepted_names {
        let mut reserved = Reserved::default();
        all.iter().for_each(|other| reserved.add(&other.document.status.accepted_names));
        accept(requested, &reserved, status, now);
    }
}

/// Establishes a definition whose names are accepted (LC-21, LC-24).
fn establish(document: &DefinitionDocument, status: &mut DefinitionStatus, now: Time) {
    let is_named = document.spec.names == status.accepted_names && is_true(status, NAMES_ACCEPTED);
    if !is_named || is_true(status, ESTABLISHED) {
        return;
    }
    let outcome = if has_usable_bundle(document) {
        (true, "InitialNamesAccepted", "the initial names have been accepted")
    } else {
        (false, "InvalidCABundle", "The conversion webhook CABundle is invalid")
    };
    set(status, ESTABLISHED, outcome, now);
}

/// Says whether an API in a group of the Kubernetes project is approved (LC-26).
fn examine_approval(document: &DefinitionDocument, status: &mut DefinitionStatus, now: Time) {
    let metadata = document.metadata.to_document();
    let found = conformance(&document.spec.group, annotation(&metadata));
    if let Some(Conformance { holds, reason, message, .. }) = found {
        set(status, CONFORMANT, (holds, reason, &message), now);
    }
}

/// Whether the authority of the conversion webhook can be read, if there is one (LC-24).
fn has_usable_bundle(document: &DefinitionDocument) -> bool {
    let conversion = document.spec.conversion.as_ref();
    let webhook = conversion.and_then(|conversion| conversion.webhook.as_ref());
    let bundle = webhook.and_then(|webhook| Some(&webhook.client_config.as_ref()?.ca_bundle));
    bundle.is_none_or(|bundle| bundle.is_empty() || ca_bundle::certificates(bundle).is_ok())
}

fn is_terminating(document: &DefinitionDocument) -> bool {
    !document.metadata.deletion_timestamp.is_zero()
        && document.metadata.finalizers.iter().any(|finalizer| finalizer == CLEANUP)
}

/// Deletes the objects of a definition; when there are none left, lets it go (LC-53).
async fn clean_up(server: &Arc<Shared>, defined: &StoredDefinition, now: Time) -> bool {
    let mut status = defined.document.status.clone();
    if reason(&status, TERMINATING) == "InstanceDeletionPending" {
        let outcome =
            (true, "InstanceDeletionInProgress", "CustomResource deletion is in progress");
        set(&mut status, TERMINATING, outcome, now);
        return save(server, defined, &status, Cleanup::Open).await;
    }
    let outcome = if is_true(&status, ESTABLISHED) {
        match delete_objects(server, defined).await {
            Ok(true) => {
                if server.settings.collects_garbage {
                    // While it is still known what the owners were.
                    collect(server).await;
                }
                (false, "InstanceDeletionCompleted", "removed all instances")
            }
            Ok(false) => return false,
            Err(failure) => {
                let outcome = (true, "InstanceDeletionFailed", failure.as_str());
                set(&mut status, TERMINATING, outcome, now);
                let is_new = status != defined.document.status;
                return is_new && save(server, defined, &status, Cleanup::Open).await;
            }
        }
    } else {
        (false, "NeverEstablished", "resource was never established")
    };
    set(&mut status, TERMINATING, outcome, now);
    save(server, defined, &status, Cleanup::Done).await
}

/// Deletes the objects of a definition (LC-54). Returns whether none is left, or why they cannot be
/// deleted.
async fn delete_objects(server: &Arc<Shared>, defined: &StoredDefinition) -> Result<bool, String> {
    let Some(resource) = &defined.served else { return Ok(true) };
    let storage = resource.definition.storage().map_err(|error| error.to_string())?;
    let objects = server.storage.list(&resource.collection, Range::default()).objects;
    let names = resource.definition.names();
    if let Some(Served { resource, cache }) =
        server.find(resource.definition.group(), &names.plural, "")
    {
        let find_lost = || find_lost(&resource, &server.storage, storage.name());
        let listed = cache.check_filled(&resource, &storage, false, find_lost);
        listed.map_err(|status| format!("could not list instances: {status}"))?;
    }
    let mut is_empty = true;
    for object in objects {
        let request = ObjectRequest::delete(storage.name(), &[])
            .stored(resource.stored(&object))
            .delete_options(DeleteOptions::default());
        let namespace = object.key.split_once('/').map_or("", |(namespace, _)| namespace);
        let outcome = admit_own(server, resource, request.namespace(namespace)).await;
        is_empty &= is_gone(&outcome);
    }
    Ok(is_empty)
}

/// Whether the objects of a definition are still to be deleted when it is.
#[derive(Clone, Copy, PartialEq)]
enum Cleanup {
    Open,
    Done,
}

/// Writes the status of a definition, as a client of the server; without its objects, it may go.
async fn save(
    server: &Arc<Shared>,
    defined: &StoredDefinition,
    status: &DefinitionStatus,
    cleanup: Cleanup,
) -> bool {
    let Some(resource) = server.catalog().native(DEFINITIONS) else { return false };
    let name = &defined.document.metadata.name;
    let Some(stored) = server.storage.get(&resource.collection, name) else { return false };
    if stored.modified != defined.revision {
        // Somebody else changed it meanwhile, so that there may be something else to do.
        return true;
    }
    let stored = resource.stored(&stored);
    let object = resource.admission.read("v1", &stored).await;
    let Ok(mut object) = object else { return false };
    write_status(status, &mut object);
    if cleanup == Cleanup::Done
        && let Some(Value::Object(metadata)) = object.get_mut("metadata")
        && let Some(Value::Array(finalizers)) = metadata.get_mut("finalizers")
    {
        finalizers.retain(|finalizer| finalizer != CLEANUP);
        if finalizers.is_empty() {
            metadata.remove("finalizers");
        }
    }
    let request = ObjectRequest::replace_object("v1", object, stored)
        .status_update()
        .name(name)
        .field_manager(MANAGER);
    admit_own(server, &resource, request).await.result.is_ok()
}
