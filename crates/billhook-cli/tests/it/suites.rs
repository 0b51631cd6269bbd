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
    test_generate: "test --generate --crd crates/billhook-suite/tests/coverage/crd.yaml";
    test_generate_two: "test --generate --crd fixtures/crds";
    test_examples: "test --format tap fixtures/suites/examples";
    completions_unknown: "completions tcsh";
    help_completions: "completions --help";
    help_man: "man --help";
    test_own_fails: "test fixtures/suites/backups-failing.yaml";
    test_unusable: "test fixtures/objects/backup.yaml nope.yaml";
    help_test: "test --help";
}

#[test]
fn completions_and_pages_know_all_subcommands() {
    let names = ["decode", "validate", "check", "match", "admit", "apply", "owners", "test"];
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let text = run(&format!("completions {shell}"), "");
        assert!(text.contains("exit status: 0"), "{shell}");
        for name in names {
            assert!(text.contains(name), "{shell}: {name}");
        }
    }
    let directory = std::env::temp_dir().join(format!("billhook-man-{}", std::process::id()));
    let printed = run(&format!("man {}", directory.display()), "");
    assert!(printed.contains("exit status: 0"), "{printed}");
    for name in names {
        let page = std::fs::read_to_string(directory.join(format!("billhook-{name}.1"))).unwrap();
        assert!(page.contains(".SH OPTIONS"), "{name}");
    }
    std::fs::remove_dir_all(&directory).unwrap();
}
