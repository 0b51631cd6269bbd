//! The facts about admission policies that depend on the version of the server.

use billhook_apimachinery::PerVersion;

/// The facts of a version.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edition {
    /// The versions of validating policies and their bindings, the newest first (PO-01).
    pub(crate) validating_versions: &'static [&'static str],
    /// The versions of mutating policies and their bindings, the newest first (PO-01).
    pub(crate) mutating_versions: &'static [&'static str],
}

const V1_32: Edition =
    Edition { validating_versions: &["v1", "v1beta1"], mutating_versions: &["v1alpha1"] };

const V1_34: Edition = Edition { mutating_versions: &["v1beta1", "v1alpha1"], ..V1_32 };

const V1_36: Edition = Edition { mutating_versions: &["v1", "v1beta1", "v1alpha1"], ..V1_34 };

pub(crate) static EDITIONS: PerVersion<Edition> =
    PerVersion { v1_32: V1_32, v1_33: V1_32, v1_34: V1_34, v1_35: V1_34, v1_36: V1_36 };
