//! The facts about server-side apply that depend on the version of the server.

use billhook_apimachinery::PerVersion;

/// The facts of a version.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edition {
    /// Whether an element of a keyed list must have all keys that have no default, and not only one
    /// of them (KV-84).
    pub(crate) needs_all_keys: bool,
}

const V1_32: Edition = Edition { needs_all_keys: true };

const V1_34: Edition = Edition { needs_all_keys: false };

pub(crate) static EDITIONS: PerVersion<Edition> =
    PerVersion { v1_32: V1_32, v1_33: V1_32, v1_34: V1_34, v1_35: V1_34, v1_36: V1_34 };
