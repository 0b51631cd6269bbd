//! The examples of KEP-575, and inputs on which a server differs from its text.

use billhook_apimachinery::{Change, Dialect};
use billhook_defaulting::{apply_defaults, remove_nulls};
use billhook_testing::{fixtures, kep};
use serde_json::Value;

fn run(schema: &Value, dialect: Dialect, object: &mut Value) -> Result<Vec<Change>, String> {
    let schema = kep::compile(schema, dialect);
    let mut changes = Vec::new();
    remove_nulls(schema.root(), object, &mut changes);
    apply_defaults(schema.root(), object, &mut changes).map_err(|error| error.to_string())?;
    Ok(changes)
}

#[test]
fn examples() {
    let mut seen = 0;
    for prefix in ["defaulting-", "divergence-kd-06", "divergence-kd-2", "divergence-kd-68"] {
        for (name, example) in fixtures::examples("kep", prefix) {
            insta::assert_snapshot!(&*name, kep::check(&name, &example, run));
            seen += 1;
        }
    }
    assert!(seen >= 11);
}
