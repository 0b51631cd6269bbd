//! Decoding the examples of KEP-2332 and KEP-575, and inputs that show where a server differs from
//! their texts, in both dialects. What single steps do is explained beside those steps.

use billhook::{Change, CrdOptions, CustomResourceDefinition, DecodeOptions, Dialect};
use billhook_testing::{definition_with, fixtures, kep};
use serde_json::Value;

/// Decodes an example; those that are plain values get a type for the time of decoding.
fn run(schema: &Value, dialect: Dialect, object: &mut Value) -> Result<Vec<Change>, String> {
    let mut definition = definition_with(schema, false);
    definition["spec"]["group"] = "example".into();
    let options = CrdOptions::default().dialect(dialect);
    let crd = CustomResourceDefinition::with_options(&definition, &options).unwrap();
    let members = object.as_object_mut().unwrap();
    let is_plain = !members.contains_key("kind");
    members.entry("apiVersion").or_insert("example/v1".into());
    members.entry("kind").or_insert("Foo".into());
    let options = DecodeOptions::default().report(true);
    let decoded = crd.version("v1").unwrap().decode_value(object, &options);
    if is_plain && let Some(members) = object.as_object_mut() {
        members.remove("apiVersion");
        members.remove("kind");
    }
    decoded.map(|(_, changes)| changes).map_err(|error| error.to_string())
}

#[test]
fn examples_have_the_results_of_the_kep_and_of_the_server() {
    let examples: Vec<_> = ["pruning-", "defaulting-", "divergence-"]
        .into_iter()
        .flat_map(|prefix| fixtures::examples("kep", prefix))
        .collect();
    assert!(examples.len() >= 36);
    for (name, example) in &examples {
        kep::check(name, example, run);
    }
}
