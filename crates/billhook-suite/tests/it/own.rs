//! Our own format.

use std::path::{Path, PathBuf};

use billhook_apimachinery::record::{Record, Type, TypedRecord as _};
use billhook_suite::{Plan, PlanOptions, Suite, find_suites};
use serde_json::{Value, json};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

const SUITE: &str = "
crds: [crd.yaml]
cases:
- name: x
  object: {apiVersion: example.com/v1, kind: Backup}
";

/// The error of a suite with another text in place of a part.
fn mistake(part: &str, text: &str) -> String {
    assert!(SUITE.contains(part));
    let error = Suite::read(SUITE.replace(part, text).as_bytes()).unwrap_err();
    let (line, column) = error.place().unwrap();
    format!("{line}:{column}: {error}")
}

#[test]
fn mistakes_have_places() {
    assert!(Suite::read(SUITE.as_bytes()).is_ok());
    for (part, text, error) in [
        (
            "crds:",
            "crd: [x]\ncrds:",
            "2:1: crd: unknown field; did you mean `crds`? known are name, crdName, ",
        ),
        ("crds: [crd.yaml]", "crds: crd.yaml", "2:1: crds: expected a list, found string"),
        ("crds:", "kubernetes: [1.36]\ncrds:", "2:14: kubernetes[0]: expected a string, found "),
        ("crds:", "kubernetes: ['1.12']\ncrds:", "2:14: kubernetes[0]: "),
        (
            "  object: {",
            "  objekt: {",
            "5:3: cases[0].objekt: unknown field; did you mean `object`? ",
        ),
        ("- name: x", "- name: x\n  name: y", "5:3: cases[0].name: the field is repeated"),
        ("- name: x", "- name: 7", "4:3: cases[0].name: expected a string, found "),
        ("- name: x\n  object", "- object", "4:3: cases[0].name: is missing"),
        ("  object: {", "  object: x #", "5:3: cases[0].object: expected an object, found string"),
        ("- name: x", "- name: x\n  subresource: spec", "5:3: cases[0].subresource: expected one"),
        ("- name: x", "- name: x\n  subresource: status", "5:3: cases[0].subresource: only an"),
        ("- name: x", "- name: x\n  table: {field: a}", "5:3: cases[0].table: has no values"),
        (
            "- name: x",
            "- name: x\n  table: {field: 'a[', valid: [1]}",
            "5:11: cases[0].table.field: `a[` is not a path",
        ),
        ("- name: x", "- name: x\n  expect: {errors: 1}", "5:12: cases[0].expect.errors: unknown"),
        (
            "- name: x",
            "- name: x\n  expect: {error: {rule: FieldValueRequird}}",
            "5:20: cases[0].expect.error.rule: unknown rule `FieldValueRequird`; did you mean \
             `FieldValueRequired`? known are ",
        ),
        (
            "- name: x",
            "- name: x\n  expect: {error: {rule: PR-12}}",
            "5:20: cases[0].expect.error.rule: unknown rule `PR-12`; known are ",
        ),
        ("- name: x", "- name: x\n  delete: 1", "5:3: cases[0].delete: expected true or false"),
        (
            "- name: x",
            "- name: x\n  delete: true\n  old: {}",
            "5:3: cases[0].delete: the object of a deletion is what is stored",
        ),
        ("cases:", "allow: [{user: a}]\ncases:", "3:9: allow[0].verb: is missing"),
        ("cases:", "services: {hook: 'a:1'}\ncases:", "3:12: services.hook: expected SERVICE.NAM"),
        ("cases:", "services: {a.b: a}\ncases:", "3:12: services.a.b: expected HOST:PORT, found"),
        (
            "cases:",
            "answers: {a: {call: true, deny: b}}\ncases:",
            "3:15: answers.a.call: a webhook",
        ),
        ("cases:", "tests: {onCreate: [{name: a}]}\ncases:", "2:1: crdName: is missing"),
    ] {
        let found = mistake(part, text);
        assert!(found.starts_with(error), "{found}\n{error}");
    }
}

