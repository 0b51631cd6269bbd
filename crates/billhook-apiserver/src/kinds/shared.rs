//! Objects that are served in more than one version: events in two groups, which have other names for
//! some of their fields, and autoscalers in two versions of theirs. Each is stored as it was written.

use billhook::KubernetesVersion;
use billhook_apimachinery::record::{complete, text};
use billhook_decode::read_json;
use billhook_kinds::{Kind, pod_autoscaler_to_v1, pod_autoscaler_to_v2};
use bytes::Bytes;
use serde_json::Value;

use crate::storage::OwnText;

/// Fields of events that have a name in each group: the core group, and `events.k8s.io`.
const FIELDS: [(&str, &str); 7] = [
    ("count", "deprecatedCount"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("involvedObject", "regarding"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("message", "note"),
    ("reportingComponent", "reportingController"),
    ("source", "deprecatedSource"),
];

/// Returns the text of an object of a kind's collection in the version of the kind.
pub(crate) fn own_text(kind: &Kind) -> OwnText {
    match (kind.group, kind.version, kind.kind) {
        ("", "v1", "Event") => |event| renamed(event, "v1"),
        ("events.k8s.io", "v1", "Event") => |event| renamed(event, "events.k8s.io/v1"),
        ("autoscaling", "v1", "HorizontalPodAutoscaler") => {
            |it| converted(it, "autoscaling/v1", pod_autoscaler_to_v1)
        }
        ("autoscaling", "v2", "HorizontalPodAutoscaler") => {
            |it| converted(it, "autoscaling/v2", pod_autoscaler_to_v2)
        }
        _ => Bytes::clone,
    }
}

/// The text of an event in a version, if it is of the other one.
fn renamed(event: &Bytes, api_version: &str) -> Bytes {
    converted(event, api_version, |event, kubernetes| {
        let Value::Object(members) = &mut *event else { return };
        let is_core = api_version == "v1";
        members.insert("apiVersion".to_owned(), api_version.into());
        for (core, other) in FIELDS {
            let (from, to) = if is_core { (other, core) } else { (core, other) };
            if let Some(field) = members.remove(from) {
                members.insert(to.to_owned(), field);
            }
        }
        if let Some(record) = Kind::named(api_version, "Event").and_then(Kind::record) {
            complete(event, record, kubernetes);
        }
    })
}

/// The text of an object in a version, if it is of another one.
fn converted(
    object: &Bytes,
    api_version: &str,
    convert: impl Fn(&mut Value, KubernetesVersion),
) -> Bytes {
    let Ok(document) = read_json(object) else { return object.clone() };
    let mut value = document.into_value();
    if text(&value, "apiVersion") == api_version {
        return object.clone();
    }
    convert(&mut value, KubernetesVersion::default());
    billhook::to_json(&value).into()
}
