//! See `xtask::fuzz::targets::stored`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Err(difference) = xtask::fuzz::targets::stored(data) {
        panic!("{difference}");
    }
});
