//! The addresses and ports of services, of which no two may have the same (BK-202, BK-203).

use std::sync::Arc;

use billhook_admission::Allocator;
use billhook_apimachinery::Status;
use billhook_apimachinery::record::text;
use billhook_decode::read_json;
use billhook_kinds::{AllocationError, ServiceAllocator};
use serde_json::Value;

use crate::shared::{Change, Controller, Shared};

/// Remembers what the services that are stored have.
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
        let now = server.storage.get(change.collection, change.key);
        let mut allocated = server.allocated_by_services();
        if let Some(service) = change.before.and_then(|before| read_json(&before.text).ok()) {
            allocated.remove(service.value());
        }
        if let Some(service) = now.and_then(|now| read_json(&now.text).ok()) {
            allocated.add(service.value());
        }
    }
}

/// A number that differs from service to service: an address that was given back is not given again
/// at once.
fn seed(service: &Value) -> u64 {
    let uid = service.get("metadata").map_or("", |metadata| text(metadata, "uid"));
    uid.bytes().fold(0, |seed: u64, byte| seed.wrapping_mul(31).wrapping_add(byte.into()))
}

/// Allocates for the services of a server.
struct OfServices(Arc<Shared>);

impl Allocator for OfServices {
    fn allocate(&self, service: &mut Value, old: Option<&Value>) -> Result<(), Status> {
        let server = &self.0;
        let allocated = server.allocated_by_services();
        let allocator = ServiceAllocator::new(&server.settings.service_ranges, &allocated);
        let allocator = allocator.kubernetes(server.settings.kubernetes).seed(seed(service));
        allocator.allocate(service, old).map_err(|error| match error {
            AllocationError::Invalid(errors) => {
                let name = service.get("metadata").map_or("", |metadata| text(metadata, "name"));
                Status::invalid("", "Service", name, &errors)
            }
            error => Status::internal_error(&error.to_string()),
        })
    }
}
