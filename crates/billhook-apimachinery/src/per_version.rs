//! One value for each version of Kubernetes, none of which can be forgotten.

use crate::kubernetes_version::KubernetesVersion;

/// A value for each version of Kubernetes. It is how the crates hold what differs between versions: a
/// table of facts in the file `edition.rs`.
///
/// A new version is a new field, on purpose without `#[non_exhaustive]`: every table fails to compile
/// until it has been decided what the new version does, and no version is answered for by another
/// one.
///
/// ```
/// use billhook_apimachinery::{KubernetesVersion, PerVersion};
///
/// /// The facts of a crate.
/// #[derive(Clone, Copy)]
/// struct Edition {
///     /// Whether a request may bring a list.
///     takes_lists: bool,
///     /// The most items that it may have.
///     max_items: u32,
/// }
///
/// const V1_32: Edition = Edition { takes_lists: false, max_items: 16 };
/// const V1_34: Edition = Edition { takes_lists: true, ..V1_32 };
/// static EDITIONS: PerVersion<Edition> =
///     PerVersion { v1_32: V1_32, v1_33: V1_32, v1_34: V1_34, v1_35: V1_34, v1_36: V1_34 };
///
/// assert!(!EDITIONS.of(KubernetesVersion::V1_33).takes_lists);
/// let edition = EDITIONS.of(KubernetesVersion::V1_35);
/// assert_eq!((edition.takes_lists, edition.max_items), (true, 16));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerVersion<T> {
    /// The value for Kubernetes 1.32.
    pub v1_32: T,
    /// The value for Kubernetes 1.33.
    pub v1_33: T,
    /// The value for Kubernetes 1.34.
    pub v1_34: T,
    /// The value for Kubernetes 1.35.
    pub v1_35: T,
    /// The value for Kubernetes 1.36.
    pub v1_36: T,
}

/// [`KubernetesVersion::ALL`] lists as many versions as there are fields.
const _: () = assert!(size_of::<PerVersion<u8>>() == KubernetesVersion::ALL.len());

impl<T> PerVersion<T> {
    /// Returns the value for a version.
    pub const fn of(&self, version: KubernetesVersion) -> &T {
        match version {
            KubernetesVersion::V1_32 => &self.v1_32,
            KubernetesVersion::V1_33 => &self.v1_33,
            KubernetesVersion::V1_34 => &self.v1_34,
            KubernetesVersion::V1_35 => &self.v1_35,
            KubernetesVersion::V1_36 => &self.v1_36,
        }
    }

    /// Makes the value for each version. That is for what is computed, such as a cache; facts are
    /// written out, so that none is taken over without a decision.
    ///
    /// ```
    /// use billhook_apimachinery::{KubernetesVersion, PerVersion};
    /// let names = PerVersion::from_fn(|version| format!("v{version}"));
    /// assert_eq!(names.of(KubernetesVersion::V1_34), "v1.34");
    /// ```
    pub fn from_fn(mut value: impl FnMut(KubernetesVersion) -> T) -> Self {
        PerVersion {
            v1_32: value(KubernetesVersion::V1_32),
            v1_33: value(KubernetesVersion::V1_33),
            v1_34: value(KubernetesVersion::V1_34),
            v1_35: value(KubernetesVersion::V1_35),
            v1_36: value(KubernetesVersion::V1_36),
        }
    }
}
