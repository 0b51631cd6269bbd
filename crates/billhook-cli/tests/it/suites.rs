//! `billhook test` on suites of the project.

use billhook_apimachinery::base64;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::admit::Webhooks;
use crate::convert::definition;
use crate::server::{Handled, Received, Reply, Server};
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
    test_own_misspelled: "test fixtures/suites/backups-misspelled.yaml";
    test_filter_nothing: "test --filter Nothing fixtures/suites/backups.yaml";
    test_generate_none: "test --generate --crd fixtures/objects/backup.yaml";
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

/// Files that cannot be read are reported, and all else runs. One that is too large is so for every
/// user, a closed directory only for those who are not root.
#[cfg(unix)]
#[test]
fn unreadable_files_hide_nothing() {
    use std::os::unix::fs::PermissionsExt as _;
    let suite = "crds: [../crd.yaml]\ncases: [{name: A, object: {apiVersion: data.example.com/v1, \
                 kind: Backup, spec: {}}}]\n";
    let (crd, large) = (definition(), "#".repeat(5000));
    let files = [
        ("crd.yaml", &*crd),
        ("suites/a.yaml", suite),
        ("suites/large.yaml", &large),
        ("suites/closed/b.yaml", suite),
    ];
    let scratch = Scratch::new("unreadable", &files);
    let closed = scratch.path().join("suites/closed");
    let allow = |mode| std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(mode));
    allow(0).unwrap();
    let is_root = std::fs::read_dir(&closed).is_ok();
    let shown = scratch.run("test --max-input 4KiB DIR/suites");
    let alone = scratch.run("test DIR/suites/closed");
    allow(0o755).unwrap();
    assert!(shown.contains("1 passed, 0 failed") && shown.contains("exit status: 2"), "{shown}");
    assert!(shown.contains("error: DIR/suites/large.yaml: more than 4KiB;"), "{shown}");
    if !is_root {
        let error = "error: DIR/suites/closed: permission denied\n";
        assert!(shown.contains(error) && alone.contains(error), "{shown}\n{alone}");
    }
}

const CONVERTING: &str = "\
crds: [crd.yaml]
services: {hook.shop: 'localhost:PORT'}
conversions:
  backups.data.example.com:
    patches:
      v1: [{op: move, from: /spec/when, path: /spec/schedule}]
      v2: [{op: move, from: /spec/schedule, path: /spec/when}]
cases:
- name: Written in another version than is stored
  object: &daily {apiVersion: data.example.com/v2, kind: Backup, spec: {when: daily}}
  expect:
    matches: {apiVersion: data.example.com/v2, spec: {when: daily}}
- name: Stored in another version
  old: {apiVersion: data.example.com/v1, kind: Backup, spec: {schedule: hourly}}
  object: *daily
  expect:
    matches: {apiVersion: data.example.com/v2, spec: {when: daily}}
";

/// Renames the field as the patches of the suite do.
fn rename(received: Received) -> Handled {
    let mut review: Value = serde_json::from_slice(&received.body).unwrap();
    let request = review["request"].take();
    let convert = |object: &Value| {
        let mut object = object.clone();
        object["apiVersion"] = request["desiredAPIVersion"].clone();
        let when = [&object["spec"]["when"], &object["spec"]["schedule"]];
        let when = when.into_iter().find(|it| it.is_string()).cloned();
        object["spec"] = match request["desiredAPIVersion"] == "data.example.com/v2" {
            true => json!({"when": when}),
            false => json!({"schedule": when}),
        };
        object
    };
    let objects: Value = request["objects"].as_array().unwrap().iter().map(convert).collect();
    review["response"] = json!({"uid": request["uid"], "convertedObjects": objects,
        "result": {"status": "Success"}});
    Box::pin(async move { Some(Reply::new(200, Vec::new(), review.to_string())) })
}

/// The webhook of a definition converts as the suite says, or itself.
#[test]
fn objects_are_converted() {
    let runtime = Runtime::new().unwrap();
    let start = Server::start("127.0.0.1:0", &["hook.shop.svc"], rename);
    let server = runtime.block_on(start).unwrap();
    let mut crd: Value = serde_json::from_str(&definition()).unwrap();
    crd["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"] =
        base64::encode(server.authority().ca_bundle.as_bytes()).into();
    let (crd, port) = (crd.to_string(), server.address().port().to_string());
    let (head, rest) = CONVERTING.split_once("    patches:").unwrap();
    let (_, cases) = rest.split_once("cases:").unwrap();
    let suite = |how: &str| format!("{head}{how}\ncases:{cases}").replace("PORT", &port);
    let patched = CONVERTING.replace("PORT", &port);
    let scratch = Scratch::new("converting", &[("crd.yaml", &crd), ("patched.yaml", &patched)]);
    for (name, how) in [
        ("called", "    call: true"),
        ("failing", "    fail: not today"),
        ("both", "    {call: true, fail: not today}"),
    ] {
        scratch.write(&format!("{name}.yaml"), &suite(how));
    }
    scratch.write(
        "none.yaml",
        &suite("    {}")
            .replace("conversions", "# conversions")
            .replace("\n  backups.data.example.com:\n    {}", ""),
    );
    scratch.write("other.yaml", &suite("    {}").replace("  backups.data", "  restores.data"));
    for name in ["patched", "called"] {
        let shown = scratch.run(&format!("test DIR/{name}.yaml"));
        assert!(shown.contains("2 passed, 0 failed"), "{shown}");
    }
    for name in ["failing", "both", "none", "other"] {
        snapshot!(format!("converting_{name}"), scratch.run(&format!("test DIR/{name}.yaml")));
    }
    drop(server);
    let shown = scratch.run("test DIR/called.yaml");
    assert!(shown.contains("0 passed, 2 failed"), "{shown}");
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
