//! File hygiene: what every file of the project must look like.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Source files beyond this many lines hold a second idea.
const MAX_LINES: usize = 600;

/// Checks all files that git knows; gives what is wrong, sorted by file.
pub fn check(root: &Path) -> Result<Vec<String>, String> {
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("git: {error}"))?;
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let mut files: Vec<&str> = listed.lines().collect();
    files.sort_unstable();
    let mut problems = Vec::new();
    for file in files {
        if let Ok(text) = std::fs::read_to_string(root.join(file)) {
            check_file(file, &text, &mut problems);
        }
    }
    check_manifests(root, &mut problems)?;
    Ok(problems)
}

fn check_file(file: &str, text: &str, problems: &mut Vec<String>) {
    let is_data = [".json", ".jsonl", ".snap"].iter().any(|ending| file.ends_with(ending))
        || file.starts_with("fuzz/corpus/");
    if is_data || text.is_empty() {
        return;
    }
    for (index, line) in text.lines().enumerate() {
        let mut report = |problem: &str| problems.push(format!("{file}:{}: {problem}", index + 1));
        if line.ends_with([' ', '\t']) {
            report("trailing white space");
        }
        if line.contains('\t') && !file.ends_with("Makefile") {
            report("tab");
        }
        if file.ends_with(".rs") && !file.starts_with("xtask/src/tidy") {
            for mark in ["todo!", "unimplemented!", "FIXME", "XXX", "HACK", "#[ignore"] {
                if line.contains(mark) {
                    report(&format!("`{mark}`"));
                }
            }
        }
    }
    if !text.ends_with('\n') || text.ends_with("\n\n") {
        problems.push(format!("{file}: does not end with one line break"));
    }
    if file.ends_with(".rs") {
        if !text.starts_with("//!") {
            problems.push(format!("{file}: no heading that says what the file is for"));
        }
        let lines = text.lines().count();
        if lines > MAX_LINES {
            problems.push(format!("{file}: {lines} lines, more than {MAX_LINES}"));
        }
    }
}

/// Every crate takes its versions and lints from the workspace.
fn check_manifests(root: &Path, problems: &mut Vec<String>) -> Result<(), String> {
    let entries = std::fs::read_dir(root.join("crates")).map_err(|error| error.to_string())?;
    let mut crates: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    crates.sort();
    for directory in crates {
        let manifest = directory.join("Cargo.toml");
        let shown = manifest.strip_prefix(root).unwrap_or(&manifest).display().to_string();
        let text = std::fs::read_to_string(&manifest).map_err(|e| format!("{shown}: {e}"))?;
        if !text.contains("[lints]\nworkspace = true") {
            problems.push(format!("{shown}: does not use the lints of the workspace"));
        }
        for line in text.lines().filter(|line| line.contains("version = \"")) {
            problems.push(format!("{shown}: a version of its own: {line}"));
        }
    }
    Ok(())
}

/// `cargo xtask tidy`.
pub fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    match check(&root) {
        Ok(problems) if problems.is_empty() => {
            println!("tidy");
            ExitCode::SUCCESS
        }
        Ok(problems) => {
            problems.iter().for_each(|problem| eprintln!("{problem}"));
            eprintln!("{} problems", problems.len());
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
