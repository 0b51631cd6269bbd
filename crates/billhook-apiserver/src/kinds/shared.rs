//! Objects that are served in more than one version: events in two groups, and autoscalers in two
//! versions of theirs. Each is stored as it was written.

use billhook::KubernetesVersion;
use billhook_apimachinery::record::text;
use billhook_decode::read_json;
use billhook_kinds::Kind;
use bytes::Bytes;

use crate::storage::OwnText;

/// Returns the text of an object of a kind's collection in the version of the kind.
pub(crate) fn own_text(kind: &Kind) -> OwnText {
    match (kind.group, kind.version, kind.kind) {
        ("", "v1", "Event") => |it| converted(it, "v1", "Event"),
        ("events.k8s.io", "v1", "Event") => |it| converted(it, "events.k8s.io/v1", "Event"),
        ("autoscaling", "v1", "HorizontalPodAutoscaler") => {
            |it| converted(it, "autoscaling/v1", "HorizontalPodAutoscaler")
        }
        ("autoscaling", "v2", "HorizontalPodAutoscaler") => {
            |it| converted(it, "autoscaling/v2", "HorizontalPodAutoscaler")
        }
        _ => Bytes::clone,
    }
}

/// The text of an object in a version, if it is of another one.
fn converted(object: &Bytes, api_version: &str, kind: &str) -> Bytes {
    let Some(kind) = Kind::named(api_version, kind) else { return object.clone() };
    let Ok(document) = read_json(object) else { return object.clone() };
    let mut value = document.into_value();
    if text(&value, "apiVersion") == api_version {
        return object.clone();
    }
    kind.behavior().convert(&mut value, api_version, KubernetesVersion::default());
    billhook::to_json(&value).into()
}
