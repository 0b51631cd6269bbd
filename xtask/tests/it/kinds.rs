//! The tables of built-in kinds are those of the data.

use std::fs;
use std::path::Path;

#[test]
fn tables_are_up_to_date() {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/billhook-kinds");
    for (name, text) in xtask::kinds::tables(&home.join("data")).unwrap() {
        let found = fs::read_to_string(home.join("src/generated").join(&name)).unwrap();
        assert!(found == text, "{name} differs from the data: run `cargo xtask kinds`");
    }
}
