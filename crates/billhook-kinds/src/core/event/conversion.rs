//! Events in both groups, which have other names for some of their fields (BK-484).

use billhook_apimachinery::KubernetesVersion;
use billhook_apimachinery::record::complete;
use serde_json::Value;

use crate::kind::Kind;
use crate::values::text;

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

/// Converts an event to an API version; false if there are none in it.
pub(super) fn convert(event: &mut Value, api_version: &str, kubernetes: KubernetesVersion) -> bool {
    let Some(record) = Kind::named(api_version, "Event").and_then(Kind::record) else {
        return false;
    };
    if text(event, "/apiVersion") == api_version {
        return true;
    }
    let Value::Object(members) = &mut *event else { return false };
    members.insert("apiVersion".to_owned(), api_version.into());
    for (core, other) in FIELDS {
        let (from, to) = if api_version == "v1" { (other, core) } else { (core, other) };
        if let Some(field) = members.remove(from) {
            members.insert(to.to_owned(), field);
        }
    }
    complete(event, record, kubernetes);
    true
}
