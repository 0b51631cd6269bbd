//! `billhook check` on the fixtures and on definitions with mistakes.

use crate::support::{cases, run, run_with, snapshot};

cases! {
    check_crds: "check fixtures/crds";
    check_broken: "check fixtures/broken-crds";
    check_broken_strict: "check --field-validation strict fixtures/broken-crds/field-in-the-wrong-place.yaml";
    check_answers: "check --format status fixtures/broken-crds/missing-type.yaml fixtures/crds";
    check_broken_json: "check --report json fixtures/broken-crds/default-with-unknown-field.yaml fixtures/broken-crds/keyword-of-another-draft.yaml nope.yaml";
    check_update: "check --old fixtures/crds -"
        < [SMALL.replace("name: v1", "name: v2").replace("group: data.example.com", "group: x.org")];
    check_accepted_update: "check --old - fixtures/crds/backups.data.example.com.yaml" < [SMALL];
    check_update_of_another: "check --old fixtures/crds fixtures/broken-crds/missing-type.yaml";
    check_rules_and_formats: "check -" < [SMALL.replace("{type: object}", RULES)];
    check_rules_json: "check --report json -" < [SMALL.replace("{type: object}", RULES)];
    check_twice_written: "check -" < [SMALL.replace("served: true", "served: true, served: true")];
    check_old_version: "check -" < [SMALL.replace("io/v1", "io/v1beta1")];
    check_nothing: "check fixtures/objects";
    check_not_text: "check -" < ["a: [1"];
    check_stdin_twice: "check --old - -";
    help_check: "check --help";
}

const SMALL: &str = "\
apiVersion: v1
kind: ConfigMap
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: backups.data.example.com}
spec:
  group: data.example.com
  scope: Namespaced
  names: {plural: backups, kind: Backup}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {
      type: object, properties: {spec: {type: object}}}}}
";

const RULES: &str = "{type: object, properties: {at: {type: string, format: moment}}, \
     x-kubernetes-validations: [{rule: 'has(self.at)'}, {rule: 'true'}]}";

/// Names that try to move the cursor.
#[test]
fn control_characters() {
    let text = SMALL.replace("plural: backups", "plural: \"\\e[2J\\n\"");
    let shown = run_with("check -", text.as_bytes(), &[]);
    assert!(!shown.contains('\x1b'), "{shown}");
    assert!(shown.contains("refused"), "{shown}");
}
