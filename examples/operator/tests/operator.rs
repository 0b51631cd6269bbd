//! The operator on a cluster in process: controllers, scheduler and nodes work, and time is virtual.

#![allow(
    clippy::allow_attributes,
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "helpers of tests may fail the test"
)]

use std::time::Duration;

use billhook_apiserver::Server;
use billhook_control_plane::ControlPlane;
use billhook_control_plane::simulation::Rule;
use billhook_example_operator::{Database, DatabaseSpec, Phase, run};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::runtime::wait::{await_condition, conditions};
use kube::{Api, Client, CustomResourceExt as _, ResourceExt as _};
use serde_json::json;

/// A cluster on which the operator runs.
struct Cluster {
    plane: ControlPlane,
    databases: Api<Database>,
    pods: Api<Pod>,
    jobs: Api<Job>,
}

impl Cluster {
    async fn with(rules: impl IntoIterator<Item = Rule>) -> Self {
        let definition = serde_json::to_value(Database::crd()).unwrap();
        let server = Server::builder().bootstrap().collect_garbage();
        let server = server.definition(&definition).unwrap();
        let builder = ControlPlane::builder().server(server);
        let plane = rules.into_iter().fold(builder, |builder, rule| builder.simulate(rule));
        let plane = plane.build().await;
        let client = Client::new(plane.server().clone(), "default");
        let running = plane.clone();
        tokio::spawn(async move { running.run().await });
        tokio::spawn(run(client.clone()));
        let databases = Api::default_namespaced(client.clone());
        let (pods, jobs) =
            (Api::default_namespaced(client.clone()), Api::default_namespaced(client));
        Cluster { plane, databases, pods, jobs }
    }

    async fn create(&self, members: i32) {
        let spec = DatabaseSpec { members, version: "v1".to_owned() };
        self.databases.create(&PostParams::default(), &Database::new("db", spec)).await.unwrap();
    }

    /// Waits until the database is so far with a version.
    async fn reaches(&self, version: &str, phase: Phase) {
        let is_there = |database: Option<&Database>| {
            let status = database.and_then(|it| it.status.as_ref());
            status.is_some_and(|status| status.version == version && status.phase == phase)
        };
        let reached = await_condition(self.databases.clone(), "db", is_there);
        tokio::time::timeout(Duration::from_secs(60), reached).await.expect("in time").unwrap();
    }

    async fn pass(&self, seconds: u64) {
        self.plane.advance(Duration::from_secs(seconds)).await.unwrap();
    }

    async fn images(&self) -> Vec<String> {
        let members = ListParams::default().labels("database=db");
        let members = self.pods.list(&members).await.unwrap().items;
        let image = |pod: Pod| pod.spec?.containers.first()?.image.clone();
        members.into_iter().filter_map(image).collect()
    }
}

#[tokio::test]
async fn a_database_is_ready_when_its_data_are() {
    let cluster = Cluster::with([]).await;
    cluster.create(3).await;
    cluster.reaches("v1", Phase::Migrating).await;
    assert_eq!(cluster.images().await, ["database:v1"; 3]);
    cluster.pass(3).await;
    cluster.reaches("v1", Phase::Ready).await;
}

#[tokio::test]
async fn a_new_version_comes_to_all_members_before_the_data() {
    let cluster = Cluster::with([]).await;
    cluster.create(2).await;
    cluster.reaches("v1", Phase::Migrating).await;
    cluster.pass(3).await;
    let change = json!({"spec": {"version": "v2"}});
    cluster.databases.patch("db", &PatchParams::default(), &Patch::Merge(&change)).await.unwrap();
    cluster.reaches("v2", Phase::Migrating).await;
    assert_eq!(cluster.images().await, ["database:v2"; 2]);
    cluster.pass(3).await;
    cluster.reaches("v2", Phase::Ready).await;
}

#[tokio::test]
async fn a_slow_member_is_waited_for() {
    let slow = Rule::pods("db-1").get_ready().after(Duration::from_secs(600));
    let cluster = Cluster::with([slow]).await;
    cluster.create(2).await;
    cluster.reaches("v1", Phase::Starting).await;
    cluster.pass(599).await;
    assert_eq!(cluster.jobs.get_opt("db-v1").await.unwrap(), None);
    cluster.pass(1).await;
    cluster.reaches("v1", Phase::Migrating).await;
}

#[tokio::test]
async fn a_migration_is_tried_three_times() {
    let cluster = Cluster::with([Rule::pods("db-v1-*").exits(1)]).await;
    cluster.create(1).await;
    cluster.reaches("v1", Phase::Migrating).await;
    cluster.pass(29).await;
    cluster.reaches("v1", Phase::Migrating).await;
    cluster.pass(3).await;
    cluster.reaches("v1", Phase::Failed).await;
    let status = cluster.jobs.get("db-v1").await.unwrap().status.unwrap();
    assert_eq!(status.failed, Some(3));
}

#[tokio::test]
async fn nothing_of_a_deleted_database_is_left() {
    let cluster = Cluster::with([]).await;
    cluster.create(2).await;
    cluster.reaches("v1", Phase::Migrating).await;
    let uid = cluster.databases.get("db").await.unwrap().uid().unwrap();
    cluster.databases.delete("db", &DeleteParams::foreground()).await.unwrap();
    let is_gone = await_condition(cluster.databases.clone(), "db", conditions::is_deleted(&uid));
    tokio::time::timeout(Duration::from_secs(60), is_gone).await.expect("in time").unwrap();
    assert_eq!(cluster.images().await, Vec::<String>::new());
    assert_eq!(cluster.jobs.get_opt("db-v1").await.unwrap(), None);
}
