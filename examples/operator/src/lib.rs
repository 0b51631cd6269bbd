//! An operator of `Database`s. Each has a StatefulSet with its members and, when all of them run a
//! version, a Job that brings the data to it.
//!
//! `tests/operator.rs` shows how that is tested on a whole cluster in process: minutes pass at once, and
//! pods fail when a test wants it.

use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::batch::v1::Job;
use kube::api::{Patch, PatchParams};
use kube::runtime::controller::Action;
use kube::runtime::{Controller, watcher};
use kube::{Api, Client, CustomResource, Resource as _, ResourceExt as _};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The name of the operator: the manager of its fields.
const OPERATOR: &str = "database-operator";

/// A database, as a user wants it.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "example.com",
    version = "v1",
    kind = "Database",
    namespaced,
    status = "DatabaseStatus"
)]
pub struct DatabaseSpec {
    /// How many members it has.
    pub members: i32,
    /// The version that they run.
    pub version: String,
}

/// A database, as the operator left it.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DatabaseStatus {
    /// The version that the phase is about.
    pub version: String,
    /// How far it is.
    pub phase: Phase,
}

/// How far a database is.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize, JsonSchema)]
pub enum Phase {
    /// Not all members run the version.
    Starting,
    /// The data are brought to the version.
    Migrating,
    /// It can be used.
    Ready,
    /// The data could not be brought to the version.
    Failed,
}

/// Runs the operator until its future is dropped.
pub async fn run(client: Client) {
    let databases = Api::<Database>::all(client.clone());
    Controller::new(databases, watcher::Config::default())
        .owns(Api::<StatefulSet>::all(client.clone()), watcher::Config::default())
        .owns(Api::<Job>::all(client.clone()), watcher::Config::default())
        .run(reconcile, on_error, Arc::new(client))
        .for_each(|_| ready(()))
        .await;
}

async fn reconcile(database: Arc<Database>, client: Arc<Client>) -> Result<Action, kube::Error> {
    if database.metadata.deletion_timestamp.is_some() {
        return Ok(Action::await_change());
    }
    let namespace = database.namespace().unwrap_or_default();
    let client = Client::clone(&client);
    let apply = PatchParams::apply(OPERATOR).force();

    let sets = Api::<StatefulSet>::namespaced(client.clone(), &namespace);
    let set = sets.patch(&database.name_any(), &apply, &Patch::Apply(members(&database))).await?;
    let phase = if runs_everywhere(&set) {
        let jobs = Api::<Job>::namespaced(client.clone(), &namespace);
        let name = format!("{}-{}", database.name_any(), database.spec.version);
        let job = jobs.patch(&name, &apply, &Patch::Apply(migration(&database, &name))).await?;
        phase_of(&job)
    } else {
        Phase::Starting
    };

    let status = DatabaseStatus { version: database.spec.version.clone(), phase };
    if database.status.as_ref() != Some(&status) {
        let patch = json!({
            "apiVersion": Database::api_version(&()), "kind": Database::kind(&()), "status": status,
        });
        let databases = Api::<Database>::namespaced(client, &namespace);
        databases.patch_status(&database.name_any(), &apply, &Patch::Apply(&patch)).await?;
    }
    Ok(Action::await_change())
}

fn on_error(_: Arc<Database>, _: &kube::Error, _: Arc<Client>) -> Action {
    Action::requeue(Duration::from_secs(5))
}

fn members(database: &Database) -> Value {
    let labels = json!({"database": database.name_any()});
    json!({
        "apiVersion": "apps/v1", "kind": "StatefulSet",
        "metadata": {"name": database.name_any(), "ownerReferences": [database.controller_owner_ref(&())]},
        "spec": {
            "serviceName": database.name_any(), "replicas": database.spec.members,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container(database)]}},
        },
    })
}

fn migration(database: &Database, name: &str) -> Value {
    json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": name, "ownerReferences": [database.controller_owner_ref(&())]},
        "spec": {
            "backoffLimit": 2,
            "template": {"spec": {"restartPolicy": "Never", "containers": [container(database)]}},
        },
    })
}

fn container(database: &Database) -> Value {
    json!({"name": "database", "image": format!("database:{}", database.spec.version)})
}

/// Whether all members are ready, and run what the set wants now.
fn runs_everywhere(set: &StatefulSet) -> bool {
    let Some((spec, status)) = set.spec.as_ref().zip(set.status.as_ref()) else { return false };
    status.observed_generation == set.metadata.generation
        && [status.ready_replicas, status.updated_replicas] == [spec.replicas; 2]
}

fn phase_of(migration: &Job) -> Phase {
    let conditions = migration.status.as_ref().and_then(|status| status.conditions.as_ref());
    let has = |kind: &str| {
        conditions.into_iter().flatten().any(|it| it.type_ == kind && it.status == "True")
    };
    match () {
        () if has("Complete") => Phase::Ready,
        () if has("Failed") => Phase::Failed,
        () => Phase::Migrating,
    }
}
