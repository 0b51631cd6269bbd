//! The tables of README.md and docs are those of the templates, with the numbers that were measured;
//! README.md and the cells of the parity table are short.

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn tables_are_up_to_date() {
    for page in xtask::readme::pages(&root()).unwrap() {
        let mut lines = page.text.lines().zip(page.updated.lines());
        let differs = lines.find(|(line, other)| line != other);
        assert!(
            page.text == page.updated,
            "{}: {differs:#?}\nedit docs/templates and run `cargo xtask readme`",
            page.file
        );
    }
}

#[test]
fn readme_is_a_first_screen() {
    let text = std::fs::read_to_string(root().join("README.md")).unwrap();
    let lines = text.lines().count();
    assert!(lines <= 180, "{lines} lines: move what a first reader does not need to docs");
}

#[test]
fn cells_of_the_parity_table_are_short() {
    let text = std::fs::read_to_string(root().join("docs/parity.md")).unwrap();
    let rows = text.lines().filter(|line| line.starts_with('|'));
    for cell in rows.flat_map(|row| row.split('|')) {
        assert!(cell.trim().chars().count() <= 200, "more than 200 characters: {cell}");
    }
}
