//! The facts about API objects in general that depend on the version of the server.

use crate::kubernetes_version::KubernetesVersion;
use crate::per_version::PerVersion;
use crate::wording::{ValueSyntax, Wording};

/// The facts of a version.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edition {
    /// KV-01.
    writes_unset_time: bool,
    /// KV-10 to KV-14, KV-70.
    wording: Wording,
    /// Whether the path of a wrong value ends at the first field that may have several forms (KV-77).
    pub(crate) ends_paths_at_unions: bool,
    /// Whether the path of a wrong value names the embedded types that declare fields (BK-22).
    pub(crate) names_embedded_types: bool,
}

const V1_32: Edition = Edition {
    writes_unset_time: true,
    wording: Wording {
        values: ValueSyntax::Go,
        has_singular: false,
        repeats_paths: true,
        label_unit: "characters",
        label_key: "a qualified name",
    },
    ends_paths_at_unions: true,
    names_embedded_types: false,
};

const V1_34: Edition = Edition {
    writes_unset_time: false,
    wording: Wording {
        values: ValueSyntax::Json,
        has_singular: true,
        repeats_paths: false,
        ..V1_32.wording
    },
    ..V1_32
};

const V1_35: Edition = Edition {
    wording: Wording { label_unit: "bytes", label_key: "a valid label key", ..V1_34.wording },
    ends_paths_at_unions: false,
    names_embedded_types: true,
    ..V1_34
};

pub(crate) static EDITIONS: PerVersion<Edition> =
    PerVersion { v1_32: V1_32, v1_33: V1_32, v1_34: V1_34, v1_35: V1_35, v1_36: V1_35 };

impl KubernetesVersion {
    /// Returns whether the metadata of a whole object is written with `creationTimestamp: null` as
    /// long as the time is not set (KV-01).
    pub fn writes_unset_time(self) -> bool {
        EDITIONS.of(self).writes_unset_time
    }

    /// Returns the wording of the errors of this version.
    pub fn wording(self) -> &'static Wording {
        &EDITIONS.of(self).wording
    }
}

impl Default for &Wording {
    /// Returns the wording of the newest version.
    fn default() -> Self {
        KubernetesVersion::default().wording()
    }
}
