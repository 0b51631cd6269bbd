//! `--fix` and `--diff`.

use std::fs;
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::support::{Scratch, cases, run, snapshot};

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

#[test]
fn fix_in_place() {
    let scratch = Scratch::new("fix", &[("a.yaml", TYPOS)]);
    let args = "validate --fix --crd fixtures/crds DIR/a.yaml";
    snapshot!("fix", scratch.run(args));
    let fixed = scratch.text("a.yaml");
    snapshot!("fixed", fixed);
    snapshot!("fix_again", scratch.run(args));
    assert_eq!(scratch.text("a.yaml"), fixed);
}

/// A value that a server cannot read is found, although the server only names a type.
#[test]
fn labels_of_the_wrong_type() {
    let text = TYPOS.replace("{name: nightly}", "{name: nightly, labels: {a: b, year: 2026}}");
    let scratch = Scratch::new("types", &[("a.yaml", &text)]);
    let args = "validate --format human --crd fixtures/crds DIR/a.yaml";
    snapshot!("labels_of_the_wrong_type", scratch.run(args));
    snapshot!("labels_fixed", scratch.run(&format!("{args} --diff")));
}

/// Strict field validation refuses what is only warned of otherwise, and offers the same edits.
#[test]
fn fix_in_strict_mode() {
    let scratch = Scratch::new("strict", &[("warn.yaml", TYPOS), ("strict.yaml", TYPOS)]);
    scratch.run("decode --fix --crd fixtures/crds DIR/warn.yaml");
    let args = "decode --fix --field-validation strict --crd fixtures/crds DIR/strict.yaml";
    assert!(scratch.run(args).contains("exit status: 0"));
    assert_ne!(scratch.text("strict.yaml"), TYPOS);
    assert_eq!(scratch.text("strict.yaml"), scratch.text("warn.yaml"));
}

/// A file that may not be replaced stays as it is.
#[cfg(unix)]
#[test]
fn read_only_directory() {
    let scratch = Scratch::new("closed", &[("a.yaml", TYPOS)]);
    let set = |mode| fs::set_permissions(scratch.path(), fs::Permissions::from_mode(mode)).unwrap();
    set(0o555);
    let is_root = fs::write(scratch.path().join("probe"), "").is_ok();
    let shown = scratch.run("validate --fix --crd fixtures/crds DIR/a.yaml");
    set(0o755);
    if !is_root {
        assert!(shown.contains("exit status: 2") && shown.contains("permission denied"), "{shown}");
        assert_eq!(scratch.text("a.yaml"), TYPOS);
    }
}

/// Returns the names in a directory.
#[cfg(unix)]
fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Even a user who may do everything does not change what is marked as not to be changed.
#[cfg(unix)]
#[test]
fn read_only_file() {
    let scratch = Scratch::new("read-only", &[("a.yaml", TYPOS)]);
    let path = scratch.path().join("a.yaml");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    snapshot!("read_only_file", scratch.run("validate --fix --crd fixtures/crds DIR/a.yaml"));
    assert_eq!(scratch.text("a.yaml"), TYPOS);
    assert_eq!(names(scratch.path()), ["a.yaml"]);
}

/// A link stays one; the file that it names keeps its mode.
#[cfg(unix)]
#[test]
fn linked_file() {
    let scratch = Scratch::new("linked", &[("inner/a.yaml", TYPOS)]);
    let (file, link) = (scratch.path().join("inner/a.yaml"), scratch.path().join("b.yaml"));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink("inner/a.yaml", &link).unwrap();
    scratch.run("validate --fix --crd fixtures/crds DIR/b.yaml");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(scratch.text("inner/a.yaml").contains("schedule: 1 2 3 4 5   # at five"));
    assert_eq!(names(&scratch.path().join("inner")), ["a.yaml"]);
}

