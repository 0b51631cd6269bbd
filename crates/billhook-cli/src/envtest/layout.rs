//! Where setup-envtest keeps its programs (ET-51).

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use billhook::KubernetesVersion;

/// A release: a version of Kubernetes and a number, such as `1.36.2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Release {
    pub(crate) kubernetes: KubernetesVersion,
    patch: u32,
}

/// No real release has this number, and tools that look for the newest one of a version find it
/// (ET-52).
impl Default for Release {
    fn default() -> Self {
        Release { kubernetes: KubernetesVersion::default(), patch: 999 }
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.kubernetes, self.patch)
    }
}

impl FromStr for Release {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.strip_prefix('v').unwrap_or(text);
        let (kubernetes, patch) = match text.rsplit_once('.') {
            Some((rest, patch)) if rest.contains('.') => {
                let patch = patch.parse().map_err(|_| format!("{patch:?} is not a number"))?;
                (rest, patch)
            }
            _ => (text, Release::default().patch),
        };
        let kubernetes = kubernetes.parse::<KubernetesVersion>();
        Ok(Release { kubernetes: kubernetes.map_err(|error| error.to_string())?, patch })
    }
}

impl Release {
    /// The release that the directory of a program is named after, if it is.
    pub(crate) fn of_program(path: &Path) -> Option<Self> {
        let directory = path.parent()?.file_name()?.to_str()?;
        directory.split_once('-')?.0.parse().ok()
    }

    /// The directory of the release, such as `k8s/1.36.999-linux-amd64`.
    pub(super) fn directory(self, base: &Path) -> PathBuf {
        base.join("k8s").join(format!("{self}-{}-{}", system(), architecture()))
    }
}

/// The directory that setup-envtest uses unless another is named; `None` if the environment does not
/// say where the user's files are.
pub(super) fn base() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let home = || variable("HOME").map(PathBuf::from);
    match std::env::consts::OS {
        "macos" => Some(home()?.join("Library/Application Support/io.kubebuilder.envtest")),
        "windows" => Some(PathBuf::from(variable("LocalAppData")?).join("kubebuilder-envtest")),
        _ => {
            let data = variable("XDG_DATA_HOME").map(PathBuf::from);
            let data = data.map_or_else(|| Some(home()?.join(".local/share")), Some)?;
            Some(data.join("kubebuilder-envtest"))
        }
    }
}

/// The name that Go has for the system.
fn system() -> &'static str {
    match std::env::consts::OS {
        "macos" => "darwin",
        system => system,
    }
}

/// The name that Go has for the architecture.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "x86" => "386",
        "powerpc64" => "ppc64le",
        architecture => architecture,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_read_and_found_in_paths() {
        for (text, shown) in [("1.36.2", "1.36.2"), ("v1.34.1", "1.34.1"), ("1.35", "1.35.999")] {
            assert_eq!(text.parse::<Release>().unwrap().to_string(), shown);
        }
        for text in ["", "1", "1.36.x", "2.0.0", "1.20.1"] {
            assert!(text.parse::<Release>().is_err(), "{text}");
        }
        let of = |path: &str| Release::of_program(Path::new(path)).map(|it| it.to_string());
        assert_eq!(of("/a/k8s/1.34.1-linux-amd64/kube-apiserver").unwrap(), "1.34.1");
        assert_eq!(of("/usr/local/kubebuilder/bin/kube-apiserver"), None);
        assert_eq!(of("kube-apiserver"), None);
    }
}