/// A webhook that is called may give any reason.
#[test]
fn reasons_of_webhooks() {
    let expected = "- name: x\n  expect: {error: {rule: Full, field: a}}";
    let suite = SUITE.replace("- name: x", expected);
    assert!(Suite::read(suite.as_bytes()).is_err());
    let called = suite.replace("cases:", "answers: {a.b.c: {call: true}}\ncases:");
    assert!(Suite::read(called.as_bytes()).is_ok());
}

#[test]
fn quotes_are_advised() {
    let found = mistake("- name: x", "- name: yes");
    assert!(found.ends_with("expected a string, found bool; write it in quotes"), "{found}");
}

/// How the cases of a file fail.
fn failures(file: &str) -> Vec<String> {
    let plan = Plan::load(&root().join("fixtures/suites").join(file), &PlanOptions::default());
    let runs = plan.unwrap().into_runs();
    assert!(!runs.is_empty());
    let failure = |run: &billhook_suite::Run| {
        let failure = run.run().err()?;
        let finding = run.finding(&failure);
        Some(format!("{} {}: {failure}", finding.path, run.name()))
    };
    runs.iter().filter_map(failure).collect()
}

#[test]
fn the_example_passes() {
    assert_eq!(failures("backups.yaml"), [""; 0]);
}

#[test]
fn policies_are_tested() {
    let policies = root().join("fixtures/policies");
    let suites = find_suites(&policies, |path| std::fs::read(path)).unwrap();
    assert!(suites.len() >= 10, "{suites:?}");
    for suite in suites {
        assert_eq!(failures(suite.to_str().unwrap()), [""; 0], "{}", suite.display());
    }
    assert_eq!(failures("guarded-backups.yaml"), [""; 0]);
}

/// Built-in kinds need no definition (BK-01, BK-06): they have types, defaults and rules, and each version
/// is one of its own.
#[test]
fn built_in_kinds_are_known() {
    let text = r#"
cases:
- name: Defaults are set
  object: &pod {apiVersion: v1, kind: Pod, spec: {containers: [{name: a, image: i}]}}
  expect: {matches: {spec: {restartPolicy: Always, dnsPolicy: ClusterFirst}}}
- name: Rules are checked
  object: {apiVersion: v1, kind: Pod, spec: {containers: [{name: a, image: i, imagePullPolicy: Often}]}}
  expect: {error: {field: "spec.containers[0].imagePullPolicy", rule: FieldValueNotSupported}}
- name: Unknown fields are pruned
  object: {apiVersion: v1, kind: ConfigMap, dta: {}}
  expect: {warnings: ['unknown field "dta"']}
- name: A stored object has defaults
  old: *pod
  object: *pod
  table: {field: "spec.containers[0].image", valid: [j]}
- name: What is immutable stays
  old: *pod
  object: *pod
  table: {field: spec.restartPolicy, valid: [Always], invalid: [Never]}
  expect: {error: {field: spec}}
- name: A version of its own
  object:
    apiVersion: autoscaling/v1
    kind: HorizontalPodAutoscaler
    spec: &spec {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: a}}
- name: Another version of it
  object: {apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, spec: *spec}
  expect: {matches: {apiVersion: autoscaling/v2}}
"#;
    let file = std::env::temp_dir().join(format!("billhook-kinds-{}.yaml", std::process::id()));
    std::fs::write(&file, text).unwrap();
    let found = failures(file.to_str().unwrap());
    std::fs::remove_file(&file).unwrap();
    assert_eq!(found, [""; 0]);
}

/// PO-72: lists of built-in kinds are merged by their keys.
#[test]
fn policies_merge_lists_of_built_in_kinds() {
    let policy = r#"
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: ports}
spec:
  matchConstraints:
    resourceRules: [{operations: [CREATE], apiGroups: [""], apiVersions: [v1], resources: [pods]}]
  reinvocationPolicy: Never
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: >-
        Object{spec: Object.spec{containers: [Object.spec.containers{name: "b", image: "new"}]}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: ports}
spec: {policyName: ports}
"#;
    let suite = r#"
policies: [policy.yaml]
cases:
- name: One container of two changes
  object: {apiVersion: v1, kind: Pod, spec: {containers: [{name: a, image: i}, {name: b, image: i}]}}
  expect: {matches: {spec: {containers: [{name: a, image: i}, {name: b, image: new}]}}}
