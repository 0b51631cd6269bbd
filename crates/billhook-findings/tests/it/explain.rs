//! The part of the definition that causes a finding, and what may have been meant.

use std::sync::Arc;

use billhook_findings::{Finding, Source};

use crate::support::{DEFINITION, findings, findings_in};

/// The marked text, the marked text of the definition with its label, the label, help and edits.
fn summary(finding: &Finding) -> String {
    let text =
        |source: &str, span: billhook::Span| source.get(span.start..span.end).unwrap().to_owned();
    let place = finding.place.as_ref().unwrap();
    let marked = finding.span.map(|span| text(place.source.text(), span)).unwrap_or_default();
    let mut out = format!("{} at `{marked}`", finding.rule);
    if let Some(label) = &finding.schema {
        out.push_str(&format!(", `{}` {}", text(DEFINITION, label.span), label.text));
    }
    for text in finding.label.iter().chain(&finding.help) {
        out.push_str(&format!(", {text}"));
    }
    for edit in &finding.edits {
        let before = text(place.source.text(), edit.span);
        let safe = if edit.is_safe { "" } else { " (?)" };
        out.push_str(&format!(", {before} -> {}{safe}", edit.replacement));
    }
    out
}

fn check(spec: &str, expected: &[&str]) {
    let spec = format!("spec:\n  schedule: x\n{spec}");
    let found: Vec<String> = findings(&spec).iter().map(summary).collect();
    assert_eq!(found, expected, "{spec}");
}

#[test]
fn errors() {
    check("  keep: 0\n", &["FieldValueInvalid at `0`, `1` the minimum is set here"]);
    check(
        "  keep: 200\n",
        &[
            "FieldValueInvalid at `spec`, `'!has(self.keep) || self.keep < 100'` this rule is not met",
        ],
    );
    // A rule that fails.
    check(
        "  retention: {}\n",
        &[
            "FieldValueInvalid at `spec`, `'!has(self.retention) || self.retention.days > 0'` this rule is not met",
        ],
    );
    check(
        "  targets: [s3, s3]\n",
        &[
            "FieldValueTooMany at `[s3, s3]`, `1` at most 1 item is allowed",
            "FieldValueInvalid at `apiVersion: example.com/v1`",
        ],
    );
    let found = findings("spec: {keep: 1}\n");
    assert_eq!(
        summary(&found[0]),
        "FieldValueRequired at `spec`, `schedule` `schedule` is required here"
    );
}

#[test]
fn labels() {
    let text = "apiVersion: example.com/v1\nkind: Backup\nmetadata:\n  name: b\n  labels:\n    a: b\n    \
        c: d e\n    f g: h\nspec: {schedule: x}\n";
    let source = Arc::new(Source::new("backup.yaml", text));
    let found: Vec<String> = findings_in(&source).iter().map(summary).collect();
    assert_eq!(found, ["FieldValueInvalid at `d e`", "FieldValueInvalid at `f g`"]);
}

#[test]
fn unknown_fields() {
    check(
        "  kep: 3\n  \"Keep\": 4\n",
        &[
            "RP-20 at `\"Keep\"`, `properties` these fields are specified, did you mean `keep`?, \
         \"Keep\" -> \"keep\"",
            "RP-20 at `kep`, `properties` these fields are specified, did you mean `keep`?, kep -> keep",
        ],
    );
}

#[test]
fn fields_of_other_versions() {
    let known = "`properties` these fields are specified";
    check(
        "  sizes: 1\n  window: a\n  zone: a\n",
        &[
            &format!(
                "RP-20 at `sizes`, {known}, did you mean `size`?, `sizes` is a field of version \
                 `v2`, sizes -> size (?)"
            ),
            &format!("RP-20 at `window`, {known}, `window` is a field of version `v2`"),
            &format!("RP-20 at `zone`, {known}"),
        ],
    );
}
