//! The examples of KEP-2332, and inputs on which a server differs from its text.

use billhook_apimachinery::metadata::Invalid;
use billhook_apimachinery::{Change, Dialect};
use billhook_pruning::{check_types, coerce, prune};
use billhook_testing::{fixtures, kep};
use serde_json::Value;

fn run(schema: &Value, dialect: Dialect, object: &mut Value) -> Result<Vec<Change>, String> {
    let schema = kep::compile(schema, dialect);
    if dialect == Dialect::Kep {
        check_types(&schema, object).map_err(|error| error.to_string())?;
    }
    let mut changes = Vec::new();
    prune(schema.root(), object, &mut changes);
    coerce(schema.root(), true, Invalid::Refuse, object, &mut changes)
        .map_err(|error| error.to_string())?;
    Ok(changes)
}

#[test]
fn examples() {
    let mut seen = 0;
    for prefix in ["pruning-", "divergence-kd-01", "divergence-kd-02", "divergence-kd-03"]
        .into_iter()
        .chain(["divergence-kd-07", "divergence-kd-09"])
    {
        for (name, example) in fixtures::examples("kep", prefix) {
            insta::assert_snapshot!(&*name, kep::check(&name, &example, run));
            seen += 1;
        }
    }
    assert!(seen >= 25);
}