"#;
    let directory = std::env::temp_dir().join(format!("billhook-merge-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("policy.yaml"), policy).unwrap();
    let file = directory.join("suite.yaml");
    std::fs::write(&file, suite).unwrap();
    let found = failures(file.to_str().unwrap());
    std::fs::remove_dir_all(&directory).unwrap();
    assert_eq!(found, [""; 0]);
}

/// A suite that expects something else of policies than what they do.
#[test]
fn failures_of_policies() {
    let scratch = root().join("fixtures/suites/guarded-backups.yaml");
    let text = std::fs::read_to_string(scratch).unwrap();
    let directory = std::env::temp_dir().join(format!("billhook-policies-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let with = |part: &str, other: &str| {
        assert!(text.contains(part), "{part}");
        let text = text.replace(part, other);
        let fixtures = root().join("fixtures").canonicalize().unwrap();
        let text = text.replace("../crds", &format!("{}/crds", fixtures.display()));
        let text = ["backup-policies.yaml", "webhooks.yaml"].iter().fold(text, |text, file| {
            let path = format!("[{}/suites/{file}]", fixtures.display());
            text.replace(&format!("[{file}]"), &path)
        });
        let path = directory.join("suite.yaml");
        std::fs::write(&path, text).unwrap();
        match Plan::load(&path, &PlanOptions::default()) {
            Ok(plan) => {
                let runs = plan.into_runs();
                let failure = |run: &billhook_suite::Run| Some(run.run().err()?.to_string());
                runs.iter().filter_map(failure).collect::<Vec<_>>().join("\n")
            }
            Err(error) => error.message,
        }
    };
    let message = "targets begin with https://backups.example.com/";
    for (part, other, failure) in [
        (
            "policy: backup-targets, text",
            "policy: backup-retention, text",
            "by policy `backup-retention`, got: backups.data.example.com \"test\" is forbidden: \
             ValidatingAdmissionPolicy 'backup-targets' with binding 'backup-targets' denied \
             request: targets begin with",
        ),
        ("rule: Forbidden", "rule: Invalid", "create: expected Invalid with `targets begin"),
        (message, "other targets", "create: expected Forbidden with `other targets`"),
        (
            "backup-targets/target: https",
            "backup-targets/target: http",
            "auditAnnotations: expected {\"backup-targets/target\":\"http://",
        ),
        ("{env: prod}", "{env: test}", "warnings: expected [\"Validation failed"),
        ("[backup-policies.yaml]", "[webhooks.yaml]", "no admission policy here"),
        ("default:", "other:", "refused: namespaces \"default\" not found"),
    ] {
        let found = with(part, other);
        assert!(found.contains(failure), "{part}: {found}");
    }
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn failures_name_what_differs() {
    let refused = "Backup.data.example.com \"test\" is invalid:";
    assert_eq!(
        failures("backups-failing.yaml"),
        [
            "cases[0].expect cases: Another part: another object is stored than expected"
                .to_owned(),
            "cases[1].expect.pruned cases: Another field is pruned: pruned: expected \
             [\"spec.shedule\"], got []"
                .to_owned(),
            format!(
                "cases[2].object.spec.target cases: The object is refused: create: refused: {refused} \
                 spec.target: Required value"
            ),
            "cases[3].expect.error cases: The object is accepted: create: accepted, but expected \
             FieldValueRequired at `spec.target`"
                .to_owned(),
            format!(
                "cases[4].expect.error cases: Another error: create: expected FieldValueRequired \
                 at `spec.schedule` with `Required value`, got: {refused} spec.target: Required \
                 value"
            ),
            format!(
                "cases[5].table.valid[1] cases: A value of the wrong list, \
                 spec.retention.keepLast = 0: create: refused: {refused} \
                 spec.retention.keepLast: Invalid value: 0: spec.retention.keepLast in body \
                 should be greater than or equal to 1"
            ),
            "cases[5].table.invalid[0] cases: A value of the wrong list, spec.retention.keepLast \
             = 2: create: accepted, but expected an error at `spec.retention.keepLast`"
                .to_owned(),
            "cases[6].object.kind cases: Another kind: the case cannot be run: no CRD for kind \
             `Restore` of `data.example.com/v1`"
                .to_owned(),
        ]
    );
}

#[test]
fn the_schema_is_that_of_the_reader() {
    let text = std::fs::read(root().join("docs/formats/suite.schema.json")).unwrap();
    let schema: Value = serde_json::from_slice(&text).unwrap();
    same(&schema, &schema, Suite::record());
    let validator = jsonschema::validator_for(&schema).unwrap();
    for file in ["backups.yaml", "backups-failing.yaml", "failing.yaml", "guarded-backups.yaml"] {
        let text = std::fs::read(root().join("fixtures/suites").join(file)).unwrap();
        let suite = billhook::read_manifests(&text).unwrap();
        assert!(validator.is_valid(suite[0].value()), "{file}");
    }
    assert!(!validator.is_valid(&json!({"cases": [{"name": "x"}]})));
    assert!(!validator.is_valid(&json!({"case": []})));
}

/// Asserts that a schema has the fields of a record, and those of the records in them.
fn same(whole: &Value, schema: &Value, record: &'static Record) {
    let mut names: Vec<&str> = record.fields.iter().map(|field| field.name).collect();
    names.sort_unstable();
    let mut described: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
    described.sort_unstable();
    assert_eq!(described, names, "{}", record.name);
    assert_eq!(schema["additionalProperties"], json!(false), "{}", record.name);
    let required = record.fields.iter().filter(|field| field.is_required);
    let required: Vec<&str> = required.map(|field| field.name).collect();
    let described = schema.get("required").cloned().unwrap_or(json!([]));
    assert_eq!(described, json!(required), "{}", record.name);
    for field in record.fields {
        let path = format!("{}.{}", record.name, field.name);
        below(whole, &schema["properties"][field.name], field.type_, &path);
    }
}

fn below(whole: &Value, schema: &Value, type_: Type, path: &str) {
    match type_ {
        Type::Optional(inner) | Type::Named(_, inner) => below(whole, schema, *inner, path),
        Type::List(item) => {
            assert_eq!(schema["type"], "array", "{path}");
            below(whole, &schema["items"], *item, path);
        }
        Type::Map(item) => {
            assert_eq!(schema["type"], "object", "{path}");
            below(whole, &schema["additionalProperties"], *item, path);
        }
        Type::Record(record) => {
            let name = schema["$ref"].as_str().and_then(|name| name.strip_prefix("#/$defs/"));
            let name = name.unwrap_or_else(|| panic!("{path}"));
            same(whole, &whole["$defs"][name], record());
        }
        Type::Text => assert!(schema["type"] == "string" || schema["enum"].is_array(), "{path}"),
        Type::Flag => assert_eq!(schema["type"], "boolean", "{path}"),
        Type::Any => {}
        other => panic!("{path}: {other:?}"),
    }
}

#[test]
fn examples_are_accepted_or_refused() {
    assert_eq!(failures("examples"), [""; 0]);
    let directory = root().join("fixtures/suites/examples");
    let found = find_suites(&directory, |path| std::fs::read(path)).unwrap();
    assert_eq!(found, std::slice::from_ref(&directory));
    let plan = Plan::load(&directory, &PlanOptions::default()).unwrap();
    let names: Vec<String> = plan.runs().iter().map(billhook_suite::Run::name).collect();
    assert_eq!(
        names,
        [
            "valid/window.yaml (document 1)",
            "valid/window.yaml (document 2)",
            "invalid/window.yaml (document 1)",
            "invalid/window.yaml (document 2)",
        ]
    );
    let empty = Plan::load(&root().join("fixtures/crds"), &PlanOptions::default()).unwrap_err();
    assert!(empty.to_string().ends_with("no manifests in `valid` or `invalid` here"), "{empty}");
}

/// The verb `*` is every verb.
#[test]
fn all_verbs_may_be_allowed() {
    let policies = root().join("fixtures/policies").canonicalize().unwrap();
    let text = std::fs::read_to_string(policies.join("deletion-protection/suite.yaml")).unwrap();
    let with = |verb: &str| {
        let suite = text
            .replace("verb: unprotect", &format!("verb: {verb:?}"))
            .replace("../databases.yaml", &format!("{}/databases.yaml", policies.display()))
            .replace("[policy", &format!("[{}/deletion-protection/policy", policies.display()));
        let file = std::env::temp_dir().join(format!("billhook-verbs-{}.yaml", std::process::id()));
        std::fs::write(&file, suite).unwrap();
        let found = failures(file.to_str().unwrap());
        std::fs::remove_file(&file).unwrap();
        found.len()
    };
    assert_eq!([with("unprotect"), with("*"), with("get")], [0, 0, 1]);
}

/// The files that a suite names may be lists, as `kubectl get -o json` prints them.
#[test]
fn lists_are_taken_apart() {
    let fixtures = root().join("fixtures");
    let text = std::fs::read_to_string(fixtures.join("suites/guarded-backups.yaml")).unwrap();
    let directory = std::env::temp_dir().join(format!("billhook-lists-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let files = ["crds/backups.data.example.com", "suites/backup-policies", "suites/webhooks"];
    let names = ["../crds/backups.data.example.com.yaml", "backup-policies.yaml", "webhooks.yaml"];
    let mut suite = text;
    for (file, name) in files.into_iter().zip(names) {
        let documents = std::fs::read(fixtures.join(format!("{file}.yaml"))).unwrap();
        let documents = billhook::read_manifests(&documents).unwrap();
        let items: Vec<Value> = documents.iter().map(|it| it.value().clone()).collect();
        let list = json!({"apiVersion": "v1", "kind": "List", "items": items});
        let path = directory.join(format!("{}.json", file.replace('/', "-")));
        std::fs::write(&path, list.to_string()).unwrap();
        assert!(suite.contains(name), "{name}");
        suite = suite.replace(&format!("[{name}]"), &format!("[{:?}]", path));
    }
    let file = directory.join("suite.yaml");
    std::fs::write(&file, suite).unwrap();
    let found = failures(file.to_str().unwrap());
    std::fs::remove_dir_all(&directory).unwrap();
    assert_eq!(found, [""; 0]);
}

/// Mistakes in the policies and webhook configurations of a suite have places, too.
#[test]
fn mistakes_in_other_files_have_places() {
    let directory = std::env::temp_dir().join(format!("billhook-mistakes-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let crd = root().join("fixtures/crds/backups.data.example.com.yaml");
    let mistake = |files: &str, document: &str| {
        let suite = directory.join("suite.yaml");
        let text = SUITE.replace("[crd.yaml]", &format!("[{:?}]\n{files}: [file.yaml]", crd));
        std::fs::write(&suite, text).unwrap();
        std::fs::write(directory.join("file.yaml"), document).unwrap();
        let error = Plan::load(&suite, &PlanOptions::default()).unwrap_err();
        let (line, column) = error.place.unwrap();
        format!("{line}:{column}: {} ({})", error.message, error.help.unwrap_or_default())
    };
    let policy = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\n\
                  metadata: {name: p}\nspec:\n  variables:\n  - {name: n, expression: '1'}\n";
    assert_eq!(
        mistake("policies", policy),
        "6:12: json: cannot unmarshal bool into Go struct field Variable.spec.variables.name of \
         type string (write it in quotes)"
    );
    let policy = policy.replace("{name: n,", "{name: 'a b',");
    let error = mistake("policies", &policy);
    assert!(error.starts_with("4:1: spec.matchConstraints: Required value"), "{error}");
    let webhooks = "apiVersion: admissionregistration.k8s.io/v1\n\
                    kind: MutatingWebhookConfiguration\nmetadata: {name: w}\nwebhooks:\n- name: 7\n";
    let error = mistake("webhooks", webhooks);
    assert!(error.starts_with("5:9: ") && error.ends_with("(write it in quotes)"), "{error}");
    let list = format!("kind: List\napiVersion: v1\nitems:\n- {}", webhooks.replace('\n', "\n  "));
    let error = mistake("webhooks", &list);
    assert!(error.starts_with("8:11: ") && error.ends_with("(write it in quotes)"), "{error}");
    std::fs::remove_dir_all(&directory).unwrap();
}
