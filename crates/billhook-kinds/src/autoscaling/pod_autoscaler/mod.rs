//! HorizontalPodAutoscalers (BK-481).

mod behavior;
mod conversion;
mod metrics;
mod reference;
mod spec;
mod targets;

pub(super) use self::behavior::PodAutoscaler;
pub use self::conversion::{pod_autoscaler_to_v1, pod_autoscaler_to_v2};
