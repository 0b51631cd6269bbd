//! Where setup-envtest keeps its programs (ET-51).

use std::path::{Path, PathBuf};

use billhook_apiserver::platform;

use crate::program::Release;

/// The directory of a release, such as `k8s/1.36.999-linux-amd64`.
pub(super) fn directory(release: Release, base: &Path) -> PathBuf {
    let (system, architecture) = platform();
    base.join("k8s").join(format!("{release}-{system}-{architecture}"))
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
