//! `billhook.toml`, comments that ignore findings, and baselines.

use std::process::Command;

use serde_json::Value;

use crate::support::{Scratch, run, snapshot};

const OBJECT: &str = "\
apiVersion: data.example.com/v1
kind: Backup
metadata: {name: nightly}
spec:
  schedule: \"1 2 3 4 5\"
  target: {url: bucket}
  sise: 1
  retention: {keepLast: 0}
";

fn scratch(name: &str, files: &[(&str, &str)]) -> Scratch {
    let scratch = Scratch::new(name, files);
    scratch.write("crds/backups.yaml", &backups());
    scratch
}

fn backups() -> String {
    let root = crate::support::root();
    std::fs::read_to_string(root.join("fixtures/crds/backups.data.example.com.yaml")).unwrap()
}

#[test]
fn settings() {
    let toml = "\
kubernetes = \"1.34\"
crds = [\"crds\"]
[rules]
RP-20 = \"error\"
[[files]]
pattern = \"tests/**/*.yaml\"
rules = { RP-20 = \"note\", FieldValueInvalid = \"off\", FieldValueTypeInvalid = \"off\" }
";
    let files = [
        ("billhook.toml", toml),
        ("a.yaml", OBJECT),
        ("tests/deep/b.yaml", OBJECT),
        ("tests/c.yaml", OBJECT),
    ];
    let scratch = scratch("settings", &files);
    let args = "validate --format concise DIR/tests DIR/a.yaml";
    snapshot!("settings", scratch.run(args));
    snapshot!("settings_elsewhere", run_elsewhere(&scratch));
    snapshot!("settings_ignored", scratch.run("validate DIR/tests/c.yaml"));
}

/// The settings are named, and not found.
fn run_elsewhere(scratch: &Scratch) -> String {
    let path = scratch.path().to_str().unwrap().to_owned();
    let args = format!("validate --format concise --config {path}/billhook.toml -");
    run(&args, OBJECT).replace(&path, "DIR")
}

/// Files of directories can be left out; one that is named is always read. `./` makes no other name.
#[test]
fn settings_that_exclude() {
    let files = [
        (
            "billhook.toml",
            "crds = [\"crds\"]\nexclude = [\"**/node_modules/**\", \"chart/*.yaml\"]\n",
        ),
        ("a.yaml", OBJECT),
        ("web/node_modules/x/package.json", "{\"name\": \"x\"}"),
        ("chart/values.yaml", "size: 1\n"),
        ("chart/templates/b.yaml", OBJECT),
    ];
    let scratch = scratch("exclude", &files);
    let here = |args: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_billhook"));
        let output = command.args(args.split(' ')).current_dir(scratch.path()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let all = here("validate --format concise .");
    let of = |file: &str| all.lines().filter(|line| line.starts_with(file)).count();
    assert_eq!((of("a.yaml:"), of("chart/templates/b.yaml:")), (3, 3), "{all}");
    assert_eq!(all.lines().count(), 6, "{all}");
    assert_eq!(here("validate --format concise ./a.yaml ./chart/templates/b.yaml"), all);
    snapshot!("settings_exclude_named", scratch.run("validate DIR/chart/values.yaml"));
    snapshot!("settings_exclude_all", scratch.run("validate DIR/web"));
}

/// A baseline may lie among the manifests.
#[test]
fn baselines_among_manifests() {
    let files = [("billhook.toml", "crds = [\"crds\"]\n"), ("all/a.yaml", OBJECT)];
    let scratch = scratch("baseline-among", &files);
    scratch.run("validate --baseline DIR/all/known.json --write-baseline DIR/all");
    let again = scratch.run("validate --baseline DIR/all/known.json DIR/all");
    assert!(again.contains("\nexit status: 0\n"), "{again}");
}

#[test]
fn settings_that_are_wrong() {
    for (name, toml) in [
        ("unknown_key", "crds = []\ncrd = []\n"),
        ("unknown_level", "[rules]\nRP-20 = \"fatal\"\n"),
        ("unknown_rule", "[rules]\nRP-20000 = \"off\"\n"),
        ("unknown_version", "\nkubernetes = \"1.99\"\n"),
        ("bad_pattern", "[[files]]\npattern = \"***\"\nrules = {}\n"),
        ("not_toml", "a = [\n"),
    ] {
        let scratch = scratch(name, &[("billhook.toml", toml), ("a.yaml", OBJECT)]);
        snapshot!(format!("settings_{name}"), scratch.run("validate DIR/a.yaml"));
    }
    let toml = "kubernetes = \"1.36\"\ncrds = [\"nope\"]\n";
    let scratch = scratch("missing_crds", &[("billhook.toml", toml), ("a.yaml", OBJECT)]);
    snapshot!("settings_missing_crds", scratch.run("validate DIR/a.yaml"));
    snapshot!("settings_missing", run("validate --config none.toml fixtures/objects", ""));
}

#[test]
fn ignored_in_comments() {
    let text = "\
apiVersion: data.example.com/v1
kind: Backup
metadata: {name: nightly}
spec:
  schedule: \"1 2 3 4 5\"
  # billhook: ignore FieldValueTypeInvalid because the bucket is made later
  # It is.

  target: {url: bucket}
  sise: 1 # billhook: ignore RP-20, FieldValueInvalid because: old
  retention: {keepLast: 0}
  # billhook: ignore
  suspend: false # billhook: ignore RP-2O, FieldValueInvalids because of nothing
  # billhook: ignor RP-20
  # billhook ignore RP-20
  # billhook says nothing here.
  labels:
    a: |
      # billhook: ignore RP-20 is text here
    b: 'x # billhook: ignore RP-20'
";
    let scratch = scratch("ignored", &[("billhook.toml", "crds = ['crds']\n"), ("a.yaml", text)]);
    snapshot!("ignored", scratch.run("validate DIR/a.yaml"));
    // To decode finds less than to validate.
    snapshot!("ignored_decode", scratch.run("decode --format concise DIR/a.yaml"));
}

const WEBHOOKS: &str = "\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: guards}
webhooks:
- name: strict.example.com
  clientConfig: {url: 'https://localhost:1/'} # billhook: ignore server-warning because it is here
  matchConditions: [{name: a, expression: 'object.none == 1'}]
  rules: [{operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*']}]
  timeoutSeconds: 1
  sideEffects: None
  admissionReviewVersions: [v1]
";

/// Levels and comments hold for requests as well.
#[test]
fn requests() {
    let toml = "\
crds = ['crds']
[rules]
assumed-namespace = 'off'
[[files]]
pattern = 'b.yaml'
rules = { WM-80 = 'note', refused = 'warning', RP-20 = 'off' }
";
    let object = OBJECT.replace("  retention: {keepLast: 0}\n", "").replace("bucket", "https://b");
    let ignoring = format!("# billhook: ignore WM-80, refused because of the test\n{object}");
    let files = [
        ("billhook.toml", toml),
        ("a.yaml", &object),
        ("b.yaml", &object),
        ("c.yaml", &ignoring),
        ("webhooks/guards.yaml", WEBHOOKS),
    ];
    let scratch = scratch("requests", &files);
    let args = "match --format concise --webhooks DIR/webhooks DIR/b.yaml DIR/c.yaml";
    snapshot!("requests_matched", scratch.run(args));
    snapshot!("requests_refused", scratch.run(&args.replace("b.yaml", "a.yaml")));
    let args = args.replace("match", "admit");
    snapshot!("requests_admitted", scratch.run(&args));
    let shown = scratch.run(&args.replace("--format concise", ""));
    assert!(shown.contains("Backup nightly: refused, but ignored, 403 Forbidden\n"), "{shown}");
    assert!(shown.contains("exit status: 0\n"), "{shown}");
    // What only requests show is not missed elsewhere.
    snapshot!("requests_validated", scratch.run("validate --format concise DIR/c.yaml"));
}

#[test]
fn baselines() {
    let scratch =
        scratch("baseline", &[("billhook.toml", "crds = ['crds']\n"), ("a.yaml", OBJECT)]);
    let args = "validate --format concise --baseline DIR/known.json DIR/a.yaml";
    snapshot!("baseline_missing", scratch.run(args));
    snapshot!("baseline_write", scratch.run(&format!("{args} --write-baseline")));
    check_baseline(&scratch.text("known.json"));
    snapshot!("baseline_known", scratch.run(args));
    // Lines move, one finding goes and another comes.
    let changed = OBJECT.replace("spec:", "\nspec:").replace("sise: 1", "size: 1");
    scratch.write("a.yaml", &changed);
    snapshot!("baseline_changed", scratch.run(args));
    scratch.write("known.json", "{\"kind\": \"Baseline\", \"extra\": 1}");
    snapshot!("baseline_unreadable", scratch.run(args));
}

/// The file is as its schema says, and has the findings in order.
fn check_baseline(text: &str) {
    let path = crate::support::root().join("docs/formats/baseline.schema.json");
    let schema = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let document: Value = serde_json::from_str(text).unwrap();
    assert!(validator.is_valid(&document), "{document:#}");
    assert!(!validator.is_valid(&serde_json::json!({"findings": [1]})), "the schema can refuse");
    let findings = document["findings"].as_array().unwrap();
    let rules: Vec<&Value> = findings.iter().map(|finding| &finding["rule"]).collect();
    assert_eq!(rules, ["FieldValueInvalid", "FieldValueTypeInvalid", "RP-20"]);
}

/// Baselines hold for requests; what is gone from a file that was read is reported.
#[test]
fn baselines_of_requests() {
    let toml = "crds = ['crds']\n[rules]\nassumed-namespace = 'off'\n";
    let object = OBJECT.replace("  retention: {keepLast: 0}\n", "").replace("bucket", "https://b");
    let webhooks = WEBHOOKS.replace("# billhook: ignore server-warning because it is here", "");
    let files = [("billhook.toml", toml), ("a.yaml", &object), ("guards.yaml", &webhooks)];
    let scratch = scratch("baseline-requests", &files);
    for command in ["match", "admit"] {
        let args = format!(
            "{command} --format concise --webhooks DIR/guards.yaml --baseline DIR/known.json DIR/a.yaml"
        );
        snapshot!(
            format!("baseline_{command}_write"),
            scratch.run(&format!("{args} --write-baseline"))
        );
        let known = scratch.run(&args);
        assert!(known.contains("exit status: 0\n"), "{known}");
        assert!(known.ends_with("-- standard output\n\n-- standard error\n"), "{known}");
        let other = webhooks.replace("object.none", "object.other");
        scratch.write("guards.yaml", &other);
        snapshot!(format!("baseline_{command}_changed"), scratch.run(&args));
        scratch.write("guards.yaml", &webhooks);
    }
}

/// A document that makes no request is never known: the run fails, and says why.
#[test]
fn baselines_without_requests() {
    let other = OBJECT.replace("kind: Backup", "kind: Restore");
    let files = [("billhook.toml", "crds = ['crds']\n"), ("a.yaml", &other), ("b.yaml", "a: [1")];
    let scratch = scratch("baseline-none", &files);
    for command in ["validate -q", "admit"] {
        let args =
            format!("{command} --format concise --baseline DIR/known.json DIR/a.yaml DIR/b.yaml");
        let written = scratch.run(&format!("{args} --write-baseline"));
        let known = scratch.run(&args);
        let (_, shown) = known.split_once('\n').unwrap();
        assert!(written.contains(shown.split("-- standard error").next().unwrap()), "{written}");
        let name = command.split(' ').next().unwrap();
        snapshot!(format!("baseline_without_requests_{name}"), known);
    }
}

const SUITE: &str = "\
crds: [crds]
cases:
# billhook: ignore failed-case because it is known
- name: Ignored
  object: {apiVersion: data.example.com/v1, kind: Backup, spec: {}}
- name: Ignored where it fails
  object: {apiVersion: data.example.com/v1, kind: Backup, spec: {}}
  expect:
    error: {text: other} # billhook: ignore failed-case because it is known
- name: Nothing to ignore # billhook: ignore failed-case, PR-12, no-rule because of the test
  object: {apiVersion: data.example.com/v1, kind: Backup, spec: {}}
  expect: {error: {}}
";

/// Comments and levels hold for cases that fail.
#[test]
fn failed_cases() {
    let scratch = scratch("cases", &[("suite.yaml", SUITE)]);
    snapshot!("cases_ignored", scratch.run("test DIR/suite.yaml"));
    let filtered = scratch.run("test --filter Nothing DIR/suite.yaml");
    assert!(filtered.contains("-- standard output\n1 passed, 0 failed\n"), "{filtered}");
    let updated = scratch.run("test --update DIR/suite.yaml");
    assert!(updated.contains("2 ignored"), "{updated}");
    assert_eq!(scratch.text("suite.yaml"), SUITE);
    scratch.write("suite.yaml", &SUITE.replace("billhook: ", ""));
    scratch.write("billhook.toml", "[rules]\nfailed-case = 'warning'\n");
    snapshot!("cases_warned_of", scratch.run("test DIR/suite.yaml"));
    let report = scratch.run("test --format junit DIR/suite.yaml");
    assert!(report.contains("failures=\"0\"") && report.contains("exit status: 0\n"), "{report}");
}

/// Settings that are there and cannot be read are not left out.
#[cfg(unix)]
#[test]
fn settings_that_are_not_a_file() {
    use std::os::unix::fs::symlink;
    type Make = fn(&std::path::Path);
    let cases: [(&str, Make, &str); 4] = [
        ("directory", |path| std::fs::create_dir(path).unwrap(), "not a regular file"),
        ("device", |path| symlink("/dev/zero", path).unwrap(), "not a regular file"),
        ("loop", |path| symlink("billhook.toml", path).unwrap(), "symbolic link"),
        ("nowhere", |path| symlink("nothing", path).unwrap(), "no such file"),
    ];
    for (name, make, message) in cases {
        let scratch = Scratch::new(&format!("settings-{name}"), &[("a.yaml", "")]);
        make(&scratch.path().join("billhook.toml"));
        let shown = scratch.run("validate --crd fixtures/crds DIR/a.yaml");
        assert!(shown.contains("exit status: 2"), "{shown}");
        assert!(shown.contains("DIR/billhook.toml: ") && shown.contains(message), "{shown}");
    }
}
