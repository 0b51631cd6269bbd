//! `billhook test` on suites of the project.

use crate::support::{cases, run, snapshot};

cases! {
    suites_answers: "test --format status none.yaml";
    test_passes: "test crates/billhook-suite/tests/layout";
    test_fails: "test --crd crates/billhook-suite/tests/layout/example/v1/zz_generated.crd-manifests/backups-Default.crd.yaml fixtures/suites/failing.yaml";
    test_junit: "test --format junit --filter refused --crd crates/billhook-suite/tests/layout/example/v1/zz_generated.crd-manifests/backups-Default.crd.yaml fixtures/suites/failing.yaml";
    test_own: "test fixtures/suites/backups.yaml";
    test_coverage: "test --coverage fixtures/suites/backups.yaml";
    test_coverage_unwritable: "test --coverage-json nope/coverage.json fixtures/suites/backups.yaml";
    test_own_fails: "test fixtures/suites/backups-failing.yaml";
    test_unusable: "test fixtures/objects/backup.yaml nope.yaml";
    help_test: "test --help";
}
