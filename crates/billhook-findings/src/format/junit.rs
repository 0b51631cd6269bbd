//! JUnit's XML, as CI systems read it.

use super::concise;
use crate::finding::{Finding, Severity};
use crate::report::Subject;
use crate::visible::visible;

pub(super) fn document(subjects: &[Subject]) -> String {
    let failures = subjects.iter().filter(|subject| subject.has_errors()).count();
    let counts = format!("tests=\"{}\" failures=\"{failures}\"", subjects.len());
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n  \
         <testsuite name=\"billhook\" {counts}>\n"
    );
    subjects.iter().for_each(|subject| case(&mut out, subject));
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

fn case(out: &mut String, subject: &Subject) {
    let (name, file) = (escaped(&visible(&subject.name)), escaped(&visible(&subject.file)));
    out.push_str(&format!("    <testcase name=\"{name}\" classname=\"{file}\""));
    if subject.findings.is_empty() {
        out.push_str("/>\n");
        return;
    }
    out.push_str(">\n");
    let is_error = |finding: &&Finding| finding.severity == Severity::Error;
    let errors: Vec<&Finding> = subject.findings.iter().filter(is_error).collect();
    if let Some(first) = errors.first() {
        let (text, rule) = (escaped(&visible(&first.text)), escaped(&visible(&first.rule)));
        let lines = escaped(&lines(errors.iter().copied()));
        out.push_str(&format!(
            "      <failure message=\"{text}\" type=\"{rule}\">{lines}</failure>\n"
        ));
    }
    let others: Vec<&Finding> = subject.findings.iter().filter(|it| !is_error(it)).collect();
    if !others.is_empty() {
        let lines = escaped(&lines(others.into_iter()));
        out.push_str(&format!("      <system-out>{lines}</system-out>\n"));
    }
    out.push_str("    </testcase>\n");
}

fn lines<'f>(findings: impl Iterator<Item = &'f Finding>) -> String {
    findings.map(concise).collect::<String>().trim_end().to_owned()
}

/// A text in XML, which cannot hold control characters at all: the text has none.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\n', "&#10;")
}
