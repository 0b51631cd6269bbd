//! The looks of a file: white space, its heading, its length, nothing left for later.

use super::Files;

/// Source files beyond this many lines hold a second idea.
const MAX_LINES: usize = 600;
const UNFINISHED: [&str; 6] = ["todo!", "unimplemented!", "FIXME", "XXX", "HACK", "#[ignore"];

pub(super) fn check(files: &Files, problems: &mut Vec<String>) {
    for (file, text) in files.all() {
        let is_data = [".json", ".jsonl", ".snap"].iter().any(|ending| file.ends_with(ending))
            || file.starts_with("fuzz/corpus/");
        if !is_data && !text.is_empty() {
            check_file(file, text, problems);
        }
    }
}

fn check_file(file: &str, text: &str, problems: &mut Vec<String>) {
    let is_rust = file.ends_with(".rs");
    for (index, line) in text.lines().enumerate() {
        let mut report = |problem: &str| problems.push(format!("{file}:{}: {problem}", index + 1));
        if line.ends_with([' ', '\t']) {
            report("trailing white space");
        }
        if line.contains('\t') && !file.ends_with("Makefile") {
            report("tab");
        }
        if is_rust && !file.starts_with("xtask/src/tidy") {
            for mark in UNFINISHED.iter().filter(|mark| line.contains(**mark)) {
                report(&format!("`{mark}`"));
            }
        }
    }
    if !text.ends_with('\n') || text.ends_with("\n\n") {
        problems.push(format!("{file}: does not end with one line break"));
    }
    let has_heading = text.starts_with("//!") || text.starts_with("#![doc = include_str!");
    if is_rust && !has_heading {
        problems.push(format!("{file}: no heading that says what the file is for"));
    }
    let lines = text.lines().count();
    // Tables that are made of data hold what the data holds.
    let is_generated = file.contains("/src/generated/");
    if is_rust && lines > MAX_LINES && !is_generated {
        problems.push(format!("{file}: {lines} lines, more than {MAX_LINES}"));
    }
}
