//! Runs test suites of definitions with `cargo test`, a test for each case.

use std::process::ExitCode;

use billhook_suite::testing::run_suites;

fn main() -> ExitCode {
    run_suites(concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/suites/backups.yaml"))
}
