//! Laws that hold for any default.

use billhook_cel::CheckedSchema;
use billhook_default_validation::{DefaultChecks, validate_defaults};
use billhook_schema::{JsonSchemaProps, StructuralSchema};
use billhook_testing::keywords::{keywords, scalar};
use billhook_validation::Validator;
use proptest::prelude::*;
use serde_json::{Value, json};

proptest! {
    /// A default that is valid as a value of its own schema has no errors of its own, and the
    /// other way round, where schema and default have nothing that is judged otherwise: no
    /// metadata, no fields that pruning takes (DF-43, SS-91).
    #[test]
    fn scalar_defaults(keywords in keywords(), default in scalar()) {
        prop_assume!(!default.is_null() && !keywords.contains_key("format"));
        let mut node = keywords;
        node.insert("type".to_owned(), json!("string"));
        let valid = JsonSchemaProps::from_value(&Value::Object(node.clone())).unwrap();
        let valid = Validator::new(&valid).is_valid(&default);
        node.insert("default".to_owned(), default);
        let schema = json!({"type": "object", "properties": {"p": node}});
        let schema = StructuralSchema::new(JsonSchemaProps::from_value(&schema).unwrap()).unwrap();
        let findings = validate_defaults(&CheckedSchema::new(&schema), &DefaultChecks::default());
        prop_assert_eq!(findings.errors.is_empty(), valid, "{:?}", findings.errors);
    }
}
