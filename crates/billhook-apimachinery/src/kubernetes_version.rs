//! The minor versions of Kubernetes whose servers are followed.

use std::fmt;
use std::str::FromStr;

/// A minor version of Kubernetes, whose servers are followed. Versions differ in what they accept,
/// in a few results, and in texts. The newest is the default.
///
/// Code does not compare versions to tell what differs. It asks for a fact by its name, which a table
/// in the file `edition.rs` of a crate has for every version ([`PerVersion`](crate::PerVersion)).
///
/// ```
/// use billhook_apimachinery::KubernetesVersion;
/// let version: KubernetesVersion = "1.34".parse()?;
/// assert!(version < KubernetesVersion::default());
/// assert_eq!(version.to_string(), "1.34");
/// # Ok::<(), billhook_apimachinery::KubernetesVersionError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum KubernetesVersion {
    /// Kubernetes 1.32.
    V1_32,
    /// Kubernetes 1.33.
    V1_33,
    /// Kubernetes 1.34.
    V1_34,
    /// Kubernetes 1.35.
    V1_35,
    /// Kubernetes 1.36.
    #[default]
    V1_36,
}

impl KubernetesVersion {
    /// All versions, oldest first.
    pub const ALL: [KubernetesVersion; 5] = [
        KubernetesVersion::V1_32,
        KubernetesVersion::V1_33,
        KubernetesVersion::V1_34,
        KubernetesVersion::V1_35,
        KubernetesVersion::V1_36,
    ];

    /// Returns the version as it is written, e.g. `1.34`.
    pub fn as_str(self) -> &'static str {
        match self {
            KubernetesVersion::V1_32 => "1.32",
            KubernetesVersion::V1_33 => "1.33",
            KubernetesVersion::V1_34 => "1.34",
            KubernetesVersion::V1_35 => "1.35",
            KubernetesVersion::V1_36 => "1.36",
        }
    }
}

impl fmt::Display for KubernetesVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A text that names none of the versions in [`KubernetesVersion`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown Kubernetes version `{written}`: expected one of {}", known())]
pub struct KubernetesVersionError {
    written: String,
}

fn known() -> String {
    KubernetesVersion::ALL.map(KubernetesVersion::as_str).join(", ")
}

impl FromStr for KubernetesVersion {
    type Err = KubernetesVersionError;

    /// Parses a minor version, such as `1.34`, also out of the version of a server: `v1.34.2`,
    /// `v1.34.2-gke.100`. All patches of a minor version are alike.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = text.strip_prefix('v').unwrap_or(text);
        let is_patch = |rest: &str| rest.starts_with(|first: char| first.is_ascii_digit());
        let names = |version: &Self| match number.strip_prefix(version.as_str()) {
            Some("") => true,
            Some(rest) => rest.strip_prefix('.').is_some_and(is_patch),
            None => false,
        };
        let error = || KubernetesVersionError { written: text.to_owned() };
        Self::ALL.into_iter().find(names).ok_or_else(error)
    }
}
