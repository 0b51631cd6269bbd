//! Coverage of definitions.

use std::path::Path;

use billhook::DeepValue;
use billhook_suite::{Coverage, CoverageItem, CoverageKind, Plan, PlanOptions};
use serde_json::{Value, json};

fn coverage(suite: &str) -> Coverage {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/coverage");
    let plan = Plan::load(&directory.join(suite), &PlanOptions::default()).unwrap();
    let mut coverage = Coverage::default();
    for run in plan.runs() {
        run.run().unwrap();
        coverage.add(run);
    }
    coverage
}

/// A text without the directory of the tests.
fn relative(text: &str) -> String {
    text.replace(concat!(env!("CARGO_MANIFEST_DIR"), "/"), "")
}

#[test]
fn parts_are_counted() {
    let coverage = coverage("suite.yaml");
    let [definition] = coverage.documents().collect::<Vec<_>>()[..] else { panic!("one") };
    let counts = CoverageKind::ALL.map(|kind| definition.count(kind));
    // Only the first rule is kept and violated; `start` is always set; one of two days is there;
    // no labels; the message is made once; of the branches only one is both true and false.
    assert_eq!(counts, [(5, 7), (1, 3), (1, 2), (1, 2), (1, 1), (1, 5)]);
    let item = |path: &str| {
        let is_it = |item: &&CoverageItem| item.path.to_json_pointer().ends_with(path);
        let item = definition.items.iter().find(is_it).unwrap();
        (item.line, item.hits, item.violations)
    };
    assert_eq!(item("/spec"), (21, 3, 0));
    assert_eq!(item("/x-kubernetes-validations/0"), (41, 2, 1));
    assert_eq!(item("/x-kubernetes-validations/0/messageExpression"), (42, 1, 0));
    assert_eq!(item("/x-kubernetes-validations/1"), (43, 3, 0));
    assert_eq!(item("/x-kubernetes-validations/2"), (44, 0, 0));
    assert_eq!(item("/end/default"), (35, 1, 0));
    assert_eq!(item("/enum/1"), (29, 3, 0));
    let branches = definition.items.iter().filter(|item| item.kind == CoverageKind::Branch);
    let branches = branches.map(|item| (&*item.text, item.line, item.hits, item.violations));
    assert_eq!(
        branches.collect::<Vec<_>>(),
        [
            ("self.end < 0", 42, 0, 1),
            ("self.end <= 24", 43, 3, 0),
            ("self.end > 1", 43, 2, 1),
            ("self.end > 1 || !has(self.labels)", 43, 3, 0),
            ("!has(self.labels)", 43, 1, 0),
        ]
    );
}

#[test]
fn all_is_printed() {
    let mut json = DeepValue::default();
    for suite in ["suite.yaml", "policies-suite.yaml"] {
        let coverage = coverage(suite);
        let end = suite.trim_end_matches("suite.yaml");
        insta::assert_snapshot!(format!("{end}table"), relative(&coverage.table()));
        insta::assert_snapshot!(format!("{end}lcov"), relative(&coverage.to_lcov()));
        json = coverage.to_json();
        check_schema(&json);
    }
    assert_eq!(json["definitions"][0]["counts"]["rules"]["covered"], 0);
    assert_eq!(json["policies"][0]["counts"]["branches"], json!({"covered": 2, "all": 5}));
}

fn check_schema(json: &Value) {
    let schema =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats/coverage.schema.json");
    let schema: Value = serde_json::from_slice(&std::fs::read(schema).unwrap()).unwrap();
    jsonschema::validate(&schema, json).unwrap();
}

/// Two of three requests get past the condition, one of which is denied. Of the mutating policy
/// nothing is evaluated.
#[test]
fn expressions_of_policies_are_counted() {
    let coverage = coverage("policies-suite.yaml");
    let policies = coverage.documents().filter(|document| document.policy.is_some());
    let [hours, owner] = policies.collect::<Vec<_>>()[..] else { panic!("two") };
    assert_eq!((&*hours.name, &*owner.name), ("hours", "owner"));
    let counts = CoverageKind::ALL.map(|kind| hours.count(kind));
    assert_eq!(counts, [(0, 0), (2, 2), (0, 0), (0, 0), (3, 4), (2, 5)]);
    let of = |item: &CoverageItem| (item.line, item.hits, item.violations);
    let item = |text: &str| {
        let is_it = |item: &&CoverageItem| item.text == text;
        of(hours.items.iter().find(is_it).unwrap_or_else(|| panic!("{text}")))
    };
    assert_eq!(item("request.userInfo.username != \"robot\""), (9, 2, 1));
    // Each of three passes evaluates a variable anew (PO-47).
    assert_eq!(item("object.spec.end > 20 ? 'late' : 'early'"), (11, 6, 0));
    assert_eq!(item("object.spec.end > 20"), (11, 3, 3));
    assert_eq!(item("object.spec.days"), (12, 0, 0));
    let whole =
        "variables.late == 'early' || 'sunday' in object.spec.days && object.spec.start > 4";
    assert_eq!(item(whole), (14, 1, 1));
    // Branches are on the lines of a folded text.
    assert_eq!(item("variables.late == 'early'"), (15, 1, 1));
    assert_eq!(item("'sunday' in object.spec.days && object.spec.start > 4"), (16, 0, 1));
    assert_eq!(item("'sunday' in object.spec.days"), (16, 0, 1));
    assert_eq!(item("object.spec.start > 4"), (17, 0, 0));
    assert_eq!(item("'too ' + variables.late"), (18, 2, 0));
    assert_eq!(item("variables.late"), (20, 2, 0));
    assert_eq!(owner.items.iter().map(of).collect::<Vec<_>>(), [(38, 0, 0)]);
}
