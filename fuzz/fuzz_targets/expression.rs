//! See `xtask::fuzz::targets::expression`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Err(difference) = xtask::fuzz::targets::expression(data) {
        panic!("{difference}");
    }
});
