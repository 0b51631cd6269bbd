//! See `xtask::fuzz::targets::definition_and_text`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Err(difference) = xtask::fuzz::targets::definition_and_text(data) {
        panic!("{difference}");
    }
});
