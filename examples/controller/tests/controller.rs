//! The controller on a cluster in process: no other program, no socket, nothing to clean up.

#![allow(
    clippy::allow_attributes,
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "helpers of tests may fail the test"
)]

use std::collections::BTreeMap;
use std::pin::pin;
use std::time::Duration;

use billhook::UserInfo;
use billhook_apiserver::{AuthorizationMode, Server};
use billhook_control_plane::ControlPlane;
use billhook_example_controller::{Leadership, Site, SiteSpec, run};
use futures_util::StreamExt as _;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::api::events::v1::Event;
use kube::api::{DeleteParams, DynamicObject, Patch, PatchParams, PostParams};
use kube::discovery::{Discovery, Scope};
use kube::runtime::reflector::{self, ObjectRef};
use kube::runtime::wait::{await_condition, conditions};
use kube::runtime::{WatchStreamExt as _, watcher};
use kube::{Api, Client, CustomResourceExt as _, ResourceExt as _};
use serde_json::json;

/// A client of a new cluster that knows sites.
async fn client() -> Client {
    let definition = serde_json::to_value(Site::crd()).unwrap();
    let server = Server::builder().collect_garbage().definition(&definition).unwrap();
    let plane = ControlPlane::builder().server(server).build().await;
    let client = Client::new(plane.server().clone(), "default");
    tokio::spawn(async move { plane.run().await });
    client
}

fn site(pages: &[&str]) -> Site {
    let pages = pages.iter().map(|name| ((*name).to_owned(), "text".to_owned())).collect();
    Site::new("blog", SiteSpec { pages, language: "en".to_owned() })
}

/// Fails a test that waits too long.
async fn soon<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), work).await.expect("done by now")
}

fn is_published(generation: i64) -> impl Fn(Option<&Site>) -> bool {
    move |site| {
        let status = site.and_then(|site| site.status.as_ref());
        status.is_some_and(|status| status.observed_generation == generation)
    }
}

#[tokio::test]
async fn a_site_is_published_and_followed() {
    let client = client().await;
    let sites = Api::<Site>::default_namespaced(client.clone());
    let children = Api::<ConfigMap>::default_namespaced(client.clone());
    tokio::spawn(run(client.clone()));

    sites.create(&PostParams::default(), &site(&["home", "about"])).await.unwrap();
    let published = soon(await_condition(sites.clone(), "blog", is_published(1))).await.unwrap();
    assert_eq!(published.unwrap().status.unwrap().pages, 2);
    let child = children.get("blog").await.unwrap();
    assert_eq!(child.data.unwrap().len(), 2);
    assert_eq!(child.metadata.owner_references.unwrap()[0].kind, "Site");

    let change = json!({"spec": {"pages": {"about": null, "home": "changed"}}});
    sites.patch("blog", &PatchParams::default(), &Patch::Merge(&change)).await.unwrap();
    soon(await_condition(sites.clone(), "blog", is_published(2))).await.unwrap();
    let changed = BTreeMap::from([("home".to_owned(), "changed".to_owned())]);
    assert_eq!(children.get("blog").await.unwrap().data, Some(changed));

    let events = Api::<Event>::default_namespaced(client.clone());
    let recorded = watcher(events, watcher::Config::default()).applied_objects();
    let is_of_both = |event: &Event| event.note.as_deref() == Some("the site has 2 pages");
    soon(recorded.any(async |event| event.is_ok_and(|event| is_of_both(&event)))).await;
}

#[tokio::test]
async fn a_deleted_child_comes_back() {
    let client = client().await;
    let sites = Api::<Site>::default_namespaced(client.clone());
    let children = Api::<ConfigMap>::default_namespaced(client.clone());
    tokio::spawn(run(client));
    sites.create(&PostParams::default(), &site(&["home"])).await.unwrap();
    soon(await_condition(sites.clone(), "blog", is_published(1))).await.unwrap();
    let first = children.get("blog").await.unwrap().uid();
    children.delete("blog", &DeleteParams::default()).await.unwrap();
    let is_new = |child: Option<&ConfigMap>| child.is_some_and(|child| child.uid() != first);
    soon(await_condition(children.clone(), "blog", is_new)).await.unwrap();
}

#[tokio::test]
async fn a_site_goes_with_its_child() {
    let client = client().await;
    let sites = Api::<Site>::default_namespaced(client.clone());
    let children = Api::<ConfigMap>::default_namespaced(client.clone());
    tokio::spawn(run(client));
    let uid = sites.create(&PostParams::default(), &site(&["home"])).await.unwrap().uid().unwrap();
    soon(await_condition(sites.clone(), "blog", is_published(1))).await.unwrap();
    let deleted = sites.delete("blog", &DeleteParams::default()).await.unwrap();
    assert!(deleted.left().is_some(), "the finalizer keeps it");
    soon(await_condition(sites, "blog", conditions::is_deleted(&uid))).await.unwrap();
    assert_eq!(children.get_opt("blog").await.unwrap(), None);
}

