//! Manifests: every crate takes versions and lints from the workspace, uses the crates of the
//! workspace that it depends on, and runs the tests that it has.

use super::Files;

pub(super) fn check(files: &Files, problems: &mut Vec<String>) {
    for (file, text) in files.ending_in("/Cargo.toml") {
        if file.starts_with("fuzz/") {
            continue;
        }
        if file.starts_with("crates/") && !text.contains("[lints]\nworkspace = true") {
            problems.push(format!("{file}: does not use the lints of the workspace"));
        }
        check_library(file, text, files, problems);
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

/// A library without tests in `src` need not be built once more to run them.
fn check_library(manifest: &str, text: &str, files: &Files, problems: &mut Vec<String>) {
    let Some(library) = text.split("\n[").find(|section| section.starts_with("lib]")) else {
        return;
    };
    let tests: &[&str] = &["#[test]", "#[cfg(test)]"];
    let examples: &[&str] =
        &["/// ```", "//! ```", "#[doc = include_str!", "#![doc = include_str!"];
    for (what, marks) in [("test", tests), ("doctest", examples)] {
        let is_mark = |line: &str| marks.iter().any(|mark| line.trim_start().starts_with(mark));
        let mut of_crate = sources(manifest, files);
        let found = of_crate.find(|(_, source)| source.lines().any(is_mark));
        if let (Some((file, _)), true) = (found, library.contains(&format!("\n{what} = false"))) {
            problems
                .push(format!("{file}: has tests that `{what} = false` in {manifest} leaves out"));
        }
    }
}

/// The sources of a crate except for its integration tests.
fn sources<'f>(manifest: &str, files: &'f Files) -> impl Iterator<Item = (&'f str, &'f str)> {
    let directory = manifest.trim_end_matches("Cargo.toml").to_owned();
    files.ending_in(".rs").filter(move |(file, _)| {
        file.strip_prefix(&directory).is_some_and(|file| !file.starts_with("tests/"))
    })
}

fn check_use(manifest: &str, dependency: &str, files: &Files, problems: &mut Vec<String>) {
    let name = dependency.replace('-', "_");
    let is_used =
        |text: &str| text.contains(&format!("{name}::")) || text.contains(&format!("{name};"));
    if !sources(manifest, files).any(|(_, text)| is_used(text)) {
        problems.push(format!("{manifest}: {dependency} is not used"));
    }
}
