//! Definitions that tests are about.

use billhook_compat::{Answer, Comparison, Question, Verdict, compare};
use serde_json::{Value, json};

/// A definition with one version and the schema of its `spec`.
pub(crate) fn definition(spec: impl Into<Value>) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "backups.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "backups", "singular": "backup", "kind": "Backup", "listKind": "BackupList"},
            "conversion": {"strategy": "None"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "properties": {"spec": spec.into()},
            }}}],
        },
    })
}

/// A `spec` with the field `a`.
pub(crate) fn spec_of(a: impl Into<Value>) -> Value {
    json!({"type": "object", "properties": {"a": a.into(), "b": {"type": "integer"}}})
}

/// Answers on a line each.
pub(crate) fn lines(comparison: &Comparison) -> String {
    comparison.answers.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn line(answer: &Answer) -> String {
    let Answer { version, question, verdict, path, change, reason, witness, .. } = answer;
    let path = if path.is_empty() { String::new() } else { format!(" {path}") };
    let mut line = format!("{version} {question}: {verdict}{path}: {change}: {reason}");
    if let Some(witness) = witness {
        let spec = witness.get("spec").unwrap_or(witness);
        line.push_str(&format!(" | {spec}"));
    }
    line
}

pub(crate) fn compared(old: &Value, new: &Value) -> Comparison {
    compare(old, new).unwrap()
}

/// Checks the answer to a question, whatever else is answered.
#[track_caller]
pub(crate) fn answered(name: &str, question: Question, wanted: Verdict, old: &Value, new: &Value) {
    let comparison = compared(old, new);
    let answers = comparison.answers.iter().filter(|it| it.question == question);
    let verdict = answers.map(|it| it.verdict).max();
    assert_eq!(verdict, Some(wanted), "{name}: {question}:\n{}", lines(&comparison));
}

/// The schema of an object.
pub(crate) fn object(properties: impl Into<Value>) -> Value {
    json!({"type": "object", "properties": properties.into()})
}

/// A schema with more keywords.
pub(crate) fn with(mut schema: Value, more: impl Into<Value>) -> Value {
    schema.as_object_mut().unwrap().extend(more.into().as_object().unwrap().clone());
    schema
}