/// The server validates as a cluster would: by the schema of the definition.
#[tokio::test]
async fn a_site_without_pages_is_refused() {
    let sites = Api::<Site>::default_namespaced(client().await);
    let refused = sites.create(&PostParams::default(), &site(&[])).await.unwrap_err();
    let kube::Error::Api(status) = refused else { panic!("{refused}") };
    assert_eq!(status.code, 422);
    assert!(status.message.contains("spec.pages in body should have at least 1 properties"));
}

#[tokio::test]
async fn one_instance_leads() {
    let client = client().await;
    let candidate = |name| Leadership::new(client.clone(), "sites", name, 3600);
    let (first, second) = (candidate("first"), candidate("second"));
    let (one, two) = tokio::join!(first.try_acquire(), second.try_acquire());
    assert_ne!(one.unwrap(), two.unwrap(), "of two that try at once, one leads");
    let leases = Api::<Lease>::default_namespaced(client.clone());
    let long_ago = json!({"spec": {"holderIdentity": "third", "leaseTransitions": 7,
        "renewTime": "2020-01-01T00:00:00.000000Z"}});
    leases.patch("sites", &PatchParams::default(), &Patch::Merge(&long_ago)).await.unwrap();
    soon(second.acquire()).await.unwrap();
    let lease = leases.get("sites").await.unwrap().spec.unwrap();
    assert_eq!(lease.holder_identity.as_deref(), Some("second"));
    assert_eq!(lease.lease_transitions, Some(8));
    assert!(!first.try_acquire().await.unwrap());
}

/// Clients that know no types find them by discovery.
#[tokio::test]
async fn sites_are_discovered() {
    let client = client().await;
    let discovery = Discovery::new(client.clone()).run().await.unwrap();
    let group = discovery.get("example.com").unwrap();
    let (resource, capabilities) = group.recommended_kind("Site").unwrap();
    assert_eq!(capabilities.scope, Scope::Namespaced);
    let sites = Api::<DynamicObject>::default_namespaced_with(client, &resource);
    let object = DynamicObject::new("blog", &resource).data(json!({"spec": {"pages": {"a": "b"}}}));
    let created = sites.create(&PostParams::default(), &object).await.unwrap();
    assert_eq!(created.data["spec"]["language"], "en", "defaults come from the definition");
}

#[tokio::test]
async fn a_reflector_keeps_up() {
    let client = client().await;
    let sites = Api::<Site>::default_namespaced(client);
    let (store, writer) = reflector::store();
    let stream = watcher(sites.clone(), watcher::Config::default());
    let mut stream = pin!(stream.default_backoff().reflect(writer).applied_objects());
    sites.create(&PostParams::default(), &site(&["home"])).await.unwrap();
    soon(stream.next()).await.unwrap().unwrap();
    let change = json!({"spec": {"language": "fr"}});
    sites.patch("blog", &PatchParams::default(), &Patch::Merge(&change)).await.unwrap();
    soon(stream.next()).await.unwrap().unwrap();
    let kept = store.get(&ObjectRef::new("blog").within("default")).unwrap();
    assert_eq!(kept.spec.language, "fr");
}

/// The roles that the controller is installed with.
const PERMISSIONS: &str = r#"
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: site-controller}
rules:
- {apiGroups: [example.com], resources: [sites, sites/status], verbs: [list, watch, patch]}
- {apiGroups: [""], resources: [configmaps], verbs: [list, watch, patch, delete]}
- {apiGroups: [events.k8s.io], resources: [events], verbs: [create]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: site-controller}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: site-controller}
subjects: [{kind: ServiceAccount, name: site-controller, namespace: default}]
"#;

/// The controller works as its service account, with no more than its roles allow.
#[tokio::test]
async fn the_roles_of_the_controller_suffice() {
    let definition = serde_json::to_value(Site::crd()).unwrap();
    let server = Server::builder().authorization_mode(AuthorizationMode::Rbac).log_requests();
    let server = server.definition(&definition).unwrap().build();
    server.load_text(PERMISSIONS).await.unwrap();
    let account = server.acting_as(UserInfo::service_account("default", "site-controller"));
    tokio::spawn(run(Client::new(account, "default")));

    let sites = Api::<Site>::default_namespaced(Client::new(server.clone(), "default"));
    let uid = sites.create(&PostParams::default(), &site(&["home"])).await.unwrap().uid().unwrap();
    soon(await_condition(sites.clone(), "blog", is_published(1))).await.unwrap();
    sites.delete("blog", &DeleteParams::default()).await.unwrap();
    soon(await_condition(sites, "blog", conditions::is_deleted(&uid))).await.unwrap();
    let refused = server.requests().refused();
    assert!(refused.iter().all(|request| request.code != 403), "{refused}");
}
