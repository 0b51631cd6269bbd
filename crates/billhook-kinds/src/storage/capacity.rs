//! CSIStorageCapacities (BK-435).

use billhook_apimachinery::names::dns1123_subdomain;
use serde_json::Value;

use crate::behavior::{Behavior, Findings, WriteContext};
use crate::rules::{amount_not_negative, immutable, label_selector, named};
use crate::values::{path, text};

/// The rules of capacities of storage.
#[derive(Debug)]
pub(crate) struct CsiStorageCapacity;

impl Behavior for CsiStorageCapacity {
    fn validate(
        &self,
        capacity: &Value,
        old: Option<&Value>,
        context: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        let errors = &mut found.errors;
        let topology = capacity.get("nodeTopology");
        label_selector(errors, &path(&["nodeTopology"]), topology, context.kubernetes);
        let class = text(capacity, "/storageClassName");
        named(errors, &path(&["storageClassName"]), class, dns1123_subdomain);
        for name in ["capacity", "maximumVolumeSize"] {
            if let Some(amount) = capacity.get(name) {
                amount_not_negative(errors, &path(&[name]), amount);
            }
        }
        if let Some(old) = old {
            for name in ["nodeTopology", "storageClassName"] {
                immutable(errors, &path(&[name]), capacity.get(name), old.get(name));
            }
        }
    }
}
