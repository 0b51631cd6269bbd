//! SARIF 2.1.0, the static analysis results interchange format.

use billhook::{Span, to_json_pretty};
use indexmap::IndexSet;
use serde_json::{Value, json};

use super::json::object;
use super::relative;
use crate::finding::{Edit, Finding, Label, Severity};
use crate::source::Source;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

pub(super) fn document<'f>(findings: impl Iterator<Item = &'f Finding>) -> String {
    let mut rules = IndexSet::new();
    let results: Vec<Value> = findings
        .map(|finding| {
            let (index, _) = rules.insert_full(finding.rule.as_str());
            result(finding, index)
        })
        .collect();
    let rules: Vec<Value> = rules.into_iter().map(rule).collect();
    let driver = json!({
        "name": "billhook",
        "version": env!("CARGO_PKG_VERSION"),
        "rules": rules,
    });
    let document = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": driver},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    to_json_pretty(&document) + "\n"
}

fn rule(id: &str) -> Value {
    json!({
        "id": id,
        "helpUri": help_uri(id),
        "help": {"text": format!("billhook explain {id}")},
    })
}

/// The page of Kubernetes' documentation that a rule is about.
fn help_uri(id: &str) -> &'static str {
    match id.split('-').next().unwrap_or_default() {
        "WCF" | "WM" | "AR" | "DI" | "WC" => {
            "https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/"
        }
        "CE" => "https://kubernetes.io/docs/reference/using-api/cel/",
        "RP" => "https://kubernetes.io/docs/reference/using-api/api-concepts/#field-validation",
        _ => {
            "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/"
        }
    }
}

fn result(finding: &Finding, rule: usize) -> Value {
    let level = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let place = finding.place.as_ref();
    let location = place.map(|place| {
        let mut location = location(&place.source, finding.span);
        if let (Some(members), false) = (location.as_object_mut(), finding.path.is_empty()) {
            let path = json!([{"fullyQualifiedName": finding.path.to_string()}]);
            members.insert("logicalLocations".to_owned(), path);
        }
        location
    });
    let fixes = place.zip(finding.edits.first()).map(|(place, edit)| fix(&place.source, edit));
    object([
        ("ruleId", Some(finding.rule.as_str().into())),
        ("ruleIndex", Some(rule.into())),
        ("level", Some(level.into())),
        ("message", Some(json!({"text": finding.text}))),
        ("locations", Some(location.into_iter().collect())),
        ("relatedLocations", finding.schema.as_ref().map(|label| json!([related(label)]))),
        ("partialFingerprints", Some(json!({"billhook/v1": finding.fingerprint()}))),
        ("fixes", fixes.map(|fix| json!([fix]))),
    ])
}

fn location(source: &Source, span: Option<Span>) -> Value {
    let physical = object([
        ("artifactLocation", Some(artifact(source))),
        ("region", span.map(|span| region(source, span))),
    ]);
    json!({"physicalLocation": physical})
}

fn related(label: &Label) -> Value {
    let mut location = location(&label.source, Some(label.span));
    if let Some(members) = location.as_object_mut() {
        members.insert("message".to_owned(), json!({"text": label.text}));
    }
    location
}

fn fix(source: &Source, edit: &Edit) -> Value {
    let replacement = json!({
        "deletedRegion": region(source, edit.span),
        "insertedContent": {"text": edit.replacement},
    });
    json!({
        "description": {"text": format!("write `{}`", edit.replacement)},
        "artifactChanges": [{
            "artifactLocation": artifact(source),
            "replacements": [replacement],
        }],
    })
}

fn region(source: &Source, span: Span) -> Value {
    let (start, end) = (source.position(span.start), source.position(span.end));
    json!({
        "startLine": start.line,
        "startColumn": start.column,
        "endLine": end.line,
        "endColumn": end.column,
    })
}

fn artifact(source: &Source) -> Value {
    let mut uri = String::new();
    for byte in relative(source.name()).replace('\\', "/").bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    json!({"uri": uri})
}
