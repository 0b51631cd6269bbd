//! The examples run, and their output is that of the snapshots.

#![allow(
    clippy::allow_attributes,
    clippy::unwrap_used,
    reason = "helpers of tests may fail the test"
)]

use std::process::Command;

macro_rules! examples {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            let output = Command::new(env!(concat!("CARGO_BIN_EXE_", stringify!($name)))).output();
            let output = output.unwrap();
            let stderr = String::from_utf8(output.stderr).unwrap();
            assert!(output.status.success(), "{stderr}");
            let shown = String::from_utf8(output.stdout).unwrap() + &stderr;
            insta::with_settings!({omit_expression => true}, {
                insta::assert_snapshot!(stringify!($name), shown);
            });
        })*
    };
}

examples! {
    check_definition
    decode_and_explain
    decode_dump
    plan_apply
    validate_objects
    why_not_called
}
