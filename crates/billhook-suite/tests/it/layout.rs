//! Suites and definitions in the layout of OpenShift's API repository.

use std::path::{Path, PathBuf};

use billhook_suite::openshift::{OpenshiftError, definitions};
use billhook_suite::{Plan, PlanOptions, Suite, find_suites};

pub(crate) fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/layout")
}

fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    std::fs::read(path)
}

fn suite(name: &str) -> (PathBuf, Suite) {
    let path = directory().join("example/v1/tests/backups.example.com").join(name);
    let suite = Suite::read(&std::fs::read(&path).unwrap()).unwrap();
    (path, suite)
}

fn names(paths: impl IntoIterator<Item = PathBuf>) -> Vec<String> {
    let name = |path: PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
    paths.into_iter().map(name).collect()
}

#[test]
fn suites_are_found() {
    let found = names(find_suites(&directory(), read).unwrap());
    assert_eq!(found, ["advanced.yaml", "all.yaml", "not-advanced.yaml"]);
    let error = find_suites(Path::new("/does/not/exist"), read).unwrap_err();
    assert!(error.to_string().starts_with("/does/not/exist: "), "{error}");
}

#[test]
fn gates_choose_definitions() {
    let chosen = |name: &str| {
        let (path, suite) = suite(name);
        names(definitions(&path, &suite, read).unwrap().iter().map(|found| found.file().into()))
    };
    let all = [
        "backups-CustomNoUpgrade.crd.yaml",
        "backups-Default.crd.yaml",
        "backups-TechPreview.crd.yaml",
    ];
    assert_eq!(chosen("all.yaml"), all);
    assert_eq!(chosen("advanced.yaml"), [all[0], all[2]]);
    assert_eq!(chosen("not-advanced.yaml"), [all[1]]);
    let (path, mut suite) = suite("all.yaml");
    suite.crd_name = "others.example.com".to_owned();
    let error = definitions(&path, &suite, read).unwrap_err();
    assert!(matches!(error, OpenshiftError::NoDefinition { .. }), "{error}");
}

#[test]
fn cases_pass() {
    let (path, _) = suite("all.yaml");
    let plan = Plan::load(&path, &PlanOptions::default()).unwrap();
    for run in plan.runs() {
        run.run().unwrap_or_else(|failure| panic!("{}: {failure}", run.name()));
    }
    assert_eq!(plan.runs().len(), 21);
}
