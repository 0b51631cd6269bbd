//! Findings as JSON.

use billhook::{Span, to_json, to_json_pretty};
use serde_json::{Map, Value};

use crate::finding::{Edit, Finding, Label};
use crate::source::Source;
use crate::visible::escaped;

/// A document with all findings.
pub(super) fn document<'f>(findings: impl Iterator<Item = &'f Finding>) -> String {
    let document = object([
        ("apiVersion", Some("billhook.dev/v1alpha1".into())),
        ("kind", Some("Findings".into())),
        ("findings", Some(findings.map(finding).collect())),
    ]);
    to_json_pretty(&document) + "\n"
}

/// A finding on a line.
pub(super) fn line(one: &Finding) -> String {
    escaped(&to_json(&finding(one))) + "\n"
}

fn finding(finding: &Finding) -> Value {
    let place = finding.place.as_ref();
    let span = place.zip(finding.span).map(|(place, span)| region(&place.source, span));
    let has_path = !finding.path.is_empty();
    object([
        ("rule", Some(finding.rule.as_str().into())),
        ("severity", Some(finding.severity.as_str().into())),
        ("text", Some(finding.text.as_str().into())),
        ("file", text(finding.file())),
        ("document", place.and_then(|place| place.document).map(|number| (number + 1).into())),
        ("span", span),
        ("field", has_path.then(|| finding.path.to_string().into())),
        ("pointer", has_path.then(|| finding.path.to_json_pointer().into())),
        ("apiVersion", text(&finding.object.api_version)),
        ("kind", text(&finding.object.kind)),
        ("namespace", text(&finding.object.namespace)),
        ("name", text(&finding.object.name)),
        ("label", finding.label.as_deref().map(Value::from)),
        ("schema", finding.schema.as_ref().map(schema)),
        ("help", finding.help.as_deref().map(Value::from)),
        ("edits", place.and_then(|place| edits(&place.source, &finding.edits))),
    ])
}

fn schema(label: &Label) -> Value {
    object([
        ("file", text(label.source.name())),
        ("span", Some(region(&label.source, label.span))),
        ("field", Some(label.path.to_string().into())),
        ("text", text(&label.text)),
    ])
}

fn edits(source: &Source, edits: &[Edit]) -> Option<Value> {
    let edit = |edit: &Edit| {
        object([
            ("span", Some(region(source, edit.span))),
            ("replacement", Some(edit.replacement.as_str().into())),
            ("safe", Some(edit.is_safe.into())),
        ])
    };
    (!edits.is_empty()).then(|| edits.iter().map(edit).collect())
}

fn region(source: &Source, span: Span) -> Value {
    let position = |offset: usize| {
        let position = source.position(offset);
        object([
            ("offset", Some(position.offset.into())),
            ("line", Some(position.line.into())),
            ("column", Some(position.column.into())),
        ])
    };
    object([("start", Some(position(span.start))), ("end", Some(position(span.end)))])
}

/// A text that is not empty.
fn text(text: &str) -> Option<Value> {
    (!text.is_empty()).then(|| text.into())
}

/// An object of the members that have a value.
pub(super) fn object<const N: usize>(members: [(&str, Option<Value>); N]) -> Value {
    let members = members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(members.collect::<Map<_, _>>())
}
