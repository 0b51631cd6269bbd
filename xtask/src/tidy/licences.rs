//! Licences of dependencies: only such that ask for no more than to be named.

use serde_json::Value;

use super::layers::{list, text};

const ALLOWED: [&str; 14] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

pub(super) fn check(metadata: &Value, problems: &mut Vec<String>) {
    for package in list(metadata, "packages") {
        let licence = text(package, "license");
        if !is_allowed(licence) {
            let (name, version) = (text(package, "name"), text(package, "version"));
            problems.push(format!("{name} {version}: the licence `{licence}` is not allowed"));
        }
    }
}

/// Reads an expression of SPDX without nested parentheses: all parts of an `AND`, one of an `OR`.
fn is_allowed(licence: &str) -> bool {
    let choice = |part: &str| {
        let mut names = part.trim_matches(['(', ')', ' ']).split(" OR ");
        names.any(|name| ALLOWED.contains(&name.trim()))
    };
    // Old manifests write `/` for `OR`.
    licence.replace('/', " OR ").split(" AND ").all(choice)
}

#[cfg(test)]
mod tests {
    use super::is_allowed;

    #[test]
    fn expressions() {
        assert!(is_allowed("MIT OR GPL-3.0"));
        assert!(is_allowed("(MIT OR Apache-2.0) AND Unicode-3.0"));
        assert!(is_allowed("MIT/Apache-2.0"));
        assert!(!is_allowed("MIT AND GPL-3.0"));
        assert!(!is_allowed(""));
    }
}
