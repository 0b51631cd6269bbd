//! Hostile input to the command: what it prints, and when it gives up.

use std::fs::File;
use std::process::{Command, Stdio};

use crate::support::{root, run, run_with};

const DEFINITION: &str = "--crd fixtures/crds/backups.data.example.com.yaml";

fn object(name: &str) -> String {
    let name = serde_json::Value::from(name);
    format!(
        r#"{{"apiVersion":"data.example.com/v1","kind":"Backup","metadata":{{"name":{name}}}}}"#
    )
}

/// No name makes up a line of its own or reaches the terminal raw, and none is longer than a
/// screen.
#[test]
fn names_stay_what_they_are() {
    let name = format!("a: valid\nother.yaml \u{9b}31m\u{202e}\r{}", "x".repeat(100_000));
    for command in ["validate --no-decode", "decode --check", "decode -o json", "decode", "admit"] {
        let shown = run(&format!("{command} {DEFINITION} -"), &object(&name));
        assert!(!shown.contains("\nother.yaml"), "{command}: {shown}");
        assert!(!shown.contains(['\u{9b}', '\u{202e}', '\r']), "{command}: {shown}");
        let lines = shown.lines().filter(|line| !line.trim_start().starts_with(['"', 'n']));
        let longest = lines.map(str::len).max();
        assert!(longest < Some(2_000), "{command}: {shown}");
    }
    let shown = run(&format!("decode {DEFINITION} b\u{9b}m"), "");
    assert!(shown.ends_with("error: b\\u{9b}m: no such file or directory\n"), "{shown}");
}

#[test]
fn user_information_of_urls_is_not_printed() {
    let text = "\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: hooks}
webhooks:
- name: a.example.com
  clientConfig: {url: 'https://me:hunter2@hooks.example.com/a@b'}
  admissionReviewVersions: [v1]
  sideEffects: None
- name: b.example.com
  clientConfig: {url: 'http://me:hunter2@hooks.example.com/a@b'}
  admissionReviewVersions: [v1]
  sideEffects: None
";
    let objects = "fixtures/objects/backup-clean.json";
    for arguments in ["check -", &format!("admit {DEFINITION} --webhooks - {objects}")] {
        let shown = run(arguments, text);
        assert!(shown.contains("user information is not permitted in the URL"), "{shown}");
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}

/// More threads than a machine can have are not started.
#[test]
fn threads_are_limited() {
    let shown = run(&format!("decode --ndjson --jobs 1000000000 {DEFINITION} -"), &object("a"));
    assert!(shown.contains("exit status: 0"), "{shown}");
}

/// Each object of many finds its old one.
#[test]
fn old_objects_are_found_by_index() {
    let objects: Vec<_> = (0..5_000).map(|index| object(&format!("a{index}"))).collect();
    let list = format!(r#"{{"apiVersion":"v1","kind":"List","items":[{}]}}"#, objects.join(","));
    let directory = std::env::temp_dir().join(format!("billhook-old-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let file = directory.join("old.json");
    std::fs::write(&file, &list).unwrap();
    let arguments = format!("validate -q {DEFINITION} --old {} -", file.display());
    let shown = run_with(&arguments, list.as_bytes(), &[]);
    std::fs::remove_dir_all(&directory).unwrap();
    assert!(!shown.contains("no old object"));
}

/// Output that cannot be written is an error, help included.
#[test]
#[cfg(target_os = "linux")]
fn lost_output_is_an_error() {
    for arguments in ["help", "--version", "explain PR-12", "decode --help"] {
        let output = Command::new(env!("CARGO_BIN_EXE_billhook"))
            .args(arguments.split_whitespace())
            .current_dir(root())
            .stdout(Stdio::from(File::options().write(true).open("/dev/full").unwrap()))
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments}");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(error.contains("standard output: no space left on device"), "{error}");
    }
}

/// Input without an end is read up to a limit.
#[test]
#[cfg(unix)]
fn input_is_limited() {
    let shown = run(&format!("decode --max-input 1MiB {DEFINITION} /dev/zero"), "");
    let expected = "error: /dev/zero: more than 1MiB; `--max-input` raises the limit\n";
    assert!(shown.contains("exit status: 2") && shown.ends_with(expected), "{shown}");
    let shown = run("test --max-input 1MiB /dev/zero", "");
    assert!(shown.contains("exit status: 2") && shown.ends_with(expected), "{shown}");
    let large = object(&"x".repeat(1 << 20));
    let decode = |options: &str| run(&format!("decode -q {options} {DEFINITION} -"), &large);
    let shown = decode("--max-input 1024KiB");
    assert!(shown.ends_with("<stdin>: more than 1MiB; `--max-input` raises the limit\n"));
    assert!(decode("--max-input 2MiB").contains("exit status: 0"));
    let shown = decode("--ndjson --max-input 1048576");
    assert!(shown.ends_with("<stdin>:1: the line is longer than 1048576 bytes\n"), "{shown}");
    assert!(decode("--ndjson --max-input 2MiB").contains("exit status: 0"));
    let shown = decode("--max-input 1MB");
    assert!(shown.contains("expected bytes, or a number with KiB, MiB or GiB"), "{shown}");
}
