//! Suites that are made of definitions.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use billhook_findings::{Place, Source};
use billhook_suite::{FoundDefinition, GenerateError, Plan, PlanOptions, UntestedReason, generate};
use serde_json::json;

fn definition(path: &Path) -> FoundDefinition {
    let text = std::fs::read(path).unwrap();
    let value = billhook::read_manifests(&text).unwrap().remove(0).into_value();
    let source = Arc::new(Source::new(path.to_string_lossy(), text));
    FoundDefinition::new(Place::document(source, 0), value)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn a_generated_suite() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/coverage/crd.yaml");
    insta::assert_snapshot!("generated", generate(&definition(&path), "crd.yaml").unwrap().text);
}

#[test]
fn generated_suites_pass() {
    let directory = std::env::temp_dir().join(format!("billhook-generated-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let crds = std::fs::read_dir(root().join("fixtures/crds")).unwrap();
    let own = root().join("crates/billhook-suite/tests/coverage/crd.yaml");
    for path in crds.map(|file| file.unwrap().path()).chain([own]) {
        let definition = definition(&path);
        let text = generate(&definition, path.to_str().unwrap()).unwrap().text;
        assert_eq!(text, generate(&definition, path.to_str().unwrap()).unwrap().text);
        let suite = directory.join("suite.yaml");
        std::fs::write(&suite, text).unwrap();
        let plan = Plan::load(&suite, &PlanOptions::default()).unwrap();
        assert!(plan.runs().len() > 3, "{}", path.display());
        for run in plan.runs() {
            run.run().unwrap_or_else(|failure| panic!("{}: {failure}", run.name()));
        }
    }
    std::fs::remove_dir_all(&directory).unwrap();
}

/// Each constraint has a case, whether its value is there or has to be added, and whether or not it
/// compares with the old object; what nothing can break is reported.
#[test]
fn constraints_have_cases() {
    let schema = json!({"type": "object", "required": ["spec"], "properties": {"spec": {
    "type": "object", "required": ["kind"],
    "x-kubernetes-validations": [
        {"rule": "!has(self.ports) || self.ports.all(p, p.number != 8080)"},
        {"rule": "self.kind == 'Many' || !has(self.ports) || size(self.ports) < 4"},
        {"rule": "!has(oldSelf.path) || has(self.path)"},
        {"rule": "has(self.kind)", "message": "nothing breaks this"},
    ],
    "properties": {
        "kind": {"type": "string", "enum": ["One", "Many"]},
        "path": {"type": "string", "pattern": "^/", "maxLength": 2000,
            "x-kubernetes-validations": [{"rule": "self == oldSelf"}]},
        "ports": {"type": "array", "maxItems": 20, "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"], "items": {"type": "object",
                "required": ["name", "number"], "properties": {
                    "name": {"type": "string", "minLength": 1},
                    "number": {"type": "integer", "minimum": 1, "maximum": 65535},
                    "share": {"type": "number", "maximum": 0.5}}}},
        "long": {"type": "string", "maxLength": 32768},
        "one": {"type": "object", "maxProperties": 1, "properties": {"a": {"type": "string"}}},
        "never": {"type": "object", "properties": {"a": {"type": "string", "minLength": 1}},
            "x-kubernetes-validations": [{"rule": "false", "message": "never"}]},
        "modes": {"type": "array", "maxItems": 4, "x-kubernetes-validations": [
                {"rule": "self.filter(m, m.type == 'B').size() <= 1", "message": "one B"}],
            "items": {"type": "object", "required": ["type"],
                "properties": {"type": {"type": "string", "enum": ["A", "B", "C"]},
                    "a": {"type": "object", "properties": {"n": {"type": "integer"}}},
                    "c": {"type": "object", "required": ["n"], "properties": {
                        "n": {"type": "integer", "minimum": 2}}}},
                "x-kubernetes-validations": [
                    {"rule": "has(self.a) == (self.type == 'A')", "message": "A has a"},
                    {"rule": "has(self.c) == (self.type == 'C')", "message": "C has c"}]}},
        "only": {"type": "object", "maxProperties": 1, "properties": {
            "a": {"type": "string"}, "b": {"type": "string"}}},
        "either": {"type": "object", "properties": {"a": {"type": "string"}},
            "oneOf": [{"required": ["a"]}]},
    }}}});
    let value = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "foos.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced",
            "names": {"plural": "foos", "singular": "foo", "kind": "Foo", "listKind": "FooList"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": schema}}]}});
    let source = Arc::new(Source::new("crd.yaml", billhook::to_yaml(&value)));
    let definition = FoundDefinition::new(Place::document(source, 0), value.into());
    let suite = generate(&definition, "crd.yaml").unwrap();
    insta::assert_snapshot!("constraints", suite.text);
    let untested = suite.untested.iter().map(|it| (it.keyword, &*it.field, it.reason));
    let untested: Vec<_> = untested.collect();
    let expected = [
        ("x-kubernetes-validations", "spec", UntestedReason::NotFound),
        ("maxLength", "spec.long", UntestedReason::TooLarge),
        ("x-kubernetes-validations", "spec.never", UntestedReason::NoValue),
        ("minLength", "spec.never.a", UntestedReason::NoValue),
        ("maxProperties", "spec.one", UntestedReason::NeverFails),
    ];
    assert_eq!(untested, expected);
    assert_eq!(suite.tested, 27);
}

#[test]
fn rules_that_nothing_keeps() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/coverage/crd.yaml");
    let text = std::fs::read_to_string(path).unwrap();
    let text = text.replace("self.end <= 24", "self.end < 0 && self.end > 0");
    let source = Arc::new(Source::new("crd.yaml", text.as_str()));
    let value = billhook::read_manifests(text.as_bytes()).unwrap().remove(0).into_value();
    let mut definition = FoundDefinition::new(Place::document(source, 0), value);
    definition.value["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["required"] =
        json!(["spec"]);
    let error = generate(&definition, "crd.yaml").unwrap_err();
    assert!(matches!(error, GenerateError::NoValidObject(_)), "{error}");
    definition.value["spec"]["versions"][0]["served"] = false.into();
    assert_eq!(generate(&definition, "crd.yaml").unwrap_err(), GenerateError::NoVersion);
}
