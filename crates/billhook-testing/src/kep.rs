//! The examples of `fixtures/kep`: what the KEPs ask for and what a server does.

use std::fmt::Write as _;

use billhook_apimachinery::{Change, Dialect};
use billhook_schema::{CompileOptions, CompiledSchema, JsonSchemaProps, StructuralSchema};
use serde_json::Value;

/// Returns the schema of an example.
pub fn compile(schema: &Value, dialect: Dialect) -> CompiledSchema {
    let schema = StructuralSchema::new(JsonSchemaProps::from_value(schema).unwrap()).unwrap();
    let mut options = CompileOptions::default();
    options.dialect = dialect;
    CompiledSchema::new(Some(&schema), options)
}

/// Checks that an example has the result of the KEP in one dialect and that of a server in the
/// other. Returns both, step by step.
///
/// `run` changes the object as the example's schema in a dialect demands, and lists the changes.
pub fn check(
    name: &str,
    example: &Value,
    run: impl Fn(&Value, Dialect, &mut Value) -> Result<Vec<Change>, String>,
) -> String {
    let mut out = format!(
        "{}: {}\ninput: {}\n",
        example["source"].as_str().unwrap(),
        example["title"].as_str().unwrap(),
        example["input"]
    );
    let mut outcome = |label: &str, dialect| {
        let mut object = example["input"].clone();
        let _ = match run(&example["schema"], dialect, &mut object) {
            Ok(changes) => {
                let changes = changes.iter().map(|change| format!("\n- {change}"));
                writeln!(out, "\n{label}: {object}{}", changes.collect::<String>())
            }
            Err(error) => {
                let written = writeln!(out, "\n{label} refuses it: {error}");
                object = Value::from(error);
                written
            }
        };
        object
    };
    let server = outcome("a server", Dialect::Kubernetes);
    let kep = outcome("the KEP", Dialect::Kep);
    assert_eq!(server, *example.get("kubernetes").unwrap_or(&example["kep"]), "{name} on a server");
    match example.get("kepError").and_then(Value::as_str) {
        Some(expected) => {
            let (path, expected) = expected.split_once(": expected ").unwrap();
            let error = kep.as_str().unwrap_or_else(|| panic!("{name} is refused by the KEP"));
            assert!(error.starts_with(&format!("{path}: Invalid value")), "{name}: {error}");
            assert!(error.ends_with(&format!("must be of type {expected}")), "{name}: {error}");
        }
        None => assert_eq!(kep, example["kep"], "{name} by the KEP"),
    }
    let rule = example.get("rule");
    assert_eq!(example.get("kubernetes").is_some(), rule.is_some(), "{name}: why they differ");
    assert_eq!(kep != server, rule.is_some(), "{name}");
    if let Some(rule) = rule.and_then(Value::as_str) {
        let _ = writeln!(out, "\nThey differ by {rule}.");
    }
    out
}
