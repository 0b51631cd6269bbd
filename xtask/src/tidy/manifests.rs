//! Manifests: every crate takes versions and lints from the workspace, and uses the crates of the
//! workspace that it depends on.

use super::Files;

pub(super) fn check(files: &Files, problems: &mut Vec<String>) {
    for (file, text) in files.ending_in("/Cargo.toml") {
        if file.starts_with("fuzz/") {
            continue;
        }
        if file.starts_with("crates/") && !text.contains("[lints]\nworkspace = true") {
            problems.push(format!("{file}: does not use the lints of the workspace"));
        }
        for (section, name, line) in dependencies(text) {
            if !line.contains("workspace = true") {
                problems.push(format!("{file}: a version of its own: {line}"));
            }
            if section == "dependencies" && name.starts_with("billhook") {
                check_use(file, name, files, problems);
            }
        }
    }
}

/// The lines of all tables of dependencies: the table, the name, the line.
fn dependencies(text: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    let mut section = "";
    text.lines().filter_map(move |line| {
        if line.starts_with('[') {
            section = line.trim_matches(['[', ']']);
        }
        let name = line.split(['.', '=', ' ']).next().unwrap_or_default();
        let is_dependency = section.ends_with("dependencies") && line.contains('=');
        (is_dependency && !line.starts_with('#')).then_some((section, name, line))
    })
}

fn check_use(manifest: &str, dependency: &str, files: &Files, problems: &mut Vec<String>) {
    let directory = manifest.trim_end_matches("Cargo.toml");
    let name = dependency.replace('-', "_");
    let of_crate = |(file, _): &(&str, &str)| {
        file.strip_prefix(directory).is_some_and(|file| !file.starts_with("tests/"))
    };
    let mut sources = files.ending_in(".rs").filter(of_crate);
    if !sources
        .any(|(_, text)| text.contains(&format!("{name}::")) || text.contains(&format!("{name};")))
    {
        problems.push(format!("{manifest}: {dependency} is not used"));
    }
}
