//! A rule as text for a terminal: paragraphs and lists are wrapped, code stays as it is. Colors and
//! emphasis are taken out by the code that prints the text.

use std::fmt::Write as _;

use anstyle::Style;

use super::book::Rule;
use super::inline::{WIDTH, plain, wrap};
use super::table;
use crate::report::HEADER;

const CONTEXT: Style = Style::new().dimmed();

/// A rule with its heading.
pub(crate) fn rule(rule: &Rule<'_>) -> String {
    let title = plain(rule.title);
    let mut out = format!("{HEADER}{} {title}{HEADER:#}\n", rule.id);
    let headings = [Some(rule.chapter), rule.section].into_iter().flatten();
    let context = headings.map(plain).collect::<Vec<_>>().join(" / ");
    let _ = writeln!(out, "{CONTEXT}{context}{CONTEXT:#}");
    out.push_str(&body(rule.body));
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// The blocks of a rule.
pub(super) fn body(markdown: &str) -> String {
    let mut out = String::new();
    let mut lines = markdown.lines().peekable();
    while let Some(text) = lines.next() {
        if text.starts_with("```") {
            for code in lines.by_ref().take_while(|line| !line.starts_with("```")) {
                let _ = writeln!(out, "    {code}");
            }
        } else if text.starts_with('|') {
            let mut rows = vec![text];
            while let Some(row) = lines.next_if(|line| line.starts_with('|')) {
                rows.push(row);
            }
            out.push_str(&table::render(&rows));
        } else if text.starts_with("    ") {
            let _ = writeln!(out, "{text}");
        } else {
            paragraph(&mut out, text);
        }
    }
    out
}

/// A paragraph or an item of a list, whose further lines are indented as its text.
fn paragraph(out: &mut String, text: &str) {
    let (marker, text) = split_marker(text);
    let lines = wrap(text, WIDTH.saturating_sub(marker.len()));
    let indent = " ".repeat(marker.len());
    if lines.is_empty() {
        out.push('\n');
    }
    for (index, (text, _)) in lines.into_iter().enumerate() {
        let before = if index == 0 { marker } else { &indent };
        let _ = writeln!(out, "{before}{text}");
    }
}

/// Splits `- `, `* ` or `12. ` with the space before it from a line.
fn split_marker(text: &str) -> (&str, &str) {
    let inner = text.trim_start();
    let digits = inner.trim_start_matches(|c: char| c.is_ascii_digit());
    let after = match digits.strip_prefix(". ") {
        Some(after) if digits.len() < inner.len() => Some(after),
        _ => inner.strip_prefix("- ").or_else(|| inner.strip_prefix("* ")),
    };
    let after = after.unwrap_or(inner);
    text.split_at_checked(text.len() - after.len()).unwrap_or(("", text))
}
