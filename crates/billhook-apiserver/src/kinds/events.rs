//! Events: the same objects are served in the core group and in `events.k8s.io`, which has other
//! names for some of their fields.

use billhook_apimachinery::record::text;
use billhook_decode::read_json;
use bytes::Bytes;
use serde_json::Value;

use crate::resources::Resource;

/// Fields that have a name in each group: the core group, and `events.k8s.io`.
const FIELDS: [(&str, &str); 7] = [
    ("count", "deprecatedCount"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("involvedObject", "regarding"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("message", "note"),
    ("reportingComponent", "reportingController"),
    ("source", "deprecatedSource"),
];

/// Lets the resources of events have the same objects. Each is stored as it was written.
pub(super) fn share(resource: &mut Resource) {
    match resource.definition.name() {
        "events." => resource.own_text = in_core,
        "events.events.k8s.io" => resource.own_text = in_events,
        _ => {}
    }
}

fn in_core(event: &Bytes) -> Bytes {
    renamed(event, "v1", FIELDS.map(|(core, other)| (other, core)))
}

fn in_events(event: &Bytes) -> Bytes {
    renamed(event, "events.k8s.io/v1", FIELDS)
}

/// The text of an event in a version, if it is of the other one.
fn renamed(event: &Bytes, api_version: &str, names: [(&str, &str); FIELDS.len()]) -> Bytes {
    let Ok(document) = read_json(event) else { return event.clone() };
    let mut value = document.into_value();
    if text(&value, "apiVersion") == api_version {
        return event.clone();
    }
    if let Value::Object(members) = &mut *value {
        members.insert("apiVersion".to_owned(), api_version.into());
        for (from, to) in names {
            if let Some(field) = members.remove(from) {
                members.insert(to.to_owned(), field);
            }
        }
    }
    billhook::to_json(&value).into()
}
