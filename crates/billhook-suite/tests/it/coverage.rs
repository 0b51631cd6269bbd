//! Coverage of definitions.

use std::path::Path;

use billhook_suite::{Coverage, CoverageItem, CoverageKind, Plan, PlanOptions};
use serde_json::Value;

fn coverage() -> Coverage {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/coverage");
    let plan = Plan::load(&directory.join("suite.yaml"), &PlanOptions::default()).unwrap();
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
    let coverage = coverage();
    let [definition] = coverage.definitions().collect::<Vec<_>>()[..] else { panic!("one") };
    let counts = CoverageKind::ALL.map(|kind| definition.count(kind));
    // Only the first rule is kept and violated; `start` is always set; one of two days is there;
    // no labels.
    assert_eq!(counts, [(5, 7), (1, 3), (1, 2), (1, 2)]);
    let item = |path: &str| {
        let is_it = |item: &&CoverageItem| item.path.to_json_pointer().ends_with(path);
        let item = definition.items.iter().find(is_it).unwrap();
        (item.line, item.hits, item.violations)
    };
    assert_eq!(item("/spec"), (21, 3, 0));
    assert_eq!(item("/x-kubernetes-validations/0"), (41, 2, 1));
    assert_eq!(item("/x-kubernetes-validations/1"), (42, 3, 0));
    assert_eq!(item("/x-kubernetes-validations/2"), (43, 0, 0));
    assert_eq!(item("/end/default"), (35, 1, 0));
    assert_eq!(item("/enum/1"), (29, 3, 0));
}

#[test]
fn all_is_printed() {
    insta::assert_snapshot!("table", relative(&coverage().table()));
    insta::assert_snapshot!("lcov", relative(&coverage().to_lcov()));
    let json = coverage().to_json();
    let schema =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats/coverage.schema.json");
    let schema: Value = serde_json::from_slice(&std::fs::read(schema).unwrap()).unwrap();
    jsonschema::validate(&schema, &json).unwrap();
    assert_eq!(json["definitions"][0]["counts"]["rules"]["covered"], 1);
}
