//! Suites and definitions in the layout of OpenShift's API repository.

use std::path::{Path, PathBuf};

use billhook_suite::openshift::{OpenshiftError, definitions, find_suites};
use billhook_suite::{Runner, Suite};

pub(crate) fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/layout")
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
    let found = names(find_suites(&directory()).unwrap());
    assert_eq!(found, ["advanced.yaml", "all.yaml", "not-advanced.yaml"]);
    let error = find_suites(Path::new("/does/not/exist")).unwrap_err();
    assert!(error.to_string().starts_with("/does/not/exist: "), "{error}");
}

#[test]
fn gates_choose_definitions() {
    let chosen = |name: &str| {
        let (path, suite) = suite(name);
        names(
            definitions(&path, &suite, |path| std::fs::read(path))
                .unwrap()
                .into_iter()
                .map(|found| found.path),
        )
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
    let error = definitions(&path, &suite, |path| std::fs::read(path)).unwrap_err();
    assert!(matches!(error, OpenshiftError::NoDefinition { .. }), "{error}");
}

#[test]
fn cases_pass() {
    let (path, suite) = suite("all.yaml");
    let mut count = 0;
    for definition in definitions(&path, &suite, |path| std::fs::read(path)).unwrap() {
        let runner = Runner::new(&definition.value, "", Default::default()).unwrap();
        for case in suite.cases() {
            runner.run(&case).unwrap_or_else(|failure| panic!("{}: {failure}", case.name()));
            count += 1;
        }
    }
    assert_eq!(count, 21);
}
