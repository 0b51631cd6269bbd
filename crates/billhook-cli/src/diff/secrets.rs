//! The data of Secrets, which is not shown.

use billhook::Difference;
use billhook_apply::{PathElement, PathElementKind};
use serde_json::Value;

use crate::identity::Identity;

/// The text in place of a value, as in `kubectl diff`.
const HIDDEN: &str = "***";

/// The annotation with the manifest that kubectl applied.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Whether an object is a Secret.
pub(super) fn is_secret(identity: &Identity) -> bool {
    identity.group().is_empty() && identity.kind.as_deref() == Some("Secret")
}

/// Hides the data of a Secret in a difference, also that which an annotation of kubectl repeats.
pub(super) fn hide(difference: &mut Difference) {
    let names: Vec<&str> = difference.path.elements().iter().map_while(name).collect();
    let is_data = match names.as_slice() {
        ["data" | "stringData", ..] => true,
        ["metadata", "annotations", annotation] => *annotation == LAST_APPLIED,
        _ => false,
    };
    if !is_data {
        return;
    }
    let is_changed = difference.desired.is_some() && difference.live.is_some();
    let [before, after] = if is_changed { [" (before)", " (after)"] } else { [""; 2] };
    for (value, side) in [(&mut difference.live, before), (&mut difference.desired, after)] {
        if let Some(value) = value {
            hide_values(value, side);
        }
    }
}

fn name(element: &PathElement) -> Option<&str> {
    match element.kind() {
        PathElementKind::Field(name) => Some(name),
        _ => None,
    }
}

/// Hides a value, or the values of the members of an object.
fn hide_values(value: &mut Value, side: &str) {
    let hidden = || Value::from(format!("{HIDDEN}{side}"));
    match value {
        Value::Object(members) => members.values_mut().for_each(|member| *member = hidden()),
        Value::Null => {}
        other => *other = hidden(),
    }
}
