//! `billhook test` on suites of the project.

use crate::admit::Webhooks;
use crate::support::{Scratch, cases, run, snapshot};

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
    test_misspelled: "test --crd fixtures/crds fixtures/suites/misspelled.yaml";
    test_unusable: "test fixtures/objects/backup.yaml nope.yaml";
    help_test: "test --help";
}

/// One webhook is called at its URL, one at the address of its Service.
const CALLING: &str = "
crds: [CRDS]
webhooks: [WEBHOOKS]
services: {hook.shop: 'localhost:PORT'}
answers:
  mutate.webhooks.example.com: {call: true}
  deny.webhooks.example.com: {call: true}
cases:
- name: Accepted
  object: &backup
    apiVersion: data.example.com/v1
    kind: Backup
    spec: {schedule: 30 2 * * *, target: {url: 'https://a.example.com'}}
  expect:
    webhooks: [mutate.webhooks.example.com, deny.webhooks.example.com]
    matches: {metadata: {annotations: {example.com/reviewed-by: webhook_server}}}
- name: Denied
  object:
    <<: *backup
    metadata: {labels: {example.com/denied: friday}}
  expect:
    error: {text: admission webhook \"deny.webhooks.example.com\" denied the request}
";

#[test]
fn webhooks_are_called() {
    let webhooks = Webhooks::start("suite");
    let (file, port) = (webhooks.file(""), webhooks.port());
    let text = std::fs::read_to_string(&file).unwrap();
    let url = format!("url: https://localhost:{port}/deny");
    assert!(text.contains(&url), "{text}");
    let text = text.replace(&url, "service: {name: hook, namespace: shop, path: /deny}");
    let crds = crate::support::root().join("fixtures/crds").canonicalize().unwrap();
    let suite = CALLING.replace("CRDS", crds.to_str().unwrap());
    let suite = suite.replace("[WEBHOOKS]", "[webhooks.yaml]").replace("PORT", &port);
    let other = suite.replace("friday", "friday, a: b").replace("denied the request", "is closed");
    let files = [("suite.yaml", suite.as_str()), ("other.yaml", &other), ("webhooks.yaml", &text)];
    let scratch = Scratch::new("calling", &files);
    snapshot!("suite_calls", scratch.run("test DIR/suite.yaml"));
    snapshot!("suite_calls_fails", scratch.run("test DIR/other.yaml"));
    drop(webhooks);
    let shown = scratch.run("test DIR/suite.yaml").replace(&port, "PORT");
    assert!(shown.contains("0 passed, 2 failed"), "{shown}");
    assert!(shown.contains("failed calling webhook \"mutate.webhooks"), "{shown}");
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
