//! The examples of KEP-2332 and KEP-575, and inputs that show where a server differs from their
//! texts, in both dialects.

use std::fmt::Write as _;
use std::path::Path;

use billhook::{CrdOptions, CustomResourceDefinition, DecodeOptions, Dialect, read_manifests};
use serde_json::{Value, json};

fn definition(schema: &Value, dialect: Dialect) -> CustomResourceDefinition {
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "spec": {
            "group": "example",
            "scope": "Namespaced",
            "names": {"plural": "foos", "kind": "Foo"},
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "schema": {"openAPIV3Schema": schema},
            }],
        },
    });
    let options = CrdOptions::default().dialect(dialect);
    CustomResourceDefinition::with_options(&definition, &options).unwrap()
}

/// Decodes an example; those that are plain values get a type for the time of decoding.
fn decode(example: &Value, dialect: Dialect) -> (Result<Value, String>, Vec<String>) {
    let crd = definition(&example["schema"], dialect);
    let mut object = example["input"].clone();
    let members = object.as_object_mut().unwrap();
    let is_plain = !members.contains_key("kind");
    members.entry("apiVersion").or_insert("example/v1".into());
    members.entry("kind").or_insert("Foo".into());
    let options = DecodeOptions::default().report(true);
    let decoded = crd.version("v1").unwrap().decode_value(&mut object, &options);
    let members = object.as_object_mut().unwrap();
    if is_plain {
        members.remove("apiVersion");
        members.remove("kind");
    }
    match decoded {
        Ok((_, changes)) => (Ok(object), changes.iter().map(ToString::to_string).collect()),
        Err(error) => (Err(error.to_string()), Vec::new()),
    }
}

fn examples() -> Vec<(String, Value)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/kep");
    let mut files: Vec<_> =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
        .into_iter()
        .map(|file| {
            let manifests = read_manifests(&std::fs::read(&file).unwrap()).unwrap();
            let name = file.file_stem().unwrap().to_string_lossy().into_owned();
            (name, manifests[0].value().clone())
        })
        .collect()
}

#[test]
fn examples_have_the_results_of_the_kep_and_of_the_server() {
    let examples = examples();
    assert!(examples.len() >= 36);
    for (name, example) in &examples {
        let (kep, _) = decode(example, Dialect::Kep);
        match example.get("kepError").and_then(Value::as_str) {
            Some(expected) => {
                let (path, expected) = expected.split_once(": expected ").unwrap();
                let error = kep.expect_err(name);
                assert!(error.starts_with(&format!("{path}: Invalid value")), "{name}: {error}");
                assert!(error.ends_with(&format!("must be of type {expected}")), "{name}: {error}");
            }
            None => assert_eq!(kep.as_ref(), Ok(&example["kep"]), "{name} by the KEP"),
        }
        let expected = example.get("kubernetes").unwrap_or(&example["kep"]);
        let (kubernetes, _) = decode(example, Dialect::Kubernetes);
        assert_eq!(kubernetes.as_ref(), Ok(expected), "{name} on a server");
        assert_eq!(
            example.get("kubernetes").is_some(),
            example.get("rule").is_some(),
            "{name}: a rule says why the dialects differ, and only then"
        );
    }
}

#[test]
fn examples_are_explained() {
    let mut out = String::new();
    for (name, example) in examples() {
        let title = example["title"].as_str().unwrap();
        let input = billhook::to_json(&example["input"]);
        let _ = writeln!(out, "== {name}: {title}\nin          {input}");
        let sides = [("kubernetes", Dialect::Kubernetes), ("kep", Dialect::Kep)];
        let sides = sides.map(|(label, dialect)| (label, decode(&example, dialect)));
        for (label, (result, changes)) in &sides {
            match result {
                Ok(object) => {
                    let _ = writeln!(out, "{label:11} {}", billhook::to_json(object));
                }
                Err(error) => {
                    let _ = writeln!(out, "{label:11} refused: {error}");
                }
            }
            for change in changes {
                let _ = writeln!(out, "            - {change}");
            }
        }
        match example.get("rule").and_then(Value::as_str) {
            Some(rule) => {
                let _ = writeln!(out, "differs by  {rule}");
                assert_ne!(sides[0].1.0, sides[1].1.0, "{name}");
            }
            None => assert_eq!(sides[0].1.0, sides[1].1.0, "{name}"),
        }
        out.push('\n');
    }
    insta::assert_snapshot!(out);
}
