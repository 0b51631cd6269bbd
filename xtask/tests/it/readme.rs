//! The tables of README.md are those of the templates, with the numbers that were measured.

use std::path::Path;

#[test]
fn tables_are_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (text, updated) = xtask::readme::texts(&root).unwrap();
    let differs = text.lines().zip(updated.lines()).find(|(line, other)| line != other);
    assert!(text == updated, "{differs:#?}\nedit docs/*.md and run `cargo xtask readme`");
}
