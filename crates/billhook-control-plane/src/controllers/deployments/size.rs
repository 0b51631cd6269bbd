//! How many pods a Deployment wants, at most and at least (CP-32).

use serde_json::Value;

use crate::object::Object;

/// The numbers of a Deployment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    /// How many are wanted.
    pub(super) replicas: i64,
    /// How many there may be.
    pub(super) most: i64,
    /// How many have to be available.
    pub(super) least_available: i64,
}

impl Sizes {
    pub(super) fn of(deployment: &Object) -> Self {
        let replicas = deployment.int("/spec/replicas").unwrap_or(1);
        if super::recreates(deployment) {
            return Sizes { replicas, most: replicas, least_available: replicas };
        }
        let part = |name: &str| deployment.get(&format!("/spec/strategy/rollingUpdate/{name}"));
        let surge = scaled(part("maxSurge"), replicas, true);
        let unavailable = match scaled(part("maxUnavailable"), replicas, false) {
            0 if surge == 0 => 1,
            number => number,
        };
        let least_available = replicas.saturating_sub(unavailable.min(replicas));
        Sizes { replicas, most: replicas.saturating_add(surge), least_available }
    }
}

/// Returns a number, or the part of a total that a text in percent is.
pub(crate) fn scaled(written: &Value, total: i64, rounds_up: bool) -> i64 {
    let percent = written.as_str().and_then(|text| text.strip_suffix('%')?.parse::<i64>().ok());
    let Some(percent) = percent else { return written.as_i64().unwrap_or_default() };
    let product = percent.saturating_mul(total);
    product.saturating_add(if rounds_up { 99 } else { 0 }).div_euclid(100)
}
