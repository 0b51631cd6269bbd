//! The addresses and ports of services, of which no two may have the same (BK-202, BK-203).

use std::sync::Arc;

use billhook_admission::{Allocator, ObjectRequest};
use billhook_apimachinery::Status;
use billhook_apimachinery::record::text;
use billhook_decode::{Document, read_json};
use billhook_kinds::{AllocationError, ServiceAllocator};
use serde_json::{Value, json};

use crate::shared::{Change, Controller, Shared, Work, Written};
use crate::storage::{Collection, Object, Storage as _, Write};
use crate::write_path::{admit_own, object_key};

/// Remembers what the services that are stored have, and keeps the objects that belong to them.
#[derive(Debug)]
pub(super) struct Services;

impl Controller for Services {
    fn watches(&self, group: &str, plural: &str) -> bool {
        (group, plural) == ("", "services")
    }

    fn allocator(&self, server: &Arc<Shared>) -> Option<Arc<dyn Allocator>> {
        Some(Arc::new(OfServices(Arc::clone(server))))
    }

    fn take_over(&self, server: &Shared, change: &Change<'_>) {
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
        let released = had.iter().filter(|address| !kept.contains(address));
        released.for_each(|address| remove(server, &ip_addresses(), address));
        if now.is_none() {
            remove(server, &Collection::new("", "endpoints"), change.key);
        }
    }

    /// Each address of a service is an object of its own (BK-202).
    fn after<'w>(&self, server: &'w Arc<Shared>, written: &Written<'w>) -> Option<Work<'w>> {
        let metadata = written.accepted?.returned.as_deref()?.get("metadata")?;
        let key = object_key(text(metadata, "namespace"), text(metadata, "name"));
        // Of a dry run nothing is stored.
        let service = server.read_object("", "services", &key)?;
        let is_missing = |address: &String| server.storage.get(&ip_addresses(), address).is_none();
        let missing: Vec<String> = addresses(&service).into_iter().filter(is_missing).collect();
        let resource = server.catalog().native(IP_ADDRESSES).filter(|_| !missing.is_empty())?;
        Some(Box::pin(async move {
            for address in missing {
                let body = billhook::to_json(&ip_address(&service, &address));
                let request = ObjectRequest::create("v1", &[]).body(body);
                admit_own(server, &resource, request.field_manager("kube-apiserver")).await;
            }
        }))
    }
}

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
                "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
            },
        },
        "spec": {"parentRef": {
            "resource": "services",
            "namespace": text(metadata, "namespace"),
            "name": text(metadata, "name"),
        }},
    })
}

/// Removes an object that belongs to a service, if it is there.
fn remove(server: &Shared, collection: &Collection, key: &str) {
    let Some(stored) = server.storage.get(collection, key) else { return };
    if server.storage.write(collection, key, Write::delete(stored.modified)).is_ok() {
        server.take_over(&Change { collection, key, before: Some(&stored) });
    }
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
