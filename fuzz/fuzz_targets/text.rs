//! See `xtask::fuzz::targets::text`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Err(difference) = xtask::fuzz::targets::text(data) {
        panic!("{difference}");
    }
});
