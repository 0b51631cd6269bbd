//! Finding suites in directories.

use std::path::{Path, PathBuf};

use billhook_findings::Source;

use crate::files::{self, FileError, ReadFile};
use crate::openshift;

/// Returns the suites below a directory, sorted: those in the layout of OpenShift's API repository,
/// and all files of YAML that have `cases` or `crdName` at the top. Links to directories are not
/// followed.
///
/// # Errors
///
/// If a file or directory cannot be read.
pub fn find_suites(directory: &Path, read: ReadFile) -> Result<Vec<PathBuf>, FileError> {
    let mut suites = Vec::new();
    for path in files::files_below(directory)? {
        if !openshift::is_suite(&path) {
            let source = files::read(&path, read)?;
            if !is_suite(&source) {
                continue;
            }
        }
        suites.push(path);
    }
    Ok(suites)
}

/// Whether a text looks like a suite. One that is not YAML may be meant to be one as well.
fn is_suite(source: &Source) -> bool {
    let mut lines = source.text().lines();
    lines.any(|line| line.starts_with("cases:") || line.starts_with("crdName:"))
}
