//! See `xtask::fuzz::targets::webhooks`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Err(difference) = xtask::fuzz::targets::webhooks(data) {
        panic!("{difference}");
    }
});
