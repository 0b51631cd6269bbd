//! The names and the places of pods (CP-50).

use crate::object::Object;

/// The place of a pod in a set.
pub(super) type Ordinal = i64;

/// Returns the ordinal of a pod, if its name is one of a set's.
pub(super) fn ordinal_of(pod: &str, set: &str) -> Option<Ordinal> {
    let digits = pod.strip_prefix(set)?.strip_prefix('-')?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| is_number)
}

pub(super) fn pod_name(set: &Object, ordinal: Ordinal) -> String {
    format!("{}-{ordinal}", set.name())
}
