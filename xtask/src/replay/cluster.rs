//! The cluster of a scenario: definitions, namespaces and stored objects, and the write path that
//! requests take.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use billhook::webhook::{Authorizer, Operation, WebhookConfiguration};
use billhook::{
    CrdVersion, CustomResourceDefinition, GroupVersionResource, KubernetesVersion, Status, UserInfo,
};
use billhook_admission::{
    Admission, Chain, MemoryCluster, ObjectRequest, Plugin, PluginRequest, Stage, StoreError,
    StoreWrite, StoredObject, UpdateForm,
};
use billhook_apimachinery::split_api_version;
use billhook_apimachinery::value::DeepValue;
use billhook_cel::{AuthorizationDecision, AuthorizationRequest};
use billhook_kinds::{Kind, register_kinds};
use billhook_policy::{PolicyDocument, PolicySet};
use billhook_webhook_client::{HttpsCaller, ResolveError, ServiceAddress, ServiceResolver};
use serde_json::{Value, json};

use super::pointer::text;
use super::request::{Request, Route};
use super::response::Response;

/// The configurations that are active when the request comes.
#[derive(Default)]
pub(super) struct Configurations {
    pub(super) webhooks: Vec<WebhookConfiguration>,
    /// Policies and bindings, as they were written.
    pub(super) policies: Vec<Value>,
}

impl Configurations {
    pub(super) fn is_empty(&self) -> bool {
        self.webhooks.is_empty() && self.policies.is_empty()
    }
}

/// A resource that is served, with its objects.
struct Resource {
    definition: CustomResourceDefinition,
    /// The kind, if it is built in.
    kind: Option<&'static Kind>,
    objects: Arc<Objects>,
}

/// The stored objects by namespace and name.
#[derive(Default)]
struct Objects(Mutex<BTreeMap<(String, String), StoredObject>>);

impl Objects {
    fn get(&self, namespace: &str, name: &str) -> Option<StoredObject> {
        let objects = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        objects.get(&(namespace.to_owned(), name.to_owned())).cloned()
    }

    fn all(&self) -> Vec<StoredObject> {
        let objects = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        objects.values().cloned().collect()
    }

    fn of_namespace(&self, namespace: &str) -> Vec<StoredObject> {
        let objects = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_namespace = objects.iter().filter(|((of, _), _)| of == namespace);
        of_namespace.map(|(_, object)| object.clone()).collect()
    }

    fn write(&self, write: StoreWrite<'_>) -> Result<String, StoreError> {
        let mut objects = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (write.namespace.to_owned(), write.name.to_owned());
        let found = objects.get(&key);
        if found != write.expected {
            return Err(StoreError::Mismatch(found.cloned()));
        }
        let before = found.map_or(FIRST_REVISION, |found| {
            found.resource_version.parse().unwrap_or(FIRST_REVISION)
        });
        let revision = before + 1;
        match write.object {
            _ if write.dry_run => {}
            Some(object) => {
                let object =
                    StoredObject::new(object.clone()).resource_version(revision.to_string());
                objects.insert(key, object);
            }
            None => {
                objects.remove(&key);
            }
        }
        Ok(revision.to_string())
    }
}

/// The first revision of objects: a server has written others before.
const FIRST_REVISION: u64 = 100;

/// The cluster of a scenario.
pub(super) struct Cluster {
    resources: Vec<Resource>,
    namespaces: Vec<DeepValue>,
}

impl Cluster {
    /// A cluster with definitions and namespaces.
    pub(super) fn new(crds: &[DeepValue], namespaces: &[DeepValue]) -> Result<Self, String> {
        let resource = |crd: &DeepValue| {
            let definition = CustomResourceDefinition::from_value(crd);
            let definition = definition.map_err(|error| error.to_string())?;
            Ok(Resource { definition, kind: None, objects: Arc::default() })
        };
        Ok(Cluster {
            resources: crds.iter().map(resource).collect::<Result<_, String>>()?,
            namespaces: namespaces.to_vec(),
        })
    }

