//! The programs whose names the command goes by, and the releases that their directories are named
//! after.

use std::ffi::OsStr;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

use billhook::KubernetesVersion;

/// A program whose place is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    ApiServer,
    Etcd,
    Kubectl,
}

impl Program {
    pub(crate) const ALL: [Program; 3] = [Program::ApiServer, Program::Etcd, Program::Kubectl];

    /// The name of its file.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Program::ApiServer => "kube-apiserver",
            Program::Etcd => "etcd",
            Program::Kubectl => "kubectl",
        }
    }

    /// The program that was started by a path, whatever file lies there (ET-04).
    pub(crate) fn of(path: &OsStr) -> Option<Self> {
        let name = Path::new(path).file_name()?.to_str()?;
        let name = name.strip_suffix(".exe").unwrap_or(name);
        Self::ALL.into_iter().find(|program| program.name() == name)
    }
}

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
}
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_files() {
        for (path, program) in [
            ("kube-apiserver", Some(Program::ApiServer)),
            ("/a b/k8s/1.36.0-linux-amd64/etcd", Some(Program::Etcd)),
            ("bin/kubectl.exe", Some(Program::Kubectl)),
            ("billhook", None),
            ("etcdctl", None),
            ("", None),
        ] {
            assert_eq!(Program::of(OsStr::new(path)), program, "{path}");
        }
    }

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
