//! Laws that hold for every definition.

use billhook_definition::Definition;
use billhook_testing::definitions::{definition, keyword, with_schema};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{create, errors, update};

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 500,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// An update is never stricter than a create, and one that changes nothing relaxes what is
    /// wrong already.
    #[test]
    fn updates_are_relaxed(definition in definition(), old in definition()) {
        let created = errors(&create(&definition));
        for old in [&definition, &old] {
            for error in errors(&update(&definition, old)) {
                prop_assert!(created.contains(&error), "{}", error);
            }
        }
    }

    /// A second version that is the same except for its name changes nothing.
    #[test]
    fn equal_versions_are_one(definition in definition()) {
        let mut twice = definition.clone();
        let mut second = twice["spec"]["versions"][0].clone();
        second["name"] = json!("v2");
        second["storage"] = json!(false);
        twice["spec"]["versions"].as_array_mut().unwrap().push(second);
        prop_assert_eq!(create(&twice), create(&definition));
    }

    /// Two versions that differ have the errors of both, each at its own place.
    #[test]
    fn different_versions_are_separate(first in definition(), second in definition()) {
        let schema = |definition: &Value| {
            definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"].clone()
        };
        prop_assume!(schema(&first) != schema(&second));
        let mut both = with_schema(schema(&first));
        let mut version = both["spec"]["versions"][0].clone();
        version["name"] = json!("v2");
        version["storage"] = json!(false);
        version["schema"]["openAPIV3Schema"] = schema(&second);
        both["spec"]["versions"].as_array_mut().unwrap().push(version);
        let place = |index: usize| format!("spec.versions[{index}].schema.openAPIV3Schema");
        let alone = |definition: &Value, index: usize| -> Vec<String> {
            errors(&create(&with_schema(schema(definition))))
                .iter()
                .map(|error| error.replace("spec.validation.openAPIV3Schema", &place(index)))
                .collect()
        };
        let mut expected = alone(&first, 0);
        expected.extend(alone(&second, 1));
        prop_assume!(!errors(&create(&both)).iter().any(|error| error.starts_with("spec.validation")));
        prop_assert_eq!(errors(&create(&both)), expected);
    }

    /// Whatever is written there: an answer, and no other one the second time.
    #[test]
    fn any_value_has_an_answer(definition in definition(), keyword in keyword(), at in 0usize..8) {
        let mut definition = definition;
        let version = &mut definition["spec"]["versions"][0];
        let name = ["name", "served", "schema", "subresources", "additionalPrinterColumns",
            "selectableFields", "deprecationWarning", "storage"][at];
        version[name] = keyword.1;
        let first = Definition::from_value(&definition).map(|manifest| manifest.validate_create());
        let second = Definition::from_value(&definition).map(|manifest| manifest.validate_create());
        prop_assert_eq!(first, second);
    }
}
