//! The rule book: every rule has an anchor, a reason and an example, and every rule that the
//! project cites exists.

use std::collections::{BTreeMap, BTreeSet};

use super::Files;

/// Names with a number that are not rules.
const OTHER_NAMES: [&str; 6] = ["DNS", "KEP", "RFC", "SHA", "UTF", "ISO"];

pub(super) fn check(files: &Files, problems: &mut Vec<String>) {
    let mut rules = BTreeMap::new();
    for (file, text) in files.ending_in(".md").filter(|(file, _)| file.starts_with("docs/rules/")) {
        check_book(file, text, &mut rules, problems);
    }
    for (file, text) in files.all().filter(|(file, _)| cites(file)) {
        for (index, line) in text.lines().enumerate() {
            let unknown = cited(line).into_iter().filter(|id| !rules.contains_key(*id));
            let unknown: BTreeSet<&str> = unknown.collect();
            for id in unknown {
                problems.push(format!("{file}:{}: there is no rule {id}", index + 1));
            }
        }
    }
}

/// Whether a file is one that people read.
fn cites(file: &str) -> bool {
    file.ends_with(".md") || file.ends_with(".rs") && !file.starts_with("xtask/src/tidy/")
}

/// Checks the rules of a file and collects their ids.
fn check_book<'t>(
    file: &'t str,
    text: &'t str,
    rules: &mut BTreeMap<&'t str, &'t str>,
    problems: &mut Vec<String>,
) {
    let lines: Vec<&str> = text.lines().collect();
    let mut in_code = false;
    for (index, line) in lines.iter().enumerate() {
        in_code ^= line.starts_with("```");
        let first = line.split(' ').next().unwrap_or_default();
        if in_code && is_id(first) {
            // An example of the appendix.
            rules.insert(first, file);
        }
        let Some(heading) = line.strip_prefix("### ") else { continue };
        let id = heading.split(' ').next().unwrap_or_default();
        let mut report =
            |problem: &str| problems.push(format!("{file}:{}: {id}: {problem}", index + 1));
        if cited(id) != [id] {
            report("not the id of a rule");
        }
        let before = index.checked_sub(1).and_then(|before| lines.get(before));
        if before.is_none_or(|line| *line != format!("<a id=\"{id}\"></a>")) {
            report("no anchor of this name in the line before");
        }
        let is_end = |line: &&&str| line.starts_with("### ") || line.starts_with("## ");
        let body = lines.iter().skip(index + 1).take_while(|line| !is_end(line));
        for part in ["**Why.** ", "**Example.** "] {
            if !body.clone().any(|line| line.starts_with(part)) {
                report(&format!("no paragraph {part}"));
            }
        }
        if let Some(other) = rules.insert(id, file) {
            report(&format!("also in {other}"));
        }
    }
}

/// All that look like ids of rules: capital letters, a dash, `L` or `T` or nothing, digits.
fn cited(line: &str) -> Vec<&str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    line.split(|c| !is_part(c)).filter(|word| is_id(word)).collect()
}

fn is_id(word: &str) -> bool {
    let Some((family, number)) = word.split_once('-') else { return false };
    let digits = number.strip_prefix(['L', 'T']).unwrap_or(number);
    (2..=4).contains(&family.len())
        && family.bytes().all(|b| b.is_ascii_uppercase())
        && (1..=3).contains(&digits.len())
        && digits.bytes().all(|b| b.is_ascii_digit())
        && !OTHER_NAMES.contains(&family)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids() {
        assert_eq!(
            cited("as in PR-12, (WCF-L1) or `DI-T1`/SS-02"),
            ["PR-12", "WCF-L1", "DI-T1", "SS-02"]
        );
        assert!(cited("UTF-8 KEP-575 A-1 PR-X PR-1234 X-PR-12 pr-12").is_empty());
    }
}
