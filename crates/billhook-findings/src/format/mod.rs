//! The forms in which findings are printed.

mod ci;
mod human;
mod json;
mod junit;
mod sarif;
mod tap;

use crate::finding::Finding;
use crate::report::Subject;
use crate::visible::visible;

pub use human::human;

/// A form in which findings are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Excerpts of the texts with marks, for people.
    #[default]
    Human,
    /// `file:line:column: severity[RULE] text`, a line each.
    Concise,
    /// One JSON document (`docs/formats/findings.schema.json`).
    Json,
    /// A JSON document a line, as in the list of [`Format::Json`].
    Ndjson,
    /// SARIF 2.1.0.
    Sarif,
    /// Commands of GitHub's workflows, which become annotations.
    Github,
    /// The code quality report of GitLab.
    Gitlab,
    /// JUnit's XML: a case for each object.
    Junit,
    /// The Test Anything Protocol, version 14: a test for each object.
    Tap,
    /// Commands of Azure Pipelines.
    Azure,
}

/// Returns what was found in a form, for subjects in their order.
pub fn print(format: Format, subjects: &[Subject]) -> String {
    let findings = || subjects.iter().flat_map(|subject| &subject.findings);
    match format {
        Format::Human => findings().map(|finding| human(finding, false)).collect(),
        Format::Concise => findings().map(concise).collect(),
        Format::Json => json::document(findings()),
        Format::Ndjson => findings().map(json::line).collect(),
        Format::Sarif => sarif::document(findings()),
        Format::Github => findings().map(ci::github).collect(),
        Format::Gitlab => ci::gitlab(findings()),
        Format::Junit => junit::document(subjects),
        Format::Tap => tap::document(subjects),
        Format::Azure => findings().map(ci::azure).collect(),
    }
}

fn concise(finding: &Finding) -> String {
    let severity = finding.severity.as_str();
    let (rule, text) = (visible(&finding.rule), visible(&finding.text));
    match location(finding) {
        place if place.is_empty() => format!("{severity}[{rule}] {text}\n"),
        place => format!("{place}: {severity}[{rule}] {text}\n"),
    }
}

/// The path of a file as CI systems want it, which know it without `./` before it.
fn relative(file: &str) -> &str {
    file.trim_start_matches("./")
}

/// `file:line:column`, without the parts that are unknown.
fn location(finding: &Finding) -> String {
    let file = visible(finding.file());
    match finding.start() {
        Some(start) => format!("{file}:{}:{}", start.line, start.column),
        None => file,
    }
}
