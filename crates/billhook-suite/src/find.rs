//! Finding suites in directories.

use std::path::{Path, PathBuf};

use billhook_findings::Source;

use crate::examples;
use crate::files::{self, FileError, ReadFile};
use crate::openshift;

/// Returns the suites below a directory, sorted: those in the layout of OpenShift's API repository,
/// all files of YAML that have `cases` or `crdName` at the top, and directories with examples in
/// `valid` and `invalid`. A file or directory below that cannot be read may be one as well, and is
/// among them. Links to directories are not followed.
///
/// # Errors
///
/// If the directory itself cannot be read.
pub fn find_suites(directory: &Path, read: ReadFile) -> Result<Vec<PathBuf>, FileError> {
    let (mut suites, mut open) = (Vec::new(), vec![directory.to_owned()]);
    let may_be_suite = |path: &Path| files::read(path, read).map_or(true, |it| is_suite(&it));
    while let Some(below) = open.pop() {
        let entries = match files::entries(&below) {
            Ok(entries) => entries,
            Err(_) if below != directory => {
                suites.push(below);
                continue;
            }
            Err(error) => return Err(error),
        };
        let has_examples = examples::is_examples(&below);
        for (path, is_directory) in entries {
            if is_directory {
                let is_part = has_examples && examples::is_part(&path);
                open.extend((!is_part).then_some(path));
            } else if files::is_manifest(&path)
                && path.is_file()
                && (openshift::is_suite(&path) || may_be_suite(&path))
            {
                suites.push(path);
            }
        }
        suites.extend(has_examples.then_some(below));
    }
    suites.sort();
    Ok(suites)
}

/// Whether a text looks like a suite. One that is not YAML may be meant to be one as well.
fn is_suite(source: &Source) -> bool {
    let mut lines = source.text().lines();
    lines.any(|line| line.starts_with("cases:") || line.starts_with("crdName:"))
}
