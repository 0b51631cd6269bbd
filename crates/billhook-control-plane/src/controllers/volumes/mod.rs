//! Claims and volumes: binding, protection, release (CP-75 to CP-78).

mod binding;
mod claims;
mod ephemeral;
mod matching;
mod pending;
mod phases;
mod protection;
mod provisioner;

pub(super) use self::claims::Claims;
pub(super) use self::ephemeral::EphemeralVolumes;
pub(crate) use self::matching::can_be_on;
pub(crate) use self::pending::{binds_at_once, has_volume_on};
pub(super) use self::phases::Volumes;
pub(super) use self::protection::{ClaimProtection, VolumeProtection};
pub use self::provisioner::{Provision, Provisioner};

/// Set to `yes` on a claim when it is bound.
const BIND_COMPLETED: &str = "pv.kubernetes.io/bind-completed";
/// Set to `yes` on what the controller has bound, and not a user.
const BOUND_BY_CONTROLLER: &str = "pv.kubernetes.io/bound-by-controller";
/// The name of the provisioner of a volume.
const PROVISIONED_BY: &str = "pv.kubernetes.io/provisioned-by";
/// The node for whose sake a claim is to be bound.
pub(crate) const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";
/// The provisioner that a claim waits for; the second one is the older name.
const STORAGE_PROVISIONERS: [&str; 2] =
    ["volume.kubernetes.io/storage-provisioner", "volume.beta.kubernetes.io/storage-provisioner"];
/// The source of events about claims and volumes.
const EVENT_SOURCE: &str = "persistentvolume-controller";
