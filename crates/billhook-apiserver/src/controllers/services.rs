//! The addresses and ports of services, of which no two may have the same (BK-202, BK-203).

use std::collections::BTreeSet;
use std::sync::Arc;

use billhook::DeepValue;
use billhook_admission::{Allocator, ObjectRequest};
use billhook_apimachinery::Status;
use billhook_apimachinery::record::text;
use billhook_decode::{Document, read_json};
use billhook_kinds::{AllocationError, ServiceAllocator};
use serde_json::{Value, json};

use super::{initial, presence};
use crate::resources::Resource;
use crate::shared::{Change, Controller, Shared, Work, Written};
use crate::storage::{Collection, Object, Range, Write};
use crate::write_path::{admit_own, object_key};

/// Remembers what the services that are stored have, and keeps the objects that belong to them.
#[derive(Debug)]
pub(super) struct Services;

impl Controller for Services {
    /// Every write, as services may go with something else, such as their namespace.
    fn watches(&self, _: &str, _: &str) -> bool {
        true
    }

    fn allocator(&self, server: &Arc<Shared>, resource: &Resource) -> Option<Arc<dyn Allocator>> {
        is_of_services(&resource.collection).then(|| Arc::new(OfServices(Arc::clone(server))) as _)
    }

    fn take_over(&self, server: &Shared, change: &Change<'_>) {
        if !is_of_services(change.collection) {
            return;
        }
        let read =
            |object: Option<&Object>| read_json(&object?.text).ok().map(Document::into_value);
        let now = server.storage.get(change.collection, change.key);
        let (before, now) = (read(change.before), read(now.as_ref()));
        {
            let mut allocated = server.allocated_by_services();
            before.as_deref().into_iter().for_each(|before| allocated.remove(before));
            now.as_deref().into_iter().for_each(|now| allocated.add(now));
        }
        let kept = now.as_deref().map(addresses).unwrap_or_default();
        let had = before.as_deref().map(addresses).unwrap_or_default();
        let released = had.into_iter().filter(|address| !kept.contains(address));
        let mut released: Vec<_> = released.map(|address| (ip_addresses(), address)).collect();
        if now.is_none() {
            released.push((Collection::new("", "endpoints"), change.key.to_owned()));
        }
        server.released_by_services().extend(released);
    }

    fn after<'w>(&self, server: &'w Arc<Shared>, written: &Written<'w>) -> Option<Work<'w>> {
        let service = written_service(server, written);
        let has_work = service.is_some() || !server.released_by_services().is_empty();
        has_work.then(|| -> Work<'w> {
            Box::pin(async move {
                remove_released(server).await;
                if let Some(service) = service {
                    create_addresses(server, &service).await;
                }
            })
        })
    }

    fn resume<'w>(&self, server: &'w Arc<Shared>) -> Option<Work<'w>> {
        Some(Box::pin(async move {
            let services = server.read_objects("", "services", "");
            let kept: BTreeSet<String> = services.iter().flat_map(|it| addresses(it)).collect();
            let listed = server.storage.list(&ip_addresses(), Range::default()).objects;
            let is_left = |object: &Object| !kept.contains(&*object.key) && is_managed(object);
            let left = listed.into_iter().filter(is_left);
            let left = left.map(|object| (ip_addresses(), object.key.to_string()));
            server.released_by_services().extend(left);
            remove_released(server).await;
            for service in services {
                create_addresses(server, &service).await;
            }
        }))
    }
}

fn is_of_services(collection: &Collection) -> bool {
    collection.parts() == ("", "services")
}

/// Returns the service that was written, as it is stored.
fn written_service(server: &Shared, written: &Written<'_>) -> Option<DeepValue> {
    if !is_of_services(&written.resource.collection) {
        return None;
    }
    let metadata = |name| written.accepted?.metadata(name)?.as_str();
    let key = object_key(metadata("namespace").unwrap_or_default(), metadata("name")?);
    // Of a dry run nothing is stored.
    server.read_object("", "services", &key)
}

