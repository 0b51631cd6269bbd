//! The cluster IPs, IP families and policy of a service, which go together (BK-206).

use std::collections::BTreeSet;

use billhook_apimachinery::{FieldError, KubernetesVersion};
use serde_json::Value;

use super::shape;
use super::texts;
use crate::ip::{AddressRules, parse_address};
use crate::rules;
use crate::values::{path, text, value_at};

/// The IP families.
pub(super) const FAMILIES: [&str; 2] = ["IPv4", "IPv6"];

const POLICIES: [&str; 3] = ["PreferDualStack", "RequireDualStack", "SingleStack"];

/// Validates them.
pub(super) fn validate(
    service: &Value,
    old: Option<&Value>,
    kubernetes: KubernetesVersion,
    errors: &mut Vec<FieldError>,
) {
    if !shape::has_addresses(service) {
        return;
    }
    let before = errors.len();
    let addresses = texts(service, "/spec/clusterIPs");
    validate_first(service, &addresses, errors);
    validate_families(service, errors);
    let stored = old.map(|old| texts(old, "/spec/clusterIPs")).unwrap_or_default();
    let is_valid = validate_each(&addresses, &AddressRules::new(kubernetes, stored), errors);
    if addresses.len() > 2 {
        refuse_list(errors, &addresses, "may only hold up to 2 values");
    }
    if !is_valid {
        return;
    }
    if let [first, second] = addresses.as_slice()
        && family_of(first) == family_of(second)
    {
        let detail = "may specify no more than one IP for each IP family";
        refuse_list(errors, &addresses, detail);
    }
    if errors.len() == before && !shape::is_headless(service) {
        match_families(service, &addresses, errors);
    }
}

fn refuse_list(errors: &mut Vec<FieldError>, addresses: &[&str], detail: &str) {
    let path = path(&["spec", "clusterIPs"]);
    errors.push(FieldError::invalid(path, addresses.to_vec(), detail));
}

fn validate_first(service: &Value, addresses: &[&str], errors: &mut Vec<FieldError>) {
    match (text(service, "/spec/clusterIP"), addresses.first()) {
        ("", None) => {}
        ("", Some(_)) => {
            refuse_list(errors, addresses, "must be empty when `clusterIP` is not specified");
        }
        (_, None) => errors.push(FieldError::required(path(&["spec", "clusterIPs"]), "")),
        (address, Some(first)) if address != *first => {
            refuse_list(errors, addresses, "first value must match `clusterIP`");
        }
        _ => {}
    }
}

fn validate_families(service: &Value, errors: &mut Vec<FieldError>) {
    let families = texts(service, "/spec/ipFamilies");
    let mut before = BTreeSet::new();
    for (index, family) in families.iter().enumerate() {
        let path = path(&["spec", "ipFamilies"]).index(index);
        rules::one_of(errors, &path, family, &FAMILIES);
        if !before.insert(*family) {
            errors.push(FieldError::duplicate(path, *family));
        }
    }
    if let Some(policy) = value_at(service, "/spec/ipFamilyPolicy") {
        let path = path(&["spec", "ipFamilyPolicy"]);
        rules::one_of(errors, &path, text(policy, ""), &POLICIES);
    }
}

/// Validates the addresses alone; returns whether all are addresses.
fn validate_each(
    addresses: &[&str],
    rules: &AddressRules<'_>,
    errors: &mut Vec<FieldError>,
) -> bool {
    let before = errors.len();
    for (index, address) in addresses.iter().enumerate() {
        if index == 0 && *address == shape::HEADLESS {
            if addresses.len() > 1 {
                refuse_list(errors, addresses, "'None' must be the first and only value");
            }
            continue;
        }
        rules.address(errors, &path(&["spec", "clusterIPs"]).index(index), address);
    }
    errors.len() == before
}

/// Each address must be of the family at its place.
fn match_families(service: &Value, addresses: &[&str], errors: &mut Vec<FieldError>) {
    let families = texts(service, "/spec/ipFamilies");
    for (index, (address, family)) in addresses.iter().zip(families).enumerate() {
        if family_of(address) != Some(family) {
            let path = path(&["spec", "clusterIPs"]).index(index);
            let detail =
                format!("expected an {family} value as indicated by `ipFamilies[{index}]`");
            errors.push(FieldError::invalid(path, *address, &detail));
        }
    }
}

/// Returns the family of an address.
pub(super) fn family_of(address: &str) -> Option<&'static str> {
    let address = parse_address(address)?;
    Some(if address.is_ipv4() { "IPv4" } else { "IPv6" })
}
