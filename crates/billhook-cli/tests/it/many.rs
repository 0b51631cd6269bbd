//! Runs over many files: in parallel, with a summary.

use crate::support::{Scratch, run, snapshot};

/// Files with objects that are valid, invalid, unknown, of several documents and unreadable.
fn scratch(name: &str) -> Scratch {
    let scratch = Scratch::new(name, &[("empty/readme.yaml", "# nothing\n")]);
    for number in 0..200 {
        let text = match number % 7 {
            0 => BACKUP.replace("keepLast: 7", "keepLast: 0"),
            1 => BACKUP.replace("retention", "retentoin"),
            2 => format!("{BACKUP}---\n{}", BACKUP.replace("name: a", "name: b")),
            3 => BACKUP.replace("Backup", "Backdrop"),
            4 => "kind: [".to_owned(),
            5 => DEFINITION.replace("NUMBER", &number.to_string()),
            _ => BACKUP.to_owned(),
        };
        scratch.write(&format!("{}/{number:03}.yaml", number % 3), &text);
    }
    scratch
}

const BACKUP: &str = r#"apiVersion: data.example.com/v1
kind: Backup
metadata: {name: a}
spec:
  schedule: 1 2 3 4 5
  target: {url: "https://a"}
  retention: {keepLast: 7}
"#;

const DEFINITION: &str = r"apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: kNUMBERs.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {kind: KNUMBER, plural: kNUMBERs}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: string}}}
";

/// As `kubectl get --output json | jq '.items[]'` prints them.
#[test]
fn json_objects_follow_each_other() {
    let map = |name: &str, data: &str| {
        format!(
            r#"{{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {{"name": "{name}"}},
 "data": {data}}}
"#
        )
    };
    let text = [map("a", r#"{"k": "v"}"#), map("b", r#"{"k": 5}"#), map("c", "{}")].concat();
    snapshot!("json_objects", &run("validate -", &text));
    snapshot!("json_objects_and_more", &run("validate -", &(text + "5\n")));
}

#[test]
fn threads_change_nothing() {
    let scratch = scratch("threads");
    for args in [
        "validate --crd fixtures/crds",
        "validate --crd fixtures/crds --report json",
        "validate --crd fixtures/crds --format junit",
        "validate --crd fixtures/crds --diff",
        "decode --crd fixtures/crds",
        "decode --crd fixtures/crds --format concise",
        "check",
        "check --format human",
        "check --kubernetes 1.33..1.36",
    ] {
        let with = |threads: usize| scratch.run(&format!("{args} --jobs {threads} DIR"));
        let shown = |threads: usize| with(threads).split_once('\n').unwrap().1.to_owned();
        let one = shown(1);
        assert!(one.lines().count() > 50, "{one}");
        for threads in [2, 9] {
            assert!(shown(threads) == one, "{args} with {threads} threads differs");
        }
    }
}

/// The last line of standard error.
fn last(shown: &str) -> &str {
    shown.lines().last().unwrap_or_default()
}

#[test]
fn people_get_a_summary() {
    let scratch = scratch("summary");
    // 200 files and an empty one; 28 definitions are not objects, 28 files are not YAML, and 29 hold
    // two objects. That a kind is unknown is one error.
    let validated = "201 files, 173 objects: 58 errors, 29 warnings";
    // Only definitions are checked.
    let checked = "201 files, 28 documents: 56 errors, no warnings";
    for (args, summary) in [
        ("validate --crd fixtures/crds", validated),
        ("validate --crd fixtures/crds --format human", validated),
        ("check", checked),
        ("check --format human", checked),
    ] {
        assert_eq!(last(&scratch.run(&format!("{args} DIR"))), summary, "{args}");
        for option in ["--quiet", "--format json", "--format concise", "--report json"] {
            let shown = scratch.run(&format!("{args} {option} DIR"));
            assert!(!shown.contains("201 files"), "{args} {option}: {}", last(&shown));
        }
    }
}

#[test]
fn quiet_checks() {
    snapshot!("check_quiet", run("check --quiet fixtures/crds fixtures/broken-webhooks", ""));
}
