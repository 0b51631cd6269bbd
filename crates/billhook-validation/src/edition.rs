//! The facts about values that depend on the version of the server.

use billhook_apimachinery::PerVersion;

/// The facts of a version.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edition {
    /// Whether numeric types have ranges (KV-60).
    pub(crate) has_ranges: bool,
    /// Whether it depends on the type which formats are checked in objects (KV-61).
    pub(crate) checks_formats_by_type: bool,
    /// Whether `k8s-short-name` and `k8s-long-name` are known (KV-62).
    pub(crate) knows_name_formats: bool,
    /// Whether they are checked in objects (KV-62).
    pub(crate) checks_name_formats: bool,
}

const V1_32: Edition = Edition {
    has_ranges: false,
    checks_formats_by_type: false,
    knows_name_formats: false,
    checks_name_formats: false,
};

const V1_34: Edition = Edition { knows_name_formats: true, ..V1_32 };

const V1_35: Edition = Edition { checks_name_formats: true, ..V1_34 };

const V1_36: Edition = Edition { has_ranges: true, checks_formats_by_type: true, ..V1_35 };

pub(crate) static EDITIONS: PerVersion<Edition> =
    PerVersion { v1_32: V1_32, v1_33: V1_32, v1_34: V1_34, v1_35: V1_35, v1_36: V1_36 };
