//! Writing into suites what their cases are to expect.

use std::fs;
use std::path::{Path, PathBuf};

use billhook_suite::{Plan, PlanOptions, update_expectations};

/// A suite in a directory of its own.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, text: &str) -> Self {
        let directory =
            std::env::temp_dir().join(format!("billhook-suite-{}-{name}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let crd = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../fixtures/crds/backups.data.example.com.yaml");
        let crd = fs::read_to_string(crd).unwrap();
        fs::write(directory.join("crd.yaml"), crd).unwrap();
        let scratch = Scratch(directory);
        scratch.write(text);
        scratch
    }

    fn path(&self) -> PathBuf {
        self.0.join("suite.yaml")
    }

    fn write(&self, text: &str) {
        fs::write(self.path(), text).unwrap();
    }

    /// Updates the suite until nothing changes; returns its text and how many cases fail then.
    fn update(&self) -> (String, usize) {
        for _ in 0..10 {
            let (text, failed) = self.round();
            match text {
                Some(text) => self.write(&text),
                None => return (fs::read_to_string(self.path()).unwrap(), failed),
            }
        }
        panic!("{}", fs::read_to_string(self.path()).unwrap());
    }

    fn round(&self) -> (Option<String>, usize) {
        let definitions = billhook_suite::FoundDefinition::new;
        let crd = fs::read(self.0.join("crd.yaml")).unwrap();
        let value = billhook::read_manifests(&crd).unwrap().remove(0).into_value();
        let source = std::sync::Arc::new(billhook_findings::Source::new("crd.yaml", crd));
        let definition = definitions(billhook_findings::Place::document(source, 0), value);
        let options = PlanOptions::default().definitions(vec![definition]);
        let runs = Plan::load(&self.path(), &options).unwrap().into_runs();
        let outcomes: Vec<_> = runs.iter().map(billhook_suite::Run::run).collect();
        let failed = outcomes.iter().filter(|outcome| outcome.is_err()).count();
        (update_expectations(&runs.iter().zip(&outcomes).collect::<Vec<_>>()), failed)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const OWN: &str = r#"# Backups of a shop.
crds: [crd.yaml]
cases:
- name: fields   # a comment
  object: &backup
    apiVersion: data.example.com/v1
    kind: Backup
    spec:
      schedule: 30 2 * * *
      shedule: 1
      target: {url: "https://a"}
  expect:
    # nothing is pruned
    pruned: []   # really
    warnings: [none]
    defaulted: {}
    matches:
      spec:
        suspend: true

- name: flow
  object: *backup
  expect: {pruned: [], warnings: ['unknown field "spec.shedule"']}

- name: refused, and nobody expects it
  object: {apiVersion: data.example.com/v1, kind: Backup, spec: {schedule: 30 2 * * *}}

- {name: the same on a line, object: {apiVersion: data.example.com/v1, kind: Backup, spec: {}}}

- name: another error
  object: {apiVersion: data.example.com/v1, kind: Backup, spec: {schedule: 30 2 * * *}}
  expect:
    error: {rule: FieldValueInvalid, field: spec.target}

- name: no error
  object: *backup
  expect:
    error: {}

- name: no error, but warnings
  object: *backup
  expect:
    error: {}
    warnings: ['unknown field "spec.shedule"']

- name: as it is
  object: *backup
  expect:
    pruned:   [ spec.shedule ]
"#;

#[test]
fn expectations_of_our_own_format() {
    let scratch = Scratch::new("own", OWN);
    let (text, failed) = scratch.update();
    assert_eq!(failed, 0, "{text}");
    insta::assert_snapshot!("updated_own", text);
    assert_eq!(scratch.round(), (None, 0));
}

const LISTED: &str = r#"# In the format of OpenShift.
name: Backups
crdName: backups.data.example.com
version: v1
tests:
  onCreate:
  - name: Another object is stored
    initial: |
      apiVersion: data.example.com/v1
      kind: Backup
      spec: {schedule: 30 2 * * *, target: {url: "https://a"}}
    expected: |
      # as it was
      apiVersion: data.example.com/v1
      kind: Backup
      spec: {}
  - name: Refused, and nobody expects it  # why?
    initial: |
      apiVersion: data.example.com/v1
      kind: Backup
      spec: {}
    expected: |
      apiVersion: data.example.com/v1
      kind: Backup
  - name: Another text
    initial: |
      apiVersion: data.example.com/v1
      kind: Backup
      spec: {schedule: 30 2 * * *}
    expectedError: "spec.schedule: Required value"
  - name: No error
    initial: |
      apiVersion: data.example.com/v1
      kind: Backup
      spec: {schedule: 30 2 * * *, target: {url: "https://a"}}
    expectedError: "spec.schedule: Required value"   # once
  onUpdate:
  - name: Refused
    initial: |
      apiVersion: data.example.com/v1
      kind: Backup
      spec: {schedule: 30 2 * * *, target: {url: "https://a"}}
    updated: |
      apiVersion: data.example.com/v1
      kind: Backup
      spec: {schedule: 30 2 * * *}
"#;

#[test]
fn expectations_of_openshifts_format() {
    let scratch = Scratch::new("listed", LISTED);
    let (text, failed) = scratch.update();
    assert_eq!(failed, 0, "{text}");
    insta::assert_snapshot!("updated_listed", text);
    assert_eq!(scratch.round(), (None, 0));
}

/// Nothing is written into what other cases share, or what comes out differently.
#[test]
fn what_is_shared_stays() {
    const SHARED: &str = "crds: [crd.yaml]
cases:
- name: one
  object: &object {apiVersion: data.example.com/v1, kind: Backup, spec: {schedule: 30 2 * * *, target: {url: a}}}
  expect: &expect {error: {field: spec.other}}
- name: another
  object: *object
  expect: *expect
- name: a table
  object: *object
  table: {field: spec.suspend, valid: [7]}
  expect: {error: {text: never}}
";
    let scratch = Scratch::new("shared", SHARED);
    assert_eq!(scratch.round(), (None, 3));
}

/// JSON is YAML as well.
#[test]
fn suites_in_json() {
    let suite = r#"{"crds": ["crd.yaml"], "cases": [{"name": "x", "object":
        {"apiVersion": "data.example.com/v1", "kind": "Backup", "spec": {}}}]}"#;
    let scratch = Scratch::new("json", suite);
    let (text, failed) = scratch.update();
    assert_eq!(failed, 0, "{text}");
    assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{text}");
    assert!(text.contains(r#", "expect": {"error":{"field":"#), "{text}");
}