    /// Serves a built-in kind, too.
    fn serve(&mut self, kind: &'static Kind) -> Result<(), String> {
        let is_it = |known: &Resource| known.kind.is_some_and(|known| std::ptr::eq(known, kind));
        if self.resources.iter().any(is_it) {
            return Ok(());
        }
        let compiled = kind.compile(KubernetesVersion::default()).ok_or("no fields are known")?;
        let definition = compiled.map_err(|error| error.to_string())?;
        self.resources.push(Resource { definition, kind: Some(kind), objects: Arc::default() });
        Ok(())
    }

    /// Creates an object before webhooks act, with its status.
    pub(super) async fn create(&mut self, object: &Value) -> Result<(), String> {
        let api_version = text(object, "/apiVersion");
        let (group, version) = split_api_version(api_version);
        let kind = text(object, "/kind");
        if let Some(kind) = Kind::named(api_version, kind) {
            self.serve(kind)?;
        }
        let found = self.resources.iter().find(|resource| {
            resource.definition.group() == group && resource.definition.kind() == kind
        });
        let resource = found.ok_or_else(|| format!("nothing serves {api_version} {kind}"))?;
        let (namespace, name) =
            (text(object, "/metadata/namespace"), text(object, "/metadata/name"));
        let admission = resource.admission(Chain::new(caller()))?;
        let body = billhook::to_json(object).into_bytes();
        let create = ObjectRequest::create(version, &body).namespace(namespace);
        let world = self.world().await?;
        admission.admit(&create, &world).await.result.map_err(|status| status.to_string())?;
        if object.get("status").is_none() {
            return Ok(());
        }
        let stored = resource.objects.get(namespace, name).unwrap_or_default();
        let update = ObjectRequest::update(version, &body, b"").stored(stored).status_update();
        let update = admission.admit(&update.namespace(namespace), &world).await;
        update.result.map(drop).map_err(|status| status.to_string())
    }

    /// Answers a request; none if only an API server could.
    pub(super) async fn handle(
        &mut self,
        request: &Request,
        configurations: &Configurations,
    ) -> Result<Option<Response>, String> {
        let Some(route) = request.route() else { return Ok(None) };
        if let Some(kind) = route.kind() {
            self.serve(kind)?;
        }
        let world = self.world().await?;
        let Some(resource) = self.resource(&route) else { return Ok(None) };
        let stored = resource.objects.get(route.namespace, route.name);
        let stored = stored.unwrap_or_default();
        let Some(object_request) = request.object_request(&route, stored.clone()) else {
            return Ok(None);
        };
        if object_request.is_in_collection {
            let chain = || self.chain(configurations);
            return resource.delete_all(&route, &object_request, &world, chain).await.map(Some);
        }
        let is_new = stored.bytes.is_empty();
        let is_apply = object_request.form == UpdateForm::ServerSideApply;
        let creates = object_request.operation == Operation::Create
            || is_apply && object_request.subresource.is_none();
        if is_new && !creates {
            let known = GroupVersionResource::new(route.group, route.version, route.resource);
            return Ok(Some(Response::refused(&Status::not_found(&known, route.name))));
        }
        let admission = resource.admission(self.chain(configurations))?;
        let outcome = admission.admit(&object_request, &world).await;
        let annotations = outcome.annotations.iter();
        let annotations = annotations.map(|(key, found)| (key.to_owned(), found.value.clone()));
        let answer = match outcome.result {
            Err(status) => Response::refused(&status),
            Ok(accepted) => {
                let is_gone = accepted.stored.is_none();
                let object = accepted.into_returned().unwrap_or_default();
                match object_request.operation {
                    _ if is_new => Response::new(201, object),
                    Operation::Delete if is_gone => Response::deleted(&route, &object),
                    _ => Response::new(200, object),
                }
            }
        };
        let (warnings, annotations) = (outcome.warnings.texts(), annotations.collect());
        Ok(Some(Response { warnings, annotations, ..answer }))
    }

    fn resource(&self, route: &Route<'_>) -> Option<&Resource> {
        self.resources.iter().find(|resource| {
            resource.definition.name() == format!("{}.{}", route.resource, route.group)
        })
    }

    fn chain(&self, configurations: &Configurations) -> Chain {
        let policies = configurations.policies.iter();
        let policies = policies.filter_map(|value| PolicyDocument::from_value(value).ok());
        Chain::new(caller())
            .webhooks(&configurations.webhooks)
            .policies(PolicySet::new(policies))
            .plugin(NamespaceLifecycle(self.namespaces.clone()))
    }

