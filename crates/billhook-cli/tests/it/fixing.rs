//! `--fix` and `--diff`.

use std::fs;
use std::path::PathBuf;

use crate::support::{cases, run, snapshot};

cases! {
    diff: "validate --diff --crd fixtures/crds -" < [TYPOS];
    diff_of_decode: "decode --diff --crd fixtures/crds -" < [TYPOS];
    diff_of_check: "check --diff -" < [DEFINITION];
    diff_of_nothing: "validate --diff --crd fixtures/crds fixtures/objects/backup-clean.json";
    diff_of_unreadable: "validate --diff --crd fixtures/crds -" < ["a: [1"];
    fix_stdin: "validate --fix --crd fixtures/crds -";
    fix_and_diff: "validate --fix --diff --crd fixtures/crds fixtures/objects";
    fix_for_versions: "check --fix --kubernetes 1.35..1.36 fixtures/crds";
}

const TYPOS: &str = "\
# Two objects, in two ways.
apiVersion: data.example.com/v1
kind: Backup
metadata: {name: nightly}
Spec:
  shedule: 1 2 3 4 5   # at five
  target: {url: \"https://a\"}

  # Not many.
  retention:
    keepLst: '3'
---
{\"apiVersion\": \"data.example.com/v1\", \"kind\": \"Backup\", \"metadata\": {\"name\": \"b\"},
 \"spec\": {\"schedule\": \"1 2 3 4 5\", \"target\": {\"Url\": \"https://a\"}}}";

const DEFINITION: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: backups.data.example.com}
spec:
  group: data.example.com
  scope: namespaced # not cluster
  names: {plural: backups, kind: Backup}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
";

/// A file that is removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, text: &str) -> Self {
        let file = format!("billhook-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(file);
        fs::write(&path, text).unwrap();
        Scratch(path)
    }

    fn run(&self, args: &str) -> String {
        let path = self.0.to_str().unwrap();
        run(&format!("{args} {path}"), "").replace(path, "FILE")
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.0).unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[test]
fn fix_in_place() {
    let file = Scratch::new("fix.yaml", TYPOS);
    snapshot!("fix", file.run("validate --fix --crd fixtures/crds"));
    let fixed = file.text();
    snapshot!("fixed", fixed);
    snapshot!("fix_again", file.run("validate --fix --crd fixtures/crds"));
    assert_eq!(file.text(), fixed);
}

/// A file that may not be replaced stays as it is.
#[cfg(unix)]
#[test]
fn read_only_directory() {
    use std::os::unix::fs::PermissionsExt as _;

    let directory = std::env::temp_dir().join(format!("billhook-{}-closed", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    let file = directory.join("a.yaml");
    fs::write(&file, TYPOS).unwrap();
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o555)).unwrap();
    let is_root = fs::write(directory.join("probe"), "").is_ok();
    let shown = run(&format!("validate --fix --crd fixtures/crds {}", file.display()), "");
    let text = fs::read_to_string(&file).unwrap();
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o755)).unwrap();
    fs::remove_dir_all(&directory).unwrap();
    if !is_root {
        assert!(shown.contains("exit status: 2") && shown.contains("permission denied"), "{shown}");
        assert_eq!(text, TYPOS);
    }
}
