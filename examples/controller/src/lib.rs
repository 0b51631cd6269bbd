//! A controller of `Site`s. Each site has a ConfigMap with its pages, which is written by server-side
//! apply, brought back when it is deleted, and deleted before the site is gone.
//!
//! `tests/controller.rs` shows how all of it is tested in milliseconds, without a cluster.

mod leader;

use std::collections::BTreeMap;
use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{DeleteParams, ObjectMeta, Patch, PatchParams};
use kube::runtime::controller::Action;
use kube::runtime::events::{Event, EventType, Recorder};
use kube::runtime::finalizer::{self, finalizer};
use kube::runtime::{Controller, watcher};
use kube::{Api, Client, CustomResource, Resource as _, ResourceExt as _};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub use leader::Leadership;

/// The name of the controller: the manager of its fields and the reporter of its events.
const CONTROLLER: &str = "site-controller";
const FINALIZER: &str = "sites.example.com/pages";

/// A site, as a user wants it.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "example.com", version = "v1", kind = "Site", namespaced, status = "SiteStatus")]
pub struct SiteSpec {
    /// The pages by name.
    #[schemars(extend("minProperties" = 1))]
    pub pages: BTreeMap<String, String>,
    /// The language of the pages.
    #[serde(default = "english")]
    pub language: String,
}

fn english() -> String {
    "en".to_owned()
}

/// A site, as the controller left it.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SiteStatus {
    /// The generation of the site that is published.
    pub observed_generation: i64,
    /// How many pages it has.
    pub pages: u32,
}

/// The client and the recorder of each reconciliation.
struct Context {
    client: Client,
    recorder: Recorder,
}

/// Runs the controller until its future is dropped.
pub async fn run(client: Client) {
    let sites = Api::<Site>::all(client.clone());
    let children = Api::<ConfigMap>::all(client.clone());
    let recorder = Recorder::new(client.clone(), CONTROLLER.into());
    Controller::new(sites, watcher::Config::default())
        .owns(children, watcher::Config::default())
        .run(reconcile, on_error, Arc::new(Context { client, recorder }))
        .for_each(|_| ready(()))
        .await;
}

async fn reconcile(
    site: Arc<Site>,
    context: Arc<Context>,
) -> Result<Action, finalizer::Error<kube::Error>> {
    let namespace = site.namespace().unwrap_or_default();
    let sites = Api::<Site>::namespaced(context.client.clone(), &namespace);
    finalizer(&sites, FINALIZER, site, async |event| match event {
        finalizer::Event::Apply(site) => publish(&site, &sites, &context).await,
        finalizer::Event::Cleanup(site) => remove(&site, &context).await,
    })
    .await
}

fn on_error(_: Arc<Site>, _: &finalizer::Error<kube::Error>, _: Arc<Context>) -> Action {
    Action::requeue(Duration::from_secs(5))
}

async fn publish(site: &Site, sites: &Api<Site>, context: &Context) -> Result<Action, kube::Error> {
    let name = site.name_any();
    let child = ConfigMap {
        metadata: ObjectMeta {
            name: Some(name.clone()),
            labels: Some([("language".to_owned(), site.spec.language.clone())].into()),
            owner_references: site.controller_owner_ref(&()).map(|owner| vec![owner]),
            ..ObjectMeta::default()
        },
        data: Some(site.spec.pages.clone()),
        ..ConfigMap::default()
    };
    let apply = PatchParams::apply(CONTROLLER).force();
    children(site, context).patch(&name, &apply, &Patch::Apply(&child)).await?;

    let generation = site.metadata.generation.unwrap_or_default();
    if site.status.as_ref().is_some_and(|status| status.observed_generation == generation) {
        return Ok(Action::await_change());
    }
    let pages = u32::try_from(site.spec.pages.len()).unwrap_or(u32::MAX);
    let status = json!({
        "apiVersion": Site::api_version(&()), "kind": Site::kind(&()),
        "status": SiteStatus { observed_generation: generation, pages },
    });
    sites.patch_status(&name, &apply, &Patch::Apply(&status)).await?;
    let event = Event {
        type_: EventType::Normal,
        reason: "Published".to_owned(),
        note: Some(format!("the site has {pages} pages")),
        action: "Publish".to_owned(),
        secondary: None,
    };
    context.recorder.publish(&event, &site.object_ref(&())).await?;
    Ok(Action::await_change())
}

async fn remove(site: &Site, context: &Context) -> Result<Action, kube::Error> {
    match children(site, context).delete(&site.name_any(), &DeleteParams::default()).await {
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(Action::await_change()),
        deleted => deleted.map(|_| Action::await_change()),
    }
}

fn children(site: &Site, context: &Context) -> Api<ConfigMap> {
    Api::namespaced(context.client.clone(), &site.namespace().unwrap_or_default())
}
