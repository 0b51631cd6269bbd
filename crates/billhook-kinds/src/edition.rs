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
    /// Whether addresses of services come from ServiceCIDRs, which changes an error (BK-202).
    pub(crate) has_service_ranges: bool,
    /// Whether claims may name a VolumeAttributesClass, and quotas select by it.
    pub(crate) has_attributes_classes: bool,
    /// Whether services may prefer endpoints of the same zone or node by that name.
    pub(crate) prefers_same_zone: bool,
    /// Whether autoscalers keep how far metrics may be from their targets: the gate
    /// `HPAConfigurableTolerance`.
    pub(crate) has_tolerances: bool,
    /// Whether workloads count the pods that are being deleted: the gate
    /// `DeploymentReplicaSetTerminatingReplicas`.
    pub(crate) counts_terminating: bool,
    /// Whether drivers may be given tokens as secrets.
    pub(crate) has_secret_tokens: bool,
    /// Whether nodes may change how many volumes a driver can have there.
    pub(crate) has_mutable_allocatable: bool,
    /// Whether new addresses must be in canonical form (BK-30).
    pub(crate) has_strict_addresses: bool,
    /// Whether external addresses of services are warned of.
    pub(crate) deprecates_external_addresses: bool,
    /// Whether names of services may begin with a digit.
    pub(crate) relaxes_service_names: bool,
}

const V1_32: Edition = Edition {
    has_mutable_history: false,
    validates_claims: false,
    requires_target_groups: false,
    has_declared_rules: false,
    sets_manual_selector: false,
    moves_stopped_jobs: false,
    has_service_ranges: false,
    has_attributes_classes: false,
    prefers_same_zone: false,
    has_tolerances: false,
    counts_terminating: false,
    has_secret_tokens: false,
    has_mutable_allocatable: false,
    has_strict_addresses: false,
    deprecates_external_addresses: false,
    relaxes_service_names: false,
};

const V1_33: Edition = Edition { has_mutable_history: true, has_service_ranges: true, ..V1_32 };

const V1_34: Edition = Edition { has_attributes_classes: true, prefers_same_zone: true, ..V1_33 };

const V1_35: Edition = Edition {
    has_tolerances: true,
    counts_terminating: true,
    has_secret_tokens: true,
    has_mutable_allocatable: true,
    ..V1_34
};

const V1_36: Edition = Edition {
    validates_claims: true,
    requires_target_groups: true,
    has_declared_rules: true,
    sets_manual_selector: true,
    moves_stopped_jobs: true,
    has_strict_addresses: true,
    deprecates_external_addresses: true,
    relaxes_service_names: true,
    ..V1_35
};

pub(crate) static EDITIONS: PerVersion<Edition> =
    PerVersion { v1_32: V1_32, v1_33: V1_33, v1_34: V1_34, v1_35: V1_35, v1_36: V1_36 };
