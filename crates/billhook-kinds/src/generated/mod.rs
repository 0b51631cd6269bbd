//! The tables of types and resources, made by `cargo xtask kinds`.

#[rustfmt::skip]
pub(crate) mod apiregistration_v1;
#[rustfmt::skip]
pub(crate) mod apps_v1;
#[rustfmt::skip]
pub(crate) mod authentication_v1;
#[rustfmt::skip]
pub(crate) mod authorization_v1;
#[rustfmt::skip]
pub(crate) mod autoscaling_v1;
#[rustfmt::skip]
pub(crate) mod autoscaling_v2;
#[rustfmt::skip]
pub(crate) mod batch_v1;
#[rustfmt::skip]
pub(crate) mod certificates_v1;
#[rustfmt::skip]
pub(crate) mod coordination_v1;
#[rustfmt::skip]
pub(crate) mod core_v1;
#[rustfmt::skip]
pub(crate) mod discovery_v1;
#[rustfmt::skip]
pub(crate) mod events_v1;
#[rustfmt::skip]
pub(crate) mod flowcontrol_v1;
#[rustfmt::skip]
pub(crate) mod meta_v1;
#[rustfmt::skip]
pub(crate) mod networking_v1;
#[rustfmt::skip]
pub(crate) mod node_v1;
#[rustfmt::skip]
pub(crate) mod policy_v1;
#[rustfmt::skip]
pub(crate) mod rbac_v1;
#[rustfmt::skip]
pub(crate) mod resource_v1;
#[rustfmt::skip]
pub(crate) mod scheduling_v1;
#[rustfmt::skip]
pub(crate) mod storage_v1;
#[rustfmt::skip]
pub(crate) mod initial;
#[rustfmt::skip]
pub(crate) mod resources;
