//! The group `coordination.k8s.io`.

mod lease;

pub(crate) use lease::Lease;
