//! `billhook validate` on the fixtures and on objects with mistakes.

use crate::support::{cases, run, run_with, snapshot};

cases! {
    validate_fixtures: "validate --crd fixtures/crds fixtures/objects";
    validate_quiet: "validate --quiet --crd fixtures/crds fixtures/objects";
    validate_mistakes: "validate --crd fixtures/crds -" < [MISTAKES];
    validate_mistakes_json: "validate --report json --crd fixtures/crds -" < [MISTAKES];
    validate_concise: "validate --format concise --crd fixtures/crds -" < [MISTAKES];
    validate_ndjson: "validate --format ndjson --crd fixtures/crds -" < [MISTAKES];
    validate_answers: "validate --format status --crd fixtures/crds -" < [MISTAKES];
    validate_answers_unusable: "validate --format status --crd fixtures/crds -" < [UNUSABLE];
    validate_junit: "validate --format junit --crd fixtures/crds - fixtures/objects/nope.yaml" < [UNUSABLE];
    validate_tap: "validate --format tap --crd fixtures/crds fixtures/objects/backup.yaml -" < [MISTAKES];
    validate_two_forms: "validate --format tap --report json --crd fixtures/crds -" < [MISTAKES];
    validate_strict: "validate --crd fixtures/crds --field-validation strict fixtures/objects/backup.yaml";
    validate_no_decode: "validate --no-decode --crd fixtures/crds fixtures/objects/backup.yaml";
    validate_update: "validate --crd fixtures/crds --old fixtures/objects/backup.yaml -" < [CHANGED];
    validate_status: "validate --crd fixtures/crds --old fixtures/objects/backup.yaml --subresource status -" < [CHANGED];
    validate_update_of_another: "validate --crd fixtures/crds --old fixtures/objects/stack.yaml -" < [CHANGED];
    validate_rules: "validate --crd - fixtures/objects/backup-clean.json" < [RULES];
    validate_rules_json: "validate --report json --crd - fixtures/objects/backup-clean.json" < [RULES];
    validate_rules_of_invalid: "validate --crd - fixtures/objects/backup-clean.json"
        < [RULES.replace("type: object}", "type: string}")];
    validate_unusable: "validate --crd fixtures/crds - fixtures/objects/nope.yaml" < [UNUSABLE];
    validate_nothing: "validate --crd fixtures/crds fixtures/crds";
    validate_stdin_twice: "validate --crd fixtures/crds --old - -";
    validate_status_of_nothing: "validate --crd fixtures/crds --subresource status -";
    help_validate: "validate --help";
}

const MISTAKES: &str = r#"
apiVersion: data.example.com/v1
kind: Backup
metadata: {name: Nightly_Backup, finalizers: [cleanup]}
spec:
  schedule: daily
  target: {url: bucket}
  retention: {keepLast: 0, maxAge: forever, holdUntil: "2024-02-30T00:00:00Z"}
  maxSize: [1]
  sise: 1
---
apiVersion: data.example.com/v1
kind: Backup
metadata: {name: wrong}
spec: {schedule: "\e[2J 1 2 3 4", target: {url: "https://a\n"}, labels: [1]}
---
apiVersion: data.example.com/v1
kind: Backup
metadata: {name: fine}
spec: {schedule: 1 2 3 4 5, target: {url: "https://a"}}
---
apiVersion: data.example.com/v1
kind: Backup
metadata: {name: [1]}
"#;

/// The fixture with an old mistake in `labels`, which the fixture does not have, and new ones.
const CHANGED: &str = r#"
apiVersion: data.example.com/v1
kind: Backup
metadata: {name: invoices-weekly, namespace: billing}
spec:
  schedule: 15 4 * * 0
  target: {url: other}
  retention: {keepLast: 8}
  maxSize: 5368709120
status:
  lastRunTime: yesterday
  conditions:
  - {type: Ready, status: "Maybe", reason: "", lastTransitionTime: "2024-02-01T00:00:00Z"}
  - {type: Ready, status: "True", reason: Done, lastTransitionTime: "2024-02-01T00:00:00Z"}
"#;

const RULES: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: backups.data.example.com}
spec:
  group: data.example.com
  scope: Namespaced
  names: {plural: backups, kind: Backup}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            x-kubernetes-validations:
            - rule: \"!self.suspend || self.schedule == ''\"
            - rule: self == oldSelf
            properties:
              suspend: {type: boolean}
              schedule:
                type: string
                x-kubernetes-validations:
                - rule: self.startsWith('@')
                  messageExpression: \"'not a name: ' + self\"
              target: {x-kubernetes-preserve-unknown-fields: true, type: object}
";

const UNUSABLE: &str = "\
apiVersion: apps/v1
kind: Deployment
---
apiVersion: data.example.com/v7
kind: Backup
---
- 1
";

/// As deep as JSON may be, valid and not.
#[test]
fn deep_object() {
    let depth = 9_990;
    let body = format!(
        r#"{{"apiVersion": "data.example.com/v1", "kind": "Backup", "metadata": {{"name": "x"}}, "spec": {}1{}}}"#,
        r#"{"target":"#.repeat(depth),
        "}".repeat(depth)
    );
    for args in [
        "validate --crd fixtures/crds -",
        "validate --no-decode --crd fixtures/crds -",
        "validate --no-decode --report json --crd fixtures/crds -",
    ] {
        let shown = run_with(args, body.as_bytes(), &[]);
        assert!(shown.contains("exit status: 1"), "{args}: {}", shown.get(..300).unwrap_or(&shown));
    }
}

/// In GitHub Actions findings are annotations unless something else is asked for.
#[test]
fn validate_in_github_actions() {
    let environment = [("GITHUB_ACTIONS", "true")];
    let args = "validate --crd fixtures/crds -";
    snapshot!("validate_in_github_actions", run_with(args, MISTAKES.as_bytes(), &environment));
    let shown = run_with("test fixtures/suites/backups-failing.yaml", b"", &environment);
    assert!(shown.contains("\n::error file=fixtures/suites/backups-failing.yaml,line="), "{shown}");
}