/// A pipe, such as that of `<(helm template .)`, is read once although two look into it, and is
/// never written.
#[cfg(unix)]
#[test]
fn pipe() {
    let scratch = Scratch::new("pipe", &[("a.yaml", TYPOS)]);
    let path = scratch.path().join("a.yaml");
    let script = "\"$0\" validate -q --format concise $2 --crd fixtures/crds <(cat \"$1\")";
    for (option, wanted) in [("--jobs=1", "unknown field \"Spec\""), ("--fix", "error[unusable]")] {
        let output = std::process::Command::new("bash")
            .args(["-c", script, env!("CARGO_BIN_EXE_billhook")])
            .arg(&path)
            .arg(option)
            .current_dir(crate::support::root())
            .output()
            .unwrap();
        let shown = String::from_utf8(output.stdout).unwrap();
        assert_ne!(output.status.code(), Some(0), "{shown}");
        assert!(shown.contains(wanted), "{shown}");
    }
    assert_eq!(scratch.text("a.yaml"), TYPOS);
}

/// Standard input has no name of its own, although it may be a file.
#[cfg(target_os = "linux")]
#[test]
fn standard_input_by_name() {
    let scratch = Scratch::new("by-name", &[("a.yaml", TYPOS)]);
    let path = scratch.path().join("a.yaml");
    std::os::unix::fs::symlink("/dev/stdin", scratch.path().join("link.yaml")).unwrap();
    let link = scratch.path().join("link.yaml").into_os_string().into_string().unwrap();
    for name in ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", &link] {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_billhook"))
            .args(["validate", "--fix", "-q", "--crd", "fixtures/crds", name])
            .stdin(fs::File::open(&path).unwrap())
            .current_dir(crate::support::root())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert_eq!(scratch.text("a.yaml"), TYPOS);
    }
}

/// A name that is not UTF-8 is that of its file, not of one that it is shown as.
#[cfg(target_os = "linux")]
#[test]
fn name_that_is_not_text() {
    use std::os::unix::ffi::OsStringExt as _;
    let scratch = Scratch::new("bytes", &[("n\u{fffd}.yaml", TYPOS)]);
    let path = scratch.path().join(std::ffi::OsString::from_vec(b"n\xff.yaml".to_vec()));
    fs::write(&path, TYPOS).unwrap();
    std::process::Command::new(env!("CARGO_BIN_EXE_billhook"))
        .args(["validate", "--fix", "-q", "--crd", "fixtures/crds"])
        .arg(&path)
        .current_dir(crate::support::root())
        .output()
        .unwrap();
    assert!(fs::read_to_string(&path).unwrap().contains("schedule: 1 2 3 4 5   # at five"));
    assert_eq!(scratch.text("n\u{fffd}.yaml"), TYPOS);
}

/// All names of a file stay those of one file.
#[cfg(unix)]
#[test]
fn file_with_two_names() {
    let scratch = Scratch::new("two-names", &[("a.yaml", TYPOS)]);
    fs::hard_link(scratch.path().join("a.yaml"), scratch.path().join("b.yaml")).unwrap();
    let shown = scratch.run("validate --fix --crd fixtures/crds DIR/a.yaml");
    assert!(shown.contains("fixed: DIR/a.yaml"), "{shown}");
    assert_ne!(scratch.text("a.yaml"), TYPOS);
    assert_eq!(scratch.text("b.yaml"), scratch.text("a.yaml"));
    assert_eq!(names(scratch.path()), ["a.yaml", "b.yaml"]);
}

/// The owner stays if the user may set it, as only root may.
#[cfg(unix)]
#[test]
fn file_of_another_owner() {
    use std::os::unix::fs::{MetadataExt as _, chown};
    let scratch = Scratch::new("owner", &[("a.yaml", TYPOS)]);
    let path = scratch.path().join("a.yaml");
    if chown(&path, Some(12345), Some(54321)).is_err() {
        return;
    }
    scratch.run("validate --fix --crd fixtures/crds DIR/a.yaml");
    assert_ne!(scratch.text("a.yaml"), TYPOS);
    let metadata = fs::metadata(&path).unwrap();
    assert_eq!((metadata.uid(), metadata.gid()), (12345, 54321));
}
