//! The committed part of the conformance vectors, and the whole set when it is there.

use std::path::Path;

use xtask::conformance::{Vector, Verdict};

/// Runs the vectors of a file; gives how many passed and prints what failed.
fn run(file: &Path) -> (usize, Vec<String>) {
    let text = std::fs::read_to_string(file).unwrap();
    let (mut passed, mut failed) = (0, Vec::new());
    for line in text.lines() {
        let vector = Vector::parse(line).unwrap();
        match vector.run(file.parent().unwrap()) {
            Verdict::Passed => passed += 1,
            Verdict::Skipped => failed.push(format!("{}: not implemented", vector.id)),
            Verdict::Failed { expected, actual } => {
                failed.push(format!("{}\nexpected {expected}\nactual {actual}", vector.id));
            }
        }
    }
    (passed, failed)
}

#[test]
fn committed_vectors_pass() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/conformance");
    let mut files: Vec<_> =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut total = 0;
    for file in files {
        let (passed, failed) = run(&file);
        assert!(failed.is_empty(), "{}: {}", file.display(), failed.join("\n"));
        total += passed;
    }
    assert!(total >= 600, "only {total} vectors ran");
}

#[test]
fn vectors_can_fail() {
    let line = r#"{"id":"x","op":"prune","input":{"schema":{"type":"object"},"object":{"a":1},
        "isResourceRoot":true},"expect":{"ok":{"object":{"a":1},"paths":[]}}}"#;
    let vector = Vector::parse(&line.replace('\n', "")).unwrap();
    assert!(matches!(vector.run(Path::new(".")), Verdict::Failed { .. }));
    let line = r#"{"id":"x","op":"no-such-op","input":{},"expect":{}}"#;
    assert!(matches!(Vector::parse(line).unwrap().run(Path::new(".")), Verdict::Skipped));
}
