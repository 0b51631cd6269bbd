//! How cases fail.

use billhook_suite::{
    CaseStage, CreateCase, Failure, Runner, RunnerError, Suite, SuiteError, UpdateCase,
};
use serde_json::{Value, json};

use crate::layout::directory;

pub(crate) fn definition() -> Value {
    let file = "example/v1/zz_generated.crd-manifests/backups-Default.crd.yaml";
    let text = std::fs::read(directory().join(file)).unwrap();
    billhook::read_manifests(&text).unwrap()[0].value().clone()
}

fn object(rest: &str) -> String {
    format!("apiVersion: example.com/v1\nkind: Backup\n{rest}")
}

fn runner() -> Runner {
    Runner::new(&definition(), "v1", Default::default()).unwrap()
}

fn create(initial: &str, expected: &str, expected_error: &str) -> Failure {
    let mut case = CreateCase::default();
    case.initial = object(initial);
    case.expected = expected.to_owned();
    case.expected_error = expected_error.to_owned();
    runner().create(&case).unwrap_err()
}

#[test]
fn creations() {
    let refused = create("spec: {keep: 0}", "", "");
    assert_eq!(
        refused.to_string(),
        "create: refused: Backup.example.com \"test-x\" is invalid: spec.keep: Invalid value: 0: \
         spec.keep in body should be greater than or equal to 1"
    );
    let accepted = create("spec: {keep: 1}", "", "too small");
    assert_eq!(accepted.to_string(), "create: accepted, but expected an error with `too small`");
    let text = create("spec: {keep: 0}", "", "too small");
    assert!(text.is_only_text() && !refused.is_only_text(), "{text}");
    let Failure::Object { expected, actual } = create("spec: {}", &object("spec: {}"), "") else {
        panic!("another object")
    };
    assert_eq!(expected["spec"], json!({}));
    assert_eq!(actual["spec"], json!({"keep": 7}));
    assert_eq!(actual.get("metadata"), None);
    for (initial, error) in
        [("a: [", "initial: yaml: line 3"), ("---\nb: 1", "expected one object")]
    {
        let unusable = create(initial, "", "").to_string();
        assert!(unusable.starts_with("the case cannot be run: initial: "), "{unusable}");
        assert!(unusable.contains(error), "{unusable}");
    }
}

#[test]
fn updates() {
    let update = |set: fn(&mut UpdateCase)| {
        let mut case = UpdateCase::default();
        case.initial = object("");
        case.updated = object("status: {count: 1}");
        set(&mut case);
        runner().update(&case).unwrap_err()
    };
    let stage = |failure: &Failure| match failure {
        Failure::Refused { stage, .. } | Failure::Accepted { stage, .. } => *stage,
        other => panic!("{other}"),
    };
    let failure = update(|case| case.initial = object("spec: {keep: 0}"));
    assert_eq!(stage(&failure), CaseStage::Create);
    let failure = update(|case| case.updated = object("spec: {keep: 0}"));
    assert_eq!(stage(&failure), CaseStage::Update);
    let failure = update(|case| case.updated = object("status: {count: -1}"));
    assert_eq!(stage(&failure), CaseStage::UpdateStatus);
    let failure = update(|case| case.expected_status_error = "x".to_owned());
    assert_eq!(stage(&failure), CaseStage::UpdateStatus);
    let failure = update(|case| {
        case.updated = object("");
        case.expected_status_error = "x".to_owned();
    });
    assert_eq!(stage(&failure), CaseStage::UpdateStatus);
    let failure = update(|case| {
        let patch = json!({"op": "remove", "path": "/spec/nothing"});
        case.initial_crd_patches.push(patch.into());
    });
    assert!(failure.to_string().contains("initialCRDPatches: "), "{failure}");
}

#[test]
fn definitions_are_refused() {
    let new = |definition: &Value, version: &str| {
        Runner::new(definition, version, Default::default()).unwrap_err()
    };
    assert_eq!(new(&definition(), "v2"), RunnerError::NoVersion("v2".to_owned()));
    let mut two = definition();
    let version = two["spec"]["versions"][0].clone();
    two["spec"]["versions"].as_array_mut().unwrap().push(version);
    assert_eq!(new(&two, ""), RunnerError::Versions(2));
    let mut refused = definition();
    refused["metadata"]["name"] = json!("other.example.com");
    assert!(new(&refused, "v1").to_string().contains("spec.names.plural+\".\"+spec.group"));
    assert!(matches!(new(&json!({}), ""), RunnerError::Versions(0)));
}

#[test]
fn texts_are_not_suites() {
    let read = |text: &str| Suite::read(text.as_bytes()).unwrap_err();
    assert_eq!(read(""), SuiteError::Count(0));
    assert_eq!(read("name: x"), SuiteError::NoDefinition);
    let error = read("tests: 3");
    assert_eq!(error.place(), Some((1, 1)));
    assert_eq!(
        error.to_string(),
        "tests: expected an object, found number; known are onCreate, onUpdate"
    );
    assert!(matches!(read("a: ["), SuiteError::Manifest(_)));
}
