//! See `xtask::fuzz::targets::pattern`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Err(difference) = xtask::fuzz::targets::pattern(data) {
        panic!("{difference}");
    }
});
