//! CSINodes (BK-435).

use std::collections::{BTreeMap, BTreeSet};

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::names::qualified_name;
use billhook_apimachinery::record::Type;
use billhook_apimachinery::{FieldError, FieldPath, KubernetesVersion};
use serde_json::Value;

use crate::behavior::{Behavior, Findings, WriteContext};
use crate::cells;
use crate::edition::EDITIONS;
use crate::generated::storage_v1::CSI_NODE_DRIVER;
use crate::rules::{driver_name, invalid, invalid_internal, not_negative};
use crate::values::{items, path, text, value_at};

const MAX_NODE_ID: usize = 192;

/// The rules of the drivers on a node.
#[derive(Debug)]
pub(crate) struct CsiNode;

impl Behavior for CsiNode {
    fn validate(
        &self,
        node: &Value,
        old: Option<&Value>,
        context: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        let drivers = items(node, "/spec/drivers");
        let errors = &mut found.errors;
        let mut seen = BTreeSet::new();
        for (index, driver) in drivers.iter().enumerate() {
            let at = path(&["spec", "drivers"]).index(index);
            validate_driver(driver, &at, context.kubernetes, errors);
            let name = text(driver, "/name");
            if !seen.insert(name) {
                errors.push(FieldError::duplicate(at.name("name"), name));
            }
        }
        let by_name: BTreeMap<&str, &Value> =
            drivers.iter().rev().map(|driver| (text(driver, "/name"), driver)).collect();
        for old in old.map_or(&[][..], |old| items(old, "/spec/drivers")) {
            let same = by_name.get(text(old, "/name")).copied();
            let fixed = |driver| fixed_part(driver, context.kubernetes);
            if let Some(driver) = same.map(fixed).filter(|driver| *driver != fixed(old)) {
                let type_ = (Type::Record(|| &CSI_NODE_DRIVER), "storage");
                let at = path(&["spec", "drivers"]);
                errors.push(invalid_internal(at, Some(&driver), type_, "field is immutable"));
            }
        }
    }

    fn cells(&self, object: &Value, now: Time) -> Vec<Value> {
        let count = cells::count(object, "/spec/drivers");
        vec![cells::name(object), count.into(), cells::created(object, now)]
    }
}

/// Returns what must not change of a driver: newer servers let the number of its volumes change.
fn fixed_part(driver: &Value, kubernetes: KubernetesVersion) -> Value {
    let mut driver = driver.clone();
    if let Value::Object(members) = &mut driver
        && EDITIONS.of(kubernetes).has_mutable_allocatable
    {
        members.remove("allocatable");
    }
    driver
}

fn validate_driver(
    driver: &Value,
    at: &FieldPath,
    kubernetes: KubernetesVersion,
    errors: &mut Vec<FieldError>,
) {
    driver_name(errors, &at.clone().name("name"), text(driver, "/name"));
    let (id, of_id) = (text(driver, "/nodeID"), at.clone().name("nodeID"));
    if id.is_empty() {
        errors.push(FieldError::required(of_id, ""));
    } else if id.len() > MAX_NODE_ID {
        let detail = format!("must be {MAX_NODE_ID} characters or less");
        errors.push(FieldError::invalid(of_id, id, &detail));
    }
    let count = value_at(driver, "/allocatable/count");
    not_negative(errors, &at.clone().name("allocatable").name("count"), count);
    let keys = items(driver, "/topologyKeys");
    let mut seen = BTreeSet::new();
    for key in keys {
        let name = text(key, "");
        if name.is_empty() {
            errors.push(FieldError::required(at.clone(), ""));
        }
        if !seen.insert(name) {
            errors.push(FieldError::duplicate(at.clone(), name));
        }
        invalid(errors, at, name, qualified_name(name, kubernetes.wording()));
    }
}
