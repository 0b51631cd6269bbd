//! Schemas made to hurt.

use billhook_apimachinery::value::DeepValue;
use billhook_cel::CheckedSchema;
use billhook_default_validation::{DefaultChecks, validate_defaults};
use billhook_schema::{JsonSchemaProps, StructuralSchema};
use billhook_testing::on_small_stack;
use serde_json::{Map, Value, json};

#[test]
fn deep_defaults() {
    on_small_stack(|| {
        let levels = 2_000;
        let mut default = json!("x");
        for _ in 0..levels {
            default = Value::Object(Map::from_iter([("a".to_owned(), default)]));
        }
        let mut leaf = Map::from_iter([("type".to_owned(), json!("integer"))]);
        leaf.insert("default".to_owned(), json!("x"));
        let mut schema = Value::Object(leaf);
        for _ in 0..levels {
            let below = Value::Object(Map::from_iter([("a".to_owned(), schema)]));
            schema = Value::Object(Map::from_iter([
                ("type".to_owned(), json!("object")),
                ("properties".to_owned(), below),
            ]));
        }
        schema["default"] = default;
        let schema = DeepValue::from(schema);
        let schema = JsonSchemaProps::from_value(&schema).unwrap();
        let schema = StructuralSchema::new(schema).unwrap();
        let schema = CheckedSchema::new(&schema).resource_root(false);
        let findings = validate_defaults(&schema, &DefaultChecks::default());
        assert_eq!(findings.errors.len(), 2);
    });
}
