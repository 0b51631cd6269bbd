//! Phrases that the project does not use, in comments and documents. Where some are left, their
//! number can only go down.

use super::{Files, Findings};

/// The phrase, how often it may still occur, what to write instead.
const PHRASES: [(&str, usize, &str); 14] = [
    ("//! What ", 0, "a noun, or a sentence with a subject"),
    ("/// What ", 0, "a noun, or a sentence with a subject"),
    ("/// Gives ", 0, "Returns"),
    (" behind ", 0, "after"),
    (" is no ", 16, "is not a"),
    (" but for ", 0, "except for"),
    ("becomes of", 0, "happens to"),
    ("normalis", 0, "normaliz"),
    ("told", 3, "reported, known or distinguished"),
    ("nobody", 2, "a noun, or the passive"),
    ("somebody", 1, "a noun, or the passive"),
    ("whoever", 1, "a noun"),
    ("in no time", 1, "in constant time"),
    ("that there is", 1, "existing, or nothing"),
];

pub(super) fn check(files: &Files, findings: &mut Findings) {
    for (phrase, allowed, instead) in PHRASES {
        let mut places = Vec::new();
        for (file, text) in files.all().filter(|(file, _)| is_ours(file)) {
            for (index, line) in text.lines().enumerate() {
                if is_prose(file, line) && line.contains(phrase) {
                    places.push(format!("{file}:{}", index + 1));
                }
            }
        }
        let count = places.len();
        let phrase = phrase.trim();
        if count > allowed {
            let last: Vec<&str> = places.iter().rev().take(8).map(String::as_str).collect();
            findings.problems.push(format!(
                "`{phrase}` occurs {count} times, {allowed} are allowed; write {instead}: {}",
                last.join(", ")
            ));
        } else if count < allowed {
            findings.notes.push(format!(
                "`{phrase}` occurs {count} times: lower its number in xtask/src/tidy/words.rs"
            ));
        }
    }
}

fn is_ours(file: &str) -> bool {
    file.ends_with(".rs") && !file.ends_with("tidy/words.rs")
        || file.ends_with(".md") && !file.starts_with("docs/rules/")
}

fn is_prose(file: &str, line: &str) -> bool {
    file.ends_with(".md") || line.trim_start().starts_with("//")
}
