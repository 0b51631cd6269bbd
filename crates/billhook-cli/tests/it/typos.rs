//! Typos that people make, and the findings that say what to do.

use crate::support::{root, run, snapshot};

const OBJECT: &str = "\
apiVersion: data.example.com/v1
kind: Backup
metadata:
  name: nightly
spec:
  # At five.
  schedule: 1 2 3 4 5
  target:
    url: https://a
  retention:
    keepLast: 3
";

/// Texts, and the typos that replace them.
const TYPOS: [(&str, &[(&str, &str)]); 6] = [
    (
        "text",
        &[
            ("    url:", "\turl:"),
            ("schedule: 1 2", "schedule 1 2"),
            ("https://a", "https: a"),
            ("https://a", "\"https://a"),
            ("https://a", "*.home"),
            ("https://a", "*home"),
            ("https://a", "@home"),
            ("nightly", "{{ .Values.name }}"),
            ("  retention", "   retention"),
            (": 3\n", ": 3\n...\nkind: Backup\n"),
        ],
    ),
    (
        "json",
        &[
            ("\"kind\"", "// The kind.\n\"kind\""),
            ("\"Backup\"", "\"Backup\","),
            ("\"kind\"", "'kind'"),
            ("v1\",", "v1\""),
            ("}", ""),
        ],
    ),
    (
        "shape",
        &[
            ("retention:\n    keepLast", "retention:\n    - keepLast"),
            ("retention:\n    keepLast: 3", "retention: keepLast:3"),
            ("retention:\n    keepLast: 3", "retention: 3"),
            ("keepLast: 3", "keepLast: 3.5"),
        ],
    ),
    (
        "place",
        &[
            ("metadata:\n", "metadata:\n  a: 1\nlabels: {a: b}\nx:\n"),
            ("apiVersion", "apiversion"),
            ("kind", "Kind"),
            (
                "name: nightly",
                "name: nightly\n  ownerReferences:\n  - apiVersion: v1\n    kind: Pod\n    name: a\n    uid: b\n    controler: true",
            ),
        ],
    ),
    (
        "list",
        &[
            ("tags: [internal, support]", "tags: internal"),
            ("tags: [internal, support]", "tags:\n    -internal\n    -support"),
            ("tags: [internal, support]", "tags: {a: internal}"),
        ],
    ),
    ("repeated", &[("    keepLast: 3\n", "    keepLast: 3\n    keepLast: 4\n")]),
];

const JSON: &str = "{\"apiVersion\": \"data.example.com/v1\",\n\"kind\": \"Backup\"}\n";

const LISTS: &str = "\
apiVersion: platform.example.com/v1
kind: Stack
metadata: {name: web}
spec:
  displayName: Web
  owner: web@example.com
  tags: [internal, support]
  components:
  - name: web
    containers:
    - {name: web, image: web}
";

#[test]
fn findings_tell_what_to_do() {
    for (name, typos) in TYPOS {
        let text = match name {
            "json" => JSON,
            "list" => LISTS,
            _ => OBJECT,
        };
        let shown = typos.iter().map(|(right, wrong)| {
            assert!(text.contains(right), "{right}");
            let shown = run(
                "validate -q --format human --crd fixtures/crds -",
                &text.replacen(right, wrong, 1),
            );
            let (_, shown) = shown.split_once("-- standard output\n").unwrap();
            format!("{right:?} -> {wrong:?}\n\n{shown}\n")
        });
        snapshot!(format!("typos_{name}"), shown.collect::<String>());
    }
}

/// Typos in documents whose kinds are built in.
const BUILT_IN: [(&str, &[(&str, &str)]); 3] = [
    (
        "crds/backups.data.example.com.yaml",
        &[
            ("openAPIV3Schema", "openAPIv3Schema"),
            ("minLength", "minlength"),
            ("              properties:", "              propertes:"),
            ("served: true", "served: \"true\""),
            ("minLength: 9", "minLength: \"9\""),
            ("name: v1\n", "name: 1\n"),
            ("status: {}", "status: true"),
            ("scope: Namespaced", "scope: true"),
        ],
    ),
    (
        "broken-webhooks/webhooks.yaml",
        &[
            ("timeoutSeconds: 30", "timeoutSeconds: \"30\""),
            ("admissionReviewVersions: [v1]", "admissionReviewVersions: v1"),
            ("webhooks:", "webhook:"),
            ("failurePolicy: fail", "failurePolicy: 1"),
        ],
    ),
    (
        "policies/no-latest-tag/policy.yaml",
        &[("validations:", "validation:"), ("expression: ", "Expression: ")],
    ),
];

#[test]
fn findings_in_built_in_kinds_tell_what_to_do() {
    for (file, typos) in BUILT_IN {
        let text = std::fs::read_to_string(root().join("fixtures").join(file)).unwrap();
        let shown = typos.iter().map(|(right, wrong)| {
            assert!(text.contains(right), "{right}");
            let shown = run("check -q --format human -", &text.replacen(right, wrong, 1));
            let (_, shown) = shown.split_once("-- standard output\n").unwrap();
            format!("{right:?} -> {wrong:?}\n\n{shown}\n")
        });
        let name = file.split('/').next().unwrap();
        snapshot!(format!("typos_{name}"), shown.collect::<String>());
    }
}
