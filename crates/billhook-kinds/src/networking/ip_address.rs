//! IPAddresses (BK-462).

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::{FieldError, names};
use serde_json::Value;

use crate::behavior::{Behavior, Findings, WriteContext};
use crate::ip::canonical_address;
use crate::values::{path, text, value_at};
use crate::{cells, rules};

/// The members of a reference, as errors show them.
const MEMBERS: [(&str, &str); 4] =
    [("Group", "group"), ("Resource", "resource"), ("Namespace", "namespace"), ("Name", "name")];

/// The rules of addresses.
#[derive(Debug)]
pub(crate) struct IpAddress;

impl Behavior for IpAddress {
    fn validate(
        &self,
        address: &Value,
        old: Option<&Value>,
        _: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        let errors = &mut found.errors;
        let name = text(address, "/metadata/name");
        if old.is_none() && !name.is_empty() {
            rules::named(errors, &path(&["metadata", "name"]), name, canonical_address);
        }
        let parent = path(&["spec", "parentRef"]);
        let reference = value_at(address, "/spec/parentRef");
        match reference {
            None => errors.push(FieldError::required(parent.clone(), "")),
            Some(reference) => validate_reference(reference, errors),
        }
        if let Some(old) = old {
            let old = value_at(old, "/spec/parentRef");
            rules::immutable_part(errors, &parent, reference, old, &MEMBERS);
        }
    }

    fn cells(&self, address: &Value, now: Time) -> Vec<Value> {
        let reference = value_at(address, "/spec/parentRef");
        vec![
            cells::name(address),
            reference.map_or("<none>".into(), reference_cell),
            cells::created(address, now),
        ]
    }
}

fn validate_reference(reference: &Value, errors: &mut Vec<FieldError>) {
    let path = path(&["spec", "parentRef"]);
    let group = text(reference, "/group");
    if !group.is_empty() {
        rules::named(errors, &path.clone().name("group"), group, names::dns1123_subdomain);
    }
    for name in ["resource", "name"] {
        let value = reference.get(name).map_or("", |value| text(value, ""));
        rules::required_segment(errors, &path.clone().name(name), value);
    }
    let namespace = text(reference, "/namespace");
    if !namespace.is_empty() {
        rules::path_segment(errors, &path.name("namespace"), namespace);
    }
}

fn reference_cell(reference: &Value) -> Value {
    let resource = match text(reference, "/group") {
        "" => text(reference, "/resource").to_owned(),
        group => format!("{}.{group}", text(reference, "/resource")),
    };
    let parts = [resource.as_str(), text(reference, "/namespace"), text(reference, "/name")];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/").into()
}
