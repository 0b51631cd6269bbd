//! The examples in the appendices of the specification, which are outputs of a real server; they
//! run where the specification lies beside the project.

use std::path::Path;

use billhook::Definition;
use billhook_apimachinery::FieldPath;
use billhook_cel::CheckedSchema;
use billhook_default_validation::{DefaultChecks, validate_defaults};
use billhook_schema::{JsonSchemaProps, StructuralSchema};
use billhook_validation::Validator;
use serde_json::Value;

/// An example: its name, its first line, and the lines below that.
struct Example {
    name: String,
    head: String,
    lines: Vec<String>,
}

/// The examples of a specification file whose names begin with `prefix`; none without the file.
fn examples(file: &str, prefix: &str) -> Vec<Example> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/spec").join(file);
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("no {}: its examples are left out", path.display());
        return Vec::new();
    };
    let mut examples: Vec<Example> = Vec::new();
    for line in text.lines() {
        if let Some(line) = line.strip_prefix("    ")
            && let Some(example) = examples.last_mut()
        {
            // The text of a compiler goes over several lines.
            match example.lines.last_mut().filter(|_| line.starts_with(" | ")) {
                Some(last) => last.push_str(&format!("\n{line}")),
                None => example.lines.push(line.to_owned()),
            }
        } else if line.starts_with(prefix)
            && let Some((name, head)) = line.split_once(' ')
        {
            examples.push(Example {
                name: name.to_owned(),
                head: head.to_owned(),
                lines: Vec::new(),
            });
        }
    }
    assert!(!examples.is_empty(), "no examples in {file}");
    examples
}

/// Compares without the order, which is random among members.
fn compare(name: &str, expected: &[String], errors: impl IntoIterator<Item = String>) -> bool {
    // The examples have no white space at the end of lines.
    let mut actual: Vec<String> =
        errors.into_iter().map(|error| error.trim_end().to_owned()).collect();
    if actual.is_empty() {
        actual.push("ok".to_owned());
    }
    let mut expected = expected.to_vec();
    actual.sort();
    expected.sort();
    if actual != expected {
        println!("{name}\nexpected {expected:#?}\nactual {actual:#?}");
    }
    actual == expected
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn validator(schema: &str) -> Validator {
    Validator::new(&JsonSchemaProps::from_value(&json(schema)).unwrap())
}

fn value_example(Example { name, head, lines }: &Example) -> bool {
    if let Some(schema) = head.strip_prefix("update ") {
        let (values, expected) = lines.split_first().unwrap();
        let (old, new) = values.split_once("  new ").unwrap();
        let (old, new) = (json(old.strip_prefix("old ").unwrap()), json(new));
        let errors = validator(schema).check(&new).update_of(&old).errors();
        return compare(name, expected, errors.iter().map(ToString::to_string));
    }
    let (schema, value) = head.split_once("  with  ").unwrap();
    let value = json(value);
    let errors = match schema.strip_prefix("list types ") {
        Some(schema) => validator(schema).list_errors(&value),
        None => validator(schema).errors(&value),
    };
    compare(name, lines, errors.iter().map(ToString::to_string))
}

#[test]
fn values_and_lists() {
    let examples = examples("05-value-validation.md", "VV-T");
    let failed = examples.iter().filter(|example| !value_example(example)).count();
    assert_eq!(failed, 0, "of {}", examples.len());
}

#[test]
fn defaults() {
    let examples = examples("03-defaulting.md", "DF-T");
    // The examples before these are about applying defaults.
    let examples: Vec<_> = examples.iter().skip_while(|example| example.name != "DF-T41").collect();
    let failed = examples.iter().filter(|example| !default_example(example)).count();
    assert_eq!(failed, 0, "of {}", examples.len());
}

fn default_example(Example { name, head, lines }: &Example) -> bool {
    let bare = head.strip_prefix("(pruned defaults not required) ");
    let (head, unpruned) = (bare.unwrap_or(head), bare.is_some());
    let schema = JsonSchemaProps::from_value(&json(head)).unwrap();
    let schema = StructuralSchema::new(schema).unwrap();
    let checks = DefaultChecks { base: FieldPath::default().name("S"), unpruned };
    let found = validate_defaults(&CheckedSchema::new(&schema), &checks);
    compare(name, lines, found.errors.iter().map(ToString::to_string))
}

#[test]
fn definitions() {
    let examples = examples("06-crd-validation.md", "CV-T");
    let failed = examples.iter().filter(|example| !definition_example(example)).count();
    assert_eq!(failed, 0, "of {}", examples.len());
}

/// The changes of an example, made to the definition that all begin with.
fn definition(changes: &Value) -> Value {
    let mut definition = serde_json::json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "foos.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "foos", "singular": "foo", "kind": "Foo", "listKind": "FooList"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema":
                    {"type": "object", "properties": {"spec": {"type": "object"}}}},
            }],
        },
    });
    for (name, change) in changes.as_object().into_iter().flatten() {
        match name.as_str() {
            "metadata" => merge(&mut definition["metadata"], change),
            "version" => merge(&mut definition["spec"]["versions"][0], change),
            "schema" => {
                definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = change.clone();
            }
            _ => definition["spec"][name] = change.clone(),
        }
    }
    definition
}

fn merge(into: &mut Value, change: &Value) {
    for (name, change) in change.as_object().unwrap() {
        into[name] = change.clone();
    }
}

fn definition_example(Example { name, head, lines }: &Example) -> bool {
    let changes = if head == "(base)" { Value::Null } else { json(head) };
    let manifest = match Definition::from_value(&definition(&changes)) {
        Ok(manifest) => manifest,
        Err(error) => return compare(name, lines, [error.to_string()]),
    };
    let verdict = manifest.validate_create();
    assert!(manifest.unknown_fields().is_empty(), "{name}");
    // The examples leave warnings out.
    let found: Vec<String> = verdict.errors().iter().map(ToString::to_string).collect();
    compare(name, lines, found)
}