/// Creates the objects of a service's addresses that are missing: each is an object of its own
/// (BK-202).
async fn create_addresses(server: &Arc<Shared>, service: &Value) {
    let is_missing = |address: &String| server.storage.get(&ip_addresses(), address).is_none();
    let missing: Vec<String> = addresses(service).into_iter().filter(is_missing).collect();
    let resource = server.catalog().native(IP_ADDRESSES).filter(|_| !missing.is_empty());
    let Some(resource) = resource else { return };
    for address in missing {
        let body = billhook::to_json(&ip_address(service, &address));
        let request = ObjectRequest::create("v1", &[]).body(body);
        admit_own(server, &resource, request.field_manager("kube-apiserver")).await;
    }
}

/// Removes the objects that belonged to services, and creates the server's own service if it has gone
/// (BK-680). What cannot be done is left to `resume`, or to the next start.
async fn remove_released(server: &Arc<Shared>) {
    let released = std::mem::take(&mut *server.released_by_services());
    let lost_own = released.iter().any(|(_, key)| key == OWN_SERVICE);
    for (collection, key) in released {
        let Some(stored) = server.storage.get(&collection, &key) else { continue };
        let _failed = server.storage.write(&collection, &key, Write::delete(stored.modified)).await;
    }
    if lost_own && server.settings.bootstraps {
        let _failed = initial::create_service(server).await;
        let _failed = presence::publish_endpoints(server).await;
        if let Some(service) = server.read_object("", "services", OWN_SERVICE) {
            create_addresses(server, &service).await;
        }
    }
}

/// Whether an address is kept by the server, not by a client.
fn is_managed(object: &Object) -> bool {
    let document = read_json(&object.text).ok().map(Document::into_value);
    let by = document.as_deref().and_then(|it| it.pointer("/metadata/labels"));
    by.is_some_and(|labels| text(labels, MANAGED_BY) == MANAGER)
}

/// The service of the server itself.
const OWN_SERVICE: &str = "default/kubernetes";

const MANAGED_BY: &str = "ipaddress.kubernetes.io/managed-by";
const MANAGER: &str = "ipallocator.k8s.io";
const IP_ADDRESSES: &str = "ipaddresses.networking.k8s.io";

fn ip_addresses() -> Collection {
    Collection::new("networking.k8s.io", "ipaddresses")
}

/// The addresses that were allocated to a service.
fn addresses(service: &Value) -> Vec<String> {
    let all = service.pointer("/spec/clusterIPs").and_then(Value::as_array).into_iter().flatten();
    all.filter_map(Value::as_str).filter(|address| *address != "None").map(str::to_owned).collect()
}

/// The object of an address of a service.
fn ip_address(service: &Value, address: &str) -> Value {
    let metadata = service.get("metadata").unwrap_or(&Value::Null);
    let family = if address.contains(':') { "IPv6" } else { "IPv4" };
    json!({
        "apiVersion": "networking.k8s.io/v1", "kind": "IPAddress",
        "metadata": {
            "name": address,
            "labels": {
                "ipaddress.kubernetes.io/ip-family": family,
                MANAGED_BY: MANAGER,
            },
        },
        "spec": {"parentRef": {
            "resource": "services",
            "namespace": text(metadata, "namespace"),
            "name": text(metadata, "name"),
        }},
    })
}

/// A number that differs from service to service and from write to write: an address that was given
/// back is not given again at once.
fn seed(service: &Value) -> u64 {
    let metadata = service.get("metadata").unwrap_or(&Value::Null);
    let bytes =
        ["uid", "resourceVersion"].into_iter().flat_map(|name| text(metadata, name).bytes());
    bytes.fold(0, |seed: u64, byte| seed.wrapping_mul(31).wrapping_add(byte.into()))
}

/// Allocates for the services of a server.
struct OfServices(Arc<Shared>);

impl Allocator for OfServices {
    fn allocate(
        &self,
        service: &mut Value,
        old: Option<&Value>,
        dry_run: bool,
    ) -> Result<(), Status> {
        let server = &self.0;
        let allocated = server.allocated_by_services();
        let allocator = ServiceAllocator::new(&server.settings.service_ranges, &allocated);
        let seed = if dry_run { 0 } else { seed(service) };
        let allocator = allocator.kubernetes(server.settings.kubernetes).seed(seed);
        allocator.allocate(service, old).map_err(|error| match error {
            AllocationError::Invalid(errors) => {
                let name = service.get("metadata").map_or("", |metadata| text(metadata, "name"));
                Status::invalid("", "Service", name, &errors)
            }
            error => Status::internal_error(&error.to_string()),
        })
    }
}
