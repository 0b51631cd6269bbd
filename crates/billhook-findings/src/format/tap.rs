//! The Test Anything Protocol, version 14.

use billhook_apimachinery::print::quote;

use super::location;
use crate::finding::Finding;
use crate::report::Subject;
use crate::visible::visible;

pub(super) fn document(subjects: &[Subject]) -> String {
    let mut out = format!("TAP version 14\n1..{}\n", subjects.len());
    for (index, subject) in subjects.iter().enumerate() {
        let word = if subject.has_errors() { "not ok" } else { "ok" };
        let name = description(&format!("{}: {}", subject.file, subject.name));
        out.push_str(&format!("{word} {} - {name}\n", index + 1));
        if !subject.findings.is_empty() {
            out.push_str("  ---\n  findings:\n");
            subject.findings.iter().for_each(|finding| diagnostic(&mut out, finding));
            out.push_str("  ...\n");
        }
    }
    out
}

fn diagnostic(out: &mut String, finding: &Finding) {
    let fields = [
        ("severity", finding.severity.as_str()),
        ("rule", &finding.rule),
        ("at", &location(finding)),
        ("text", &finding.text),
    ];
    for (index, (name, text)) in fields.into_iter().enumerate() {
        let dash = if index == 0 { "-" } else { " " };
        out.push_str(&format!("    {dash} {name}: {}\n", quote(text)));
    }
}

/// A description, in which `#` would begin a directive.
fn description(text: &str) -> String {
    visible(text).replace('\\', "\\\\").replace('#', "\\#")
}
