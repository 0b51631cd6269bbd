//! The group `autoscaling`.

mod pod_autoscaler;
mod scale;

use self::pod_autoscaler::PodAutoscaler;
pub use self::pod_autoscaler::{pod_autoscaler_to_v1, pod_autoscaler_to_v2};
use self::scale::Scale;
use crate::behavior::{Behavior, Plain};

/// Returns the rules of a kind of the group.
pub(crate) fn behavior_of(kind: &str) -> &'static dyn Behavior {
    match kind {
        "HorizontalPodAutoscaler" => &PodAutoscaler,
        "Scale" => &Scale,
        _ => &Plain,
    }
}