    /// The world around a request: namespaces, and all objects in all versions.
    async fn world(&self) -> Result<MemoryCluster, String> {
        let mut world = MemoryCluster::new().with_authorizer(Some(Arc::new(AllowAll)));
        register_kinds(&mut world, KubernetesVersion::default());
        for resource in &self.resources {
            world.register_definition(&resource.definition);
            let admission = resource.admission(Chain::new(caller()))?;
            for stored in resource.objects.all() {
                for version in resource.definition.versions().filter(CrdVersion::is_served) {
                    let read = admission.read(version.name(), &stored).await;
                    read.into_iter().for_each(|object| world.insert(object));
                }
            }
        }
        Ok(world)
    }
}

impl Resource {
    /// Deletes the objects of a namespace one after the other (AR-35).
    async fn delete_all(
        &self,
        route: &Route<'_>,
        request: &ObjectRequest,
        world: &MemoryCluster,
        chain: impl Fn() -> Chain,
    ) -> Result<Response, String> {
        let (mut items, mut warnings) = (Vec::new(), Vec::new());
        let mut annotations = BTreeMap::new();
        for stored in self.objects.of_namespace(route.namespace) {
            let request = request.clone().stored(stored);
            let outcome = self.admission(chain())?.admit(&request, world).await;
            warnings.extend(outcome.warnings.texts());
            for (key, found) in outcome.annotations.iter() {
                annotations.entry(key.to_owned()).or_insert_with(|| found.value.clone());
            }
            match outcome.result {
                Err(status) => {
                    return Ok(Response { warnings, annotations, ..Response::refused(&status) });
                }
                Ok(accepted) => {
                    items.push(accepted.into_returned().unwrap_or_default().into_inner())
                }
            }
        }
        let list = json!({
            "apiVersion": format!("{}/{}", route.group, route.version),
            "kind": self.definition.names().list_kind,
            "metadata": {"continue": ""},
            "items": items,
        });
        Ok(Response { warnings, annotations, ..Response::new(200, list.into()) })
    }

    fn admission(&self, chain: Chain) -> Result<Admission, String> {
        let objects = Arc::clone(&self.objects);
        let store = move |write: StoreWrite<'_>| objects.write(write);
        let admission = match self.kind {
            None => Some(Admission::new(self.definition.clone(), chain)),
            Some(kind) => Admission::of_kind(kind, KubernetesVersion::default(), chain),
        };
        Ok(admission.ok_or("no fields are known")?.store(Arc::new(store)))
    }
}

/// Allows everything: the user of the scenarios is an administrator.
#[derive(Debug)]
struct AllowAll;

impl Authorizer for AllowAll {
    fn authorize(&self, _: &UserInfo, _: &AuthorizationRequest) -> AuthorizationDecision {
        AuthorizationDecision::new(true)
    }
}

/// The way to webhooks.
pub(super) fn caller() -> HttpsCaller {
    HttpsCaller::default().resolver(NoServices)
}

/// There are no services.
struct NoServices;

impl ServiceResolver for NoServices {
    fn resolve(&self, service: &ServiceAddress) -> Result<String, ResolveError> {
        Err(format!("service \"{}\" not found", service.name).into())
    }
}

/// Refuses objects in namespaces that do not exist (RE-141).
struct NamespaceLifecycle(Vec<DeepValue>);

impl Plugin for NamespaceLifecycle {
    fn name(&self) -> &str {
        "NamespaceLifecycle"
    }

    fn has_stage(&self, stage: Stage) -> bool {
        stage == Stage::Mutating
    }

    fn handles(&self, operation: Operation) -> bool {
        operation != Operation::Delete
    }

    fn mutate(&self, request: &mut PluginRequest<'_>) -> Result<(), Status> {
        let namespace = &request.attributes().namespace;
        let is_own = request.attributes().resource.is_namespaces();
        let exists = self.0.iter().any(|it| text(it, "/metadata/name") == namespace);
        if is_own || namespace.is_empty() || exists {
            return Ok(());
        }
        Err(Status::not_found(&GroupVersionResource::new("", "v1", "namespaces"), namespace))
    }
}
