//! The listings of public items are up to date.

use std::path::Path;

#[test]
fn listings_are_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let outdated = xtask::public_api::outdated(&root).unwrap();
    assert!(outdated.is_empty(), "{outdated:?} changed: run `cargo xtask public-api`");
}
