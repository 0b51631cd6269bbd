//! The commands and reports of CI systems.

use billhook::to_json_pretty;
use serde_json::{Value, json};

use super::relative;
use crate::finding::{Finding, Severity};
use crate::visible::visible;

/// A command of GitHub's workflows.
pub(super) fn github(finding: &Finding) -> String {
    let command = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    };
    let mut properties = Vec::new();
    if !finding.file().is_empty() {
        properties.push(format!("file={}", github_property(relative(finding.file()))));
    }
    if let Some((start, end)) = finding.start().zip(finding.end()) {
        properties.push(format!("line={},endLine={}", start.line, end.line));
        if start.line == end.line {
            properties.push(format!("col={},endColumn={}", start.column, end.column));
        }
    }
    properties.push(format!("title={}", github_property(&finding.rule)));
    let mut data = github_data(&finding.text);
    // A line break in the message of a command.
    let mut line = |prefix: &str, text: &str| {
        data.push_str(&format!("%0A{prefix}{}", github_data(text)));
    };
    if let Some(label) = &finding.label {
        line("", label);
    }
    if let Some(help) = &finding.help {
        line("help: ", help);
    }
    format!("::{command} {}::{data}\n", properties.join(","))
}

fn github_data(text: &str) -> String {
    visible(text).replace('%', "%25")
}

fn github_property(text: &str) -> String {
    github_data(text).replace(':', "%3A").replace(',', "%2C")
}

/// A command of Azure Pipelines, which has no notes.
pub(super) fn azure(finding: &Finding) -> String {
    let kind = if finding.severity == Severity::Error { "error" } else { "warning" };
    let mut properties = format!("type={kind};");
    if !finding.file().is_empty() {
        properties.push_str(&format!("sourcepath={};", azure_text(relative(finding.file()))));
    }
    if let Some(start) = finding.start() {
        properties.push_str(&format!("linenumber={};columnnumber={};", start.line, start.column));
    }
    properties.push_str(&format!("code={};", azure_text(&finding.rule)));
    format!("##vso[task.logissue {properties}]{}\n", azure_text(&finding.text))
}

fn azure_text(text: &str) -> String {
    let text = visible(text).replace('%', "%AZP25");
    text.replace(';', "%3B").replace(']', "%5D")
}

/// The code quality report of GitLab.
pub(super) fn gitlab<'f>(findings: impl Iterator<Item = &'f Finding>) -> String {
    to_json_pretty(&findings.map(gitlab_issue).collect::<Value>()) + "\n"
}

fn gitlab_issue(finding: &Finding) -> Value {
    let severity = match finding.severity {
        Severity::Error => "major",
        Severity::Warning => "minor",
        Severity::Note => "info",
    };
    let line = finding.start().map_or(1, |start| start.line);
    json!({
        "description": visible(&finding.text),
        "check_name": finding.rule,
        "fingerprint": finding.fingerprint(),
        "severity": severity,
        "location": {"path": relative(finding.file()), "lines": {"begin": line}},
    })
}
