//! The facts about admission that depend on the version of the server.

use billhook_apimachinery::PerVersion;

/// The facts of a version.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edition {
    /// Whether a patch that cannot be decoded is a call that failed, and not an error of the server
    /// (KV-92).
    pub(crate) undecodable_patch_is_failed_call: bool,
}

const V1_32: Edition = Edition { undecodable_patch_is_failed_call: false };

const V1_34: Edition = Edition { undecodable_patch_is_failed_call: true };

pub(crate) static EDITIONS: PerVersion<Edition> =
    PerVersion { v1_32: V1_32, v1_33: V1_32, v1_34: V1_34, v1_35: V1_34, v1_36: V1_34 };
