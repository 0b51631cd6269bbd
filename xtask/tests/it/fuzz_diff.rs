//! All ways to clean an object give the same result.

#[test]
fn generated_objects_come_out_the_same_on_all_paths() {
    let stats = xtask::fuzz::run(1, 20_000).unwrap_or_else(|difference| panic!("{difference}"));
    assert!(stats.decoded > 8_000, "{stats:?}");
    assert!(stats.unchanged > 200, "{stats:?}");
    assert!(stats.refused > 1_000, "{stats:?}");
}
