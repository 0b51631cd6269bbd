//! `--kubernetes`: the version of the server to follow, or several to compare.

use std::path::PathBuf;

use billhook::{CrdOptions, KubernetesVersion};
use clap::Args;

use crate::policy::Config;
use crate::problem::Problem;

/// The server to follow.
#[derive(Clone, Debug, Args)]
pub(crate) struct Server {
    #[arg(long, value_name = "VERSION", help = version_help(""))]
    kubernetes: Option<KubernetesVersion>,
    /// Settings of the project [default: billhook.toml in the directory of the first input or above]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// The help of `--kubernetes`, which may take more than a version.
pub(crate) fn version_help(more: &str) -> String {
    let [oldest, .., newest] = KubernetesVersion::ALL;
    format!(
        "Kubernetes version of the server to follow, from {oldest} to {newest}{more} [default: that \
         of billhook.toml, or {newest}]"
    )
}

/// A range of versions, as an example.
pub(crate) fn example_range() -> String {
    let [_, first, .., last] = KubernetesVersion::ALL;
    format!("{first}..{last}")
}

impl Server {
    /// Reads the settings of the project.
    pub(crate) fn config(&self, inputs: &[PathBuf]) -> Result<Config, Box<Problem>> {
        Config::load(self.config.as_deref(), inputs)
    }

    pub(crate) fn kubernetes(&self, config: &Config) -> KubernetesVersion {
        self.kubernetes.or(config.kubernetes()).unwrap_or_default()
    }

    pub(crate) fn crd_options(&self, config: &Config) -> CrdOptions {
        CrdOptions::default().kubernetes(self.kubernetes(config))
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

impl From<KubernetesVersion> for Versions {
    fn from(version: KubernetesVersion) -> Self {
        Versions { versions: vec![version], is_range: false }
    }
}
