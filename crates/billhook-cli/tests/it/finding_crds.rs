//! Definitions that are found without being named.

use crate::support::{Scratch, cases, run, snapshot};

cases! {
    crds_among_inputs: "validate fixtures/crds fixtures/objects/backup-clean.json";
    crds_on_stdin: "validate -" < [format!("{CRD}---\n{OBJECT}")];
    crds_nowhere: "validate fixtures/objects/backup-clean.json";
    crds_of_some_kinds: "validate --crd fixtures/crds -" < [UNKNOWN];
    crds_of_some_kinds_json: "validate --format ndjson --crd fixtures/crds -" < [UNKNOWN];
    crds_of_some_kinds_tap: "validate --format tap --crd fixtures/crds -" < [UNKNOWN];
}

const CRD: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: jobs.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: jobs, kind: Job, singular: job, listKind: JobList}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
";

const OBJECT: &str = "apiVersion: example.com/v1\nkind: Job\nmetadata: {name: a}\n";

const UNKNOWN: &str = "\
kind: Job
apiVersion: example.com/v1
metadata: {name: a}
---
kind: Job
apiVersion: example.com/v1
metadata: {name: b}
---
kind: Task
apiVersion: example.com/v1
metadata: {name: c}
";

#[test]
fn charts_and_kustomizations() {
    let files = [
        ("object.yaml", OBJECT),
        ("chart/Chart.yaml", "name: jobs\n"),
        ("chart/templates/a.yaml", "{{ not: [yaml"),
        ("chart/crds/jobs.yaml", CRD),
        ("base/kustomization.yaml", "resources: [../files/jobs.yaml, https://example.com/x]\n"),
        ("files/jobs.yaml", CRD),
        ("files/other.yaml", "{{ not: [yaml"),
        ("over/kustomization.yml", "resources:\n- ../base\n- ../files/jobs.yaml\n"),
    ];
    let scratch = Scratch::new("charts", &files);
    snapshot!("crds_of_chart", scratch.run("validate --crd DIR/chart DIR/object.yaml"));
    snapshot!("crds_of_kustomization", scratch.run("validate --crd DIR/over DIR/object.yaml"));
    let file = "validate --crd DIR/base/kustomization.yaml DIR/object.yaml";
    snapshot!("crds_of_kustomization_file", scratch.run(file));
}

#[test]
fn kustomizations_that_lead_nowhere() {
    let files = [
        ("object.yaml", OBJECT),
        ("a/kustomization.yaml", "resources: [../b]\n"),
        ("b/kustomization.yaml", "resources: [../a]\n"),
        ("c/kustomization.yaml", "resources: [../none.yaml, ../d]\n"),
        ("d/note.yaml", "a: 1\n"),
        ("e/kustomization.yaml", "resources: [.\n"),
    ];
    let scratch = Scratch::new("cycle", &files);
    snapshot!("crds_of_cycle", scratch.run("validate --crd DIR/a DIR/object.yaml"));
    snapshot!("crds_of_missing", scratch.run("validate --crd DIR/c DIR/object.yaml"));
    snapshot!("crds_of_unreadable", scratch.run("validate --crd DIR/e DIR/object.yaml"));
}
