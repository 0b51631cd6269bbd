//! `--kubernetes`: the version of the server to follow, or several to compare.

use billhook::{CrdOptions, KubernetesVersion};
use clap::Args;

/// The server to follow.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Server {
    /// Kubernetes version of the server to follow, from 1.32 to 1.36
    #[arg(long, value_name = "VERSION", default_value_t)]
    pub(crate) kubernetes: KubernetesVersion,
}

impl Server {
    pub(crate) fn crd_options(self) -> CrdOptions {
        CrdOptions::default().kubernetes(self.kubernetes)
    }
}

/// A Kubernetes version, or all from one to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Versions {
    versions: Vec<KubernetesVersion>,
    is_range: bool,
}

/// Reads `1.34` or `1.33..1.36`.
pub(crate) fn versions(text: &str) -> Result<Versions, String> {
    let version = |text: &str| text.parse::<KubernetesVersion>().map_err(|error| error.to_string());
    let Some((first, last)) = text.split_once("..") else {
        return Ok(Versions { versions: vec![version(text)?], is_range: false });
    };
    let range = version(first)?..=version(last)?;
    let all = KubernetesVersion::ALL.into_iter();
    let versions: Vec<_> = all.filter(|version| range.contains(version)).collect();
    match versions.is_empty() {
        true => Err("a range goes from an older version to a newer one".to_owned()),
        false => Ok(Versions { versions, is_range: true }),
    }
}

impl Versions {
    /// The versions, oldest first.
    pub(crate) fn all(&self) -> &[KubernetesVersion] {
        &self.versions
    }

    /// The version, unless a range was asked for.
    pub(crate) fn single(&self) -> Option<KubernetesVersion> {
        self.versions.first().copied().filter(|_| !self.is_range)
    }
}
