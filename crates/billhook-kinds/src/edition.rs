//! The facts about built-in kinds that depend on the version of the server (BK-770).

use billhook_apimachinery::PerVersion;

/// The facts of a version.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edition {
    /// Whether StatefulSets may change how many revisions they keep (BK-303).
    pub(crate) has_mutable_history: bool,
    /// Whether the claims of StatefulSets are validated (BK-303).
    pub(crate) validates_claims: bool,
    /// Whether autoscalers name the group of what they scale (BK-481).
    pub(crate) requires_target_groups: bool,
    /// Whether types declare rules, so that some errors are found twice (BK-31).
    pub(crate) has_declared_rules: bool,
    /// Whether Jobs say that they did not choose their selector (BK-305).
    pub(crate) sets_manual_selector: bool,
    /// Whether pods of stopped Jobs may move and get other resources (BK-305).
    pub(crate) moves_stopped_jobs: bool,
}

const V1_32: Edition = Edition {
    has_mutable_history: false,
    validates_claims: false,
    requires_target_groups: false,
    has_declared_rules: false,
    sets_manual_selector: false,
    moves_stopped_jobs: false,
};

const V1_33: Edition = Edition { has_mutable_history: true, ..V1_32 };

const V1_36: Edition = Edition {
    validates_claims: true,
    requires_target_groups: true,
    has_declared_rules: true,
    sets_manual_selector: true,
    moves_stopped_jobs: true,
    ..V1_33
};

pub(crate) static EDITIONS: PerVersion<Edition> =
    PerVersion { v1_32: V1_32, v1_33: V1_33, v1_34: V1_33, v1_35: V1_33, v1_36: V1_36 };
