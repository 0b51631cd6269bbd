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
    /// Whether pods may have users of their own: the gate `UserNamespacesSupport`.
    pub(super) has_user_namespaces: bool,
    /// Whether pods choose how groups and SELinux labels are applied: the gates `SupplementalGroupsPolicy`
    /// and `SELinuxChangePolicy`.
    pub(super) has_security_policies: bool,
    /// Whether containers may get other resources while they run: the gate `InPlacePodVerticalScaling`.
    pub(super) resizes_in_place: bool,
    /// Whether search paths may have underscores, and be the root: the gate `RelaxedDNSSearchValidation`.
    pub(super) relaxes_searches: bool,
    /// Whether pods claim devices: the gate `DynamicResourceAllocation`.
    pub(super) claims_devices: bool,
    /// Whether the status says which generation it is about: the gate `PodObservedGenerationTracking`.
    pub(super) tracks_generations: bool,
    /// Whether volumes are made of images: the gate `ImageVolume`.
    pub(super) has_image_volumes: bool,
    /// Whether variables that name a file keep it: the gate `EnvFiles`.
    pub(super) keeps_variable_files: bool,
    /// Whether pods may have another host name than their own: the gate `HostnameOverride`.
    pub(super) overrides_hostnames: bool,
}

const V1_32: Edition = Edition {
    has_pod_resources: false,
    spreads_by_label_keys: false,
    reads_variables_from_files: false,
    has_restart_rules: false,
    refuses_late_nominations: false,
    knows_comparisons: false,
    has_user_namespaces: false,
    has_security_policies: false,
    resizes_in_place: false,
    relaxes_searches: false,
    claims_devices: false,
    tracks_generations: false,
    has_image_volumes: false,
    keeps_variable_files: false,
    overrides_hostnames: false,
};

const V1_33: Edition = Edition {
    has_user_namespaces: true,
    has_security_policies: true,
    resizes_in_place: true,
    relaxes_searches: true,
    ..V1_32
};

const V1_34: Edition = Edition {
    has_pod_resources: true,
    spreads_by_label_keys: true,
    reads_variables_from_files: true,
    claims_devices: true,
    tracks_generations: true,
    ..V1_33
};

const V1_35: Edition = Edition {
    has_restart_rules: true,
    refuses_late_nominations: true,
    has_image_volumes: true,
    keeps_variable_files: true,
    overrides_hostnames: true,
    ..V1_34
};

const V1_36: Edition = Edition { knows_comparisons: true, ..V1_35 };

pub(super) static EDITIONS: PerVersion<Edition> =
    PerVersion { v1_32: V1_32, v1_33: V1_33, v1_34: V1_34, v1_35: V1_35, v1_36: V1_36 };
