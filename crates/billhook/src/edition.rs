//! The facts about objects and webhooks that depend on the version of the server.

use billhook_apimachinery::PerVersion;

/// The facts of a version.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edition {
    /// Whether a label that is null counts as an empty text (KV-03).
    pub(crate) reads_null_labels: bool,
    /// Whether unchanged parts of a status may be invalid (KV-80).
    pub(crate) ratchets_status: bool,
    /// KV-83.
    pub(crate) status_resets: StatusResets,
    /// Whether it is POST that is refused while a definition is being deleted, and not every creation
    /// (KV-85).
    pub(crate) terminating_refuses_post: bool,
    /// Whether some names are reserved for configurations and policies in files (KV-95).
    pub(crate) reserves_names: bool,
}

/// The fields that a write to `/status` leaves to their owners (SA-36, KV-83).
#[derive(Clone, Copy, Debug)]
pub(crate) struct StatusResets {
    pub(crate) fields: &'static [&'static str],
    /// Whether only in the version of the request, not in all with the subresource.
    pub(crate) in_own_version: bool,
}

const V1_32: Edition = Edition {
    reads_null_labels: false,
    ratchets_status: false,
    status_resets: StatusResets { fields: &["spec"], in_own_version: true },
    terminating_refuses_post: true,
    reserves_names: false,
};

const V1_33: Edition = Edition { reads_null_labels: true, ratchets_status: true, ..V1_32 };

const V1_34: Edition = Edition { terminating_refuses_post: false, ..V1_33 };

const V1_35: Edition = Edition {
    status_resets: StatusResets { in_own_version: false, ..V1_34.status_resets },
    ..V1_34
};

const V1_36: Edition = Edition {
    status_resets: StatusResets { fields: &["metadata", "spec"], ..V1_35.status_resets },
    reserves_names: true,
    ..V1_35
};

pub(crate) static EDITIONS: PerVersion<Edition> =
    PerVersion { v1_32: V1_32, v1_33: V1_33, v1_34: V1_34, v1_35: V1_35, v1_36: V1_36 };
