//! Validation that takes more into account than the configuration: the stored one, old versions,
//! a checker of expressions (WCF-15, WCF-74, WCF-76, WCF-90 to WCF-95).

use billhook::webhook::{ExpressionChecker, ExpressionError, Libraries, ValidationOptions};
use serde_json::{Value, json};

use crate::webhook::support::{configuration, old, read, texts};

/// Refuses everything, and says for which libraries it was asked.
struct Refuse;

impl ExpressionChecker for Refuse {
    fn check(&self, expression: &str, libraries: Libraries) -> Result<(), ExpressionError> {
        Err(format!("compilation failed: {expression} {libraries:?}").into())
    }
}

/// WCF-74, WCF-76, WCF-90, WCF-94.
#[test]
fn expressions() {
    let with = |expressions: &[&str]| {
        let condition = |(index, expression): (usize, &&str)| json!({"name": format!("c{index}"), "expression": expression});
        let conditions: Value = expressions.iter().enumerate().map(condition).collect();
        read(&configuration(&json!({"matchConditions": conditions})))
    };
    let stored = with(&["old", "other"]);
    let options = ValidationOptions::default().expressions(&Refuse);
    let error = |index, expression: &str, environment| {
        format!(
            "webhooks[0].matchConditions[{index}].expression: Invalid value: \
            \"{expression}\": compilation failed: {expression} {environment}"
        )
    };
    let new = with(&[" new ", "old"]);
    let expected = [error(0, "new", "Compatible"), error(1, "old", "Compatible")];
    assert_eq!(texts(&new.validate_with(&options)), expected);
    let update = options.stored(&stored);
    let expected = [error(0, "new", "Compatible"), error(1, "old", "Full")];
    assert_eq!(texts(&new.validate_with(&update)), expected);
    // Unchanged conditions are not looked at.
    assert_eq!(stored.validate_with(&update), []);
    assert_eq!(stored.validate_with(&options).len(), 2);
}

/// WCF-15.
#[test]
fn old_documents_are_held_to_old_rules() {
    let mut value = old(configuration(&json!({"sideEffects": null})));
    let webhook = value["webhooks"][0].clone();
    value["webhooks"].as_array_mut().unwrap().push(webhook);
    let configuration = read(&value);
    assert_eq!(configuration.validate(), []);
    let errors = configuration.validate_with(&ValidationOptions::default().legacy(false));
    assert_eq!(
        texts(&errors),
        [
            "webhooks[0].sideEffects: Unsupported value: \"Unknown\": supported values: \"None\", \
            \"NoneOnDryRun\"",
            "webhooks[1].sideEffects: Unsupported value: \"Unknown\": supported values: \"None\", \
            \"NoneOnDryRun\"",
            "webhooks[1].name: Duplicate value: \"hook.example.com\"",
        ]
    );
    let absent = self::configuration(&json!({"sideEffects": null}));
    let errors = read(&absent).validate_with(&ValidationOptions::default().legacy(true));
    let expected = "webhooks[0].sideEffects: Required value: must specify one of None, \
        NoneOnDryRun, Some, Unknown";
    assert_eq!(texts(&errors), [expected]);
}

/// WCF-91 to WCF-95: what the stored configuration has wrong already may stay wrong.
#[test]
fn updates() {
    let duplicated = |fields: &Value| {
        let mut value = configuration(fields);
        let webhook = value["webhooks"][0].clone();
        value["webhooks"].as_array_mut().unwrap().push(webhook);
        value
    };
    let expression = |key: &str, value: &str| {
        json!({"objectSelector": {"matchExpressions": [
            {"key": key, "operator": "In", "values": [value]}]}})
    };
    let label = |value: &str| json!({"namespaceSelector": {"matchLabels": {"a": value}}});
    let good = || configuration(&json!({}));
    let side_effects = |class: &str| configuration(&json!({"sideEffects": class}));
    let versions = |versions: Value| configuration(&json!({"admissionReviewVersions": versions}));
    for (stored, new, errors) in [
        (good(), side_effects("Some"), 1),
        (side_effects("Unknown"), side_effects("Some"), 0),
        (side_effects("Unknown"), side_effects("Bogus"), 1),
        (configuration(&json!({"sideEffects": null})), side_effects("Some"), 0),
        (good(), versions(json!(["v2"])), 1),
        (versions(json!(["v3"])), versions(json!(["v2"])), 0),
        (versions(json!([])), versions(json!(["v2"])), 1),
        (versions(json!(["v3"])), versions(json!([])), 1),
        (good(), duplicated(&json!({})), 1),
        (duplicated(&json!({})), duplicated(&json!({})), 0),
        (good(), configuration(&expression("a", "-")), 1),
        (configuration(&expression("a", "-")), configuration(&expression("a", "_")), 0),
        (configuration(&label("-")), configuration(&expression("a", "_")), 0),
        (configuration(&expression("a", "-")), configuration(&expression("-", "_")), 1),
        (configuration(&expression("a", "-")), configuration(&label("_")), 1),
    ] {
        let before = read(&stored);
        let found = texts(&read(&new).validate_with(&ValidationOptions::default().stored(&before)));
        assert_eq!(found.len(), errors, "{stored} {new}: {found:?}");
    }
}
