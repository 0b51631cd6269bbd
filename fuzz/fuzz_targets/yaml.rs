//! See `xtask::fuzz::targets::yaml`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Err(difference) = xtask::fuzz::targets::yaml(data) {
        panic!("{difference}");
    }
});
