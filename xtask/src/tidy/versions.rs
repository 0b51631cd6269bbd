//! Differences between Kubernetes versions are named facts: only `edition.rs` of a crate names a
//! version, so that a new one cannot be forgotten.

use super::Files;

/// A version, and what would hide one.
const NAMES: [&str; 3] = ["KubernetesVersion::V1_", "KubernetesVersion::{", "KubernetesVersion::*"];
/// The file of the versions themselves, and the one that has a field for each.
const OWN: [&str; 2] = ["/kubernetes_version.rs", "/per_version.rs"];

pub(super) fn check(files: &Files, problems: &mut Vec<String>) {
    for (file, text) in files.ending_in(".rs").filter(|(file, _)| is_checked(file)) {
        for line in named(text) {
            problems.push(format!(
                "{file}:{line}: names a Kubernetes version: make it a fact in `edition.rs`, or say \
                 `since`"
            ));
        }
    }
}

/// Whether a file is code of a crate that may not name versions.
fn is_checked(file: &str) -> bool {
    let may_name = file.ends_with("/edition.rs") || OWN.iter().any(|own| file.ends_with(own));
    file.starts_with("crates/") && file.contains("/src/") && !may_name
}

/// The numbers of the lines that name a version, except in documentation and tests, and where they
/// say since when there is something.
fn named(text: &str) -> Vec<usize> {
    let code = text.lines().enumerate().take_while(|(_, line)| line.trim() != "#[cfg(test)]");
    let names = code.filter(|(_, line)| {
        let is_comment = line.trim_start().starts_with("//");
        let names = NAMES.iter().any(|name| line.contains(name));
        names && !is_comment && !line.to_lowercase().contains("since")
    });
    names.map(|(index, _)| index + 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_named_in_editions_only() {
        let text = "\
/// assert!(KubernetesVersion::V1_32 < KubernetesVersion::V1_33);
let is_new = kubernetes >= KubernetesVersion::V1_34;
    KubernetesVersion::V1_32 | KubernetesVersion::V1_33 => false,
Field { since: KubernetesVersion::V1_32 }
Availability::Since(KubernetesVersion::V1_33)
let newest = KubernetesVersion::default();
use billhook::KubernetesVersion::{V1_33, V1_34};
#[cfg(test)]
let version = KubernetesVersion::V1_36;
";
        assert_eq!(named(text), [2, 3, 7]);
        assert!(is_checked("crates/billhook-cel/src/rules/tree.rs"));
        assert!(!is_checked("crates/billhook-cel/src/edition.rs"));
        assert!(!is_checked("crates/billhook-cel/tests/it/versions.rs"));
        assert!(!is_checked("crates/billhook-apimachinery/src/kubernetes_version.rs"));
    }
}
