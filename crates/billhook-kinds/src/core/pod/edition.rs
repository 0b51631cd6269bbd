//! The facts about pods that depend on the version of the server (BK-770).

use billhook_apimachinery::PerVersion;

/// The facts of a version.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edition {
    /// Whether pods as a whole have resources.
    pub(super) has_pod_resources: bool,
    /// Whether keys of labels become expressions of the selectors by which pods are spread.
    pub(super) spreads_by_label_keys: bool,
    /// Whether variables are read from files.
    pub(super) reads_variables_from_files: bool,
    /// Whether containers have restart policies of their own.
    pub(super) has_restart_rules: bool,
    /// Whether a pod that has a node cannot be nominated for another one.
    pub(super) refuses_late_nominations: bool,
    /// Whether tolerations could compare numbers, which is off by default.
    pub(super) knows_comparisons: bool,
}

const V1_32: Edition = Edition {
    has_pod_resources: false,
    spreads_by_label_keys: false,
    reads_variables_from_files: false,
    has_restart_rules: false,
    refuses_late_nominations: false,
    knows_comparisons: false,
};

const V1_34: Edition = Edition {
    has_pod_resources: true,
    spreads_by_label_keys: true,
    reads_variables_from_files: true,
    ..V1_32
};

const V1_35: Edition = Edition { has_restart_rules: true, refuses_late_nominations: true, ..V1_34 };

const V1_36: Edition = Edition { knows_comparisons: true, ..V1_35 };

pub(super) static EDITIONS: PerVersion<Edition> =
    PerVersion { v1_32: V1_32, v1_33: V1_32, v1_34: V1_34, v1_35: V1_35, v1_36: V1_36 };
