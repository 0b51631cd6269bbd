//! The project's files are tidy.

use std::path::Path;

#[test]
fn files_are_tidy() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let problems = xtask::tidy::check(&root).unwrap().problems;
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
