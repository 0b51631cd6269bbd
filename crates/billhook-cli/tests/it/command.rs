//! The built command on the fixtures: exit status, standard output and standard error, compared
//! with snapshots. All paths are relative to the root of the workspace.

use std::process::{Command, Stdio};

use crate::support::{cases, report_snapshots, root, run, run_with, snapshot};

cases! {
    decode_clean: "decode --crd fixtures/crds fixtures/objects/backup-clean.json";
    decode_clean_json: "decode --crd fixtures/crds -o json fixtures/objects/backup-clean.json";
    decode_changes: "decode --crd fixtures/crds fixtures/objects/backup.yaml";
    decode_quiet: "decode --crd fixtures/crds --quiet fixtures/objects/backup.yaml";
    decode_wide: "decode --crd fixtures/crds/stacks.platform.example.com.yaml fixtures/objects/stack.yaml";
    decode_strict:
        "decode --crd fixtures/crds --field-validation strict fixtures/objects/backup.yaml";
    decode_kep: "decode --crd fixtures/crds --dialect kep fixtures/objects/backup.yaml";
    decode_json_report: "decode --crd fixtures/crds --report json fixtures/objects/backup.yaml";
    decode_other_version:
        "decode --crd fixtures/crds --version v1 fixtures/objects/stack-v1beta1.yaml";
    decode_storage: "decode --crd fixtures/crds --from storage fixtures/objects/stack-v1beta1.yaml";
    decode_storage_as_stored: "decode --crd fixtures/crds --from storage --version v1beta1 fixtures/objects/stack-v1beta1.yaml";
    check_clean: "decode --crd fixtures/crds --check fixtures/objects/stack-clean.json";
    check_changes: "decode --crd fixtures/crds --check fixtures/objects/backup.yaml";
    check_json_report:
        "decode --crd fixtures/crds --check --report json fixtures/objects/backup-clean.json";
    prune: "prune --crd fixtures/crds fixtures/objects/backup.yaml";
    default: "default --crd fixtures/crds fixtures/objects/backup.yaml";
    default_remove_nulls: "default --crd fixtures/crds --remove-nulls fixtures/objects/backup.yaml";
    stdin_documents: "decode --crd fixtures/crds -" < [DOCUMENTS];
    stdin_documents_strict:
        "decode --crd fixtures/crds --field-validation strict -" < [DOCUMENTS];
    stdin_list: "decode --crd fixtures/crds -" < [LIST];
    stdin_crd: "prune --crd - fixtures/objects/backup-clean.json" < [SMALL_CRD];
    crd_not_structural: "decode --check --crd - fixtures/objects/backup-clean.json"
        < [SMALL_CRD.replace("type: object}", "type: array}")];
    crd_without_scope: "decode --crd - fixtures/objects/backup-clean.json"
        < [SMALL_CRD.replace("Namespaced", "Planet")];
    crds_that_differ: "prune --check --crd fixtures/crds --crd - fixtures/objects/backup-clean.json"
        < [SMALL_CRD];
    body_duplicates: "decode --crd fixtures/crds -" < [DUPLICATES];
    body_duplicates_strict:
        "decode --crd fixtures/crds --field-validation strict -" < [DUPLICATES];
    body_with_empty_document: "decode --crd fixtures/crds -"
        < ["---\napiVersion: data.example.com/v1\nkind: Backup\n---\n"];
    control_characters: "decode --crd fixtures/crds --check -"
        < [r#"{"apiVersion": "data.example.com/v1", "kind": "Backup", "a\u001b[2Jb\n": {"\u009b1m": 1}}"#];
    ndjson: "decode --ndjson --crd fixtures/crds -" < [LINES];
    ndjson_strict: "decode --ndjson --jobs 2 --field-validation strict --crd fixtures/crds -"
        < [LINES];
    ndjson_version: "decode --ndjson --version v1 --crd fixtures/crds -"
        < [STACK_LINES];
    ndjson_missing_version: "decode --ndjson --version v3 --crd fixtures/crds -"
        < [STACK_LINES];
    ndjson_files: "decode --ndjson --crd fixtures/crds fixtures/objects/backup-clean.json fixtures fixtures/objects/stack-clean.json nope";
    ndjson_report: "decode --ndjson --report json --crd fixtures/crds -";
    ndjson_output: "decode --ndjson -o json --crd fixtures/crds -";
    missing_file: "decode --crd fixtures/crds fixtures/objects/nope.yaml";
    missing_crd_file: "decode --crd fixtures/nope fixtures/objects/backup.yaml";
    missing_version: "decode --crd fixtures/crds --version v3 fixtures/objects/stack-clean.json";
    no_crds: "decode --crd fixtures/objects fixtures/objects/stack.yaml";
    no_objects: "decode --crd fixtures/crds fixtures/crds";
    not_json: "decode --crd fixtures/crds -" < ["{\"a\": 1,\n b}"];
    not_text: "decode --crd fixtures/crds --report json -" < ["{\"a\": 1"];
    stdin_twice: "decode --crd - -";
    validation_of_storage: "decode --crd fixtures/crds --from storage --field-validation warn x";
    help: "--help";
    help_decode: "decode --help";
}

const DOCUMENTS: &str = "\
apiVersion: data.example.org/v1
kind: Backup
---
apiVersion: data.example.com/v1
kind: backup
---
apiVersion: apps/v1
kind: Deployment
---
- 1
---
kind: Backup
---
# nothing
---
apiVersion: data.example.com/v7
kind: Backup
---
apiVersion: data.example.com/v1
kind: Backup
metadata: {name: twice}
spec: {schedule: a, schedule: b, extra: 1}
---
apiVersion: data.example.com/v1
kind: Backup
metadata: {name: [1]}
";

const LINES: &str = r#"
{"apiVersion":"data.example.com/v1","kind":"Backup","metadata":{"name":"a"},"spec":{"maxSize":1}}
{"apiVersion":"data.example.com/v1","kind":"Backup","metadata":{"name":"b"},"spec":{"kep":1}}

{"apiVersion":"data.example.com/v1","kind":"Backup","metadata":{"name":"c"
{"apiVersion":"data.example.com/v2","kind":"Backup","metadata":{"name":"d"}}
{"apiVersion":"data.example.com/v1","kind":"Stack","metadata":{"name":"e"}}
apiVersion: data.example.com/v1
{"apiVersion":"data.example.com/v1","kind":"Backup","metadata":{"name":"f"},"extra":null}
"#;

const STACK_LINES: &str = r#"{"kind": "Stack"
{"apiVersion": "platform.example.com/v1beta1", "kind": "Stack"}
{"apiVersion": "platform.example.com/v1", "kind": "Stack"}
"#;

const LIST: &str = "\
apiVersion: v1
kind: List
items:
- apiVersion: data.example.com/v1
  kind: Backup
  metadata: {name: first}
- apiVersion: data.example.com/v1
  kind: Backup
  metadata: {name: second}
  spec: {schedule: a, schedule: b}
";

const DUPLICATES: &str = "\
apiVersion: data.example.com/v1
kind: Backup
spec: {schedule: a, schedule: b}
";

const SMALL_CRD: &str = "\
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
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object}
";

#[test]
fn stdin_documents_json_report() {
    let shown = run("decode --crd fixtures/crds --report json -", DOCUMENTS);
    report_snapshots!("stdin_documents_json_report", 4, shown);
}

/// A directory is its files, one after the other; `decode_wide` shows the long one.
#[test]
fn directory() {
    let output = |path: &str| {
        let shown = run(&format!("decode --crd fixtures/crds --quiet -o json {path}"), "");
        let (head, output) = shown.split_once("-- standard output\n").unwrap();
        assert!(head.contains("exit status: 0"), "{shown}");
        output.strip_suffix("\n-- standard error\n").unwrap().to_owned()
    };
    let mut outputs = String::new();
    for name in
        ["backup-clean.json", "backup.yaml", "stack-clean.json", "stack-v1beta1.yaml", "stack.yaml"]
    {
        let shown = output(&format!("fixtures/objects/{name}"));
        outputs.push_str(&shown);
        let value: serde_json::Value = serde_json::from_str(&shown).unwrap();
        if name.ends_with("clean.json") {
            let written = std::fs::read(root().join("fixtures/objects").join(name)).unwrap();
            assert_eq!(value, serde_json::from_slice::<serde_json::Value>(&written).unwrap());
        } else if name != "stack.yaml" {
            snapshot!(format!("directory-{name}"), shown);
        } else {
            let yaml =
                run(&format!("decode --crd fixtures/crds --quiet fixtures/objects/{name}"), "");
            let yaml = yaml.split_once("-- standard output\n").unwrap().1;
            let yaml = yaml.strip_suffix("\n-- standard error\n").unwrap();
            let manifests = billhook::read_manifests(yaml.as_bytes()).unwrap();
            assert_eq!(value, *manifests[0].value());
        }
    }
    assert_eq!(output("fixtures/objects"), outputs);
}

#[test]
fn not_yaml() {
    let text = "apiVersion: v1\nkind: A\n---\nkind: [a\nb: 2\n";
    snapshot!("not_yaml", run("decode --crd fixtures/crds -", text));
}

#[test]
fn colors() {
    let args = "decode --check --crd fixtures/crds fixtures/objects/backup.yaml x.yaml";
    let shown = run_with(args, b"", &[("CLICOLOR_FORCE", "1")]);
    snapshot!("colors", shown.replace('\x1b', "ESC"));
}

#[test]
fn no_colour() {
    let args = "decode --check --crd fixtures/crds fixtures/objects/backup.yaml x.yaml";
    assert!(!run_with(args, b"", &[("NO_COLOR", "1")]).contains('\x1b'));
}

/// A reader that wants no more is not a failure.
#[test]
fn broken_pipe() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_billhook"))
        .args(["decode", "--quiet", "--crd", "fixtures/crds", "fixtures/objects"])
        .current_dir(root())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}

/// As deep as JSON may be, through everything that is printed.
#[test]
fn deep_object() {
    let depth = 9_990;
    let body = format!(
        r#"{{"apiVersion": "data.example.com/v1", "kind": "Backup", "x": {}{}}}"#,
        r#"{"a":"#.repeat(depth),
        "1".to_owned() + &"}".repeat(depth)
    );
    for args in [
        "decode --crd fixtures/crds -",
        "decode --crd fixtures/crds --report json -",
        "decode --crd fixtures/crds --from storage -",
        "default --crd fixtures/crds --remove-nulls -",
        "default --crd fixtures/crds -o json -",
    ] {
        let shown = run_with(args, body.as_bytes(), &[]);
        assert!(shown.contains("exit status: 0"), "{args}: {}", shown.get(..300).unwrap_or(&shown));
    }
}
