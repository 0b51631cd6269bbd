//! Laws that hold for any schema and any value.

use std::collections::BTreeSet;

use billhook_apimachinery::FieldError;
use billhook_apimachinery::value::deep_eq;
use billhook_schema::JsonSchemaProps;
use billhook_testing::keywords::{keywords, name, value};
use billhook_validation::Validator;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

fn schema() -> impl Strategy<Value = Value> {
    let leaf = (keywords(), option::of(select(&TYPES[..]))).prop_map(|(mut keywords, type_)| {
        keywords.extend(type_.map(|type_| ("type".to_owned(), Value::from(type_))));
        Value::Object(keywords)
    });
    leaf.prop_recursive(3, 24, 4, |inner| {
        let junctor = (select(&["allOf", "anyOf", "oneOf"][..]), vec(inner.clone(), 1..4))
            .prop_map(|(key, list)| (key.to_owned(), Value::from(list)));
        let not = inner.clone().prop_map(|schema| ("not".to_owned(), schema));
        let items =
            (inner.clone(), option::of(select(&["set", "map"][..]))).prop_map(|(items, list)| {
                let mut members =
                    vec![("items".to_owned(), items), ("type".to_owned(), json!("array"))];
                if let Some(list) = list {
                    members.push(("x-kubernetes-list-type".to_owned(), json!(list)));
                    members.push(("x-kubernetes-list-map-keys".to_owned(), json!(["a"])));
                }
                members
            });
        let members = inner.clone();
        let properties = move || {
            vec((name(), members.clone()), 0..4).prop_map(|members| {
                vec![("properties".to_owned(), Value::Object(members.into_iter().collect()))]
            })
        };
        let additional = move || {
            prop_oneof![inner.clone(), any::<bool>().prop_map(Value::from)]
                .prop_map(|schema| vec![("additionalProperties".to_owned(), schema)])
        };
        let both = (properties(), additional()).prop_map(|(left, right)| [left, right].concat());
        let structure = prop_oneof![items, properties(), additional(), both];
        let int_or_string = any::<u8>().prop_map(|dice| {
            (dice < 30).then(|| ("x-kubernetes-int-or-string".to_owned(), json!(true)))
        });
        (keywords(), structure, option::of(prop_oneof![junctor, not]), int_or_string).prop_map(
            |(mut keywords, structure, junctor, int_or_string)| {
                keywords.extend(structure);
                keywords.extend(junctor);
                keywords.extend(int_or_string);
                Value::Object(keywords)
            },
        )
    })
}

const TYPES: [&str; 6] = ["boolean", "integer", "number", "string", "array", "object"];

fn validator(schema: &Value) -> Validator {
    Validator::new(&JsonSchemaProps::from_value(schema).unwrap())
}

fn texts(errors: &[FieldError]) -> BTreeSet<String> {
    errors.iter().map(ToString::to_string).collect()
}

/// The elements that a list set repeats for the first time, found the slow way (VV-40).
fn repeated(items: &[Value]) -> Vec<usize> {
    let same = |left: &Value, right: &Value| match (left, right) {
        (Value::Array(_) | Value::Object(_), _) | (_, Value::Array(_) | Value::Object(_)) => {
            let text = billhook_apimachinery::print::compact_json;
            left.is_array() == right.is_array()
                && left.is_object() == right.is_object()
                && text(left) == text(right)
        }
        (left, right) => deep_eq(left, right),
    };
    (0..items.len())
        .filter(|&index| {
            items[..index].iter().filter(|item| same(item, &items[index])).count() == 1
        })
        .collect()
}

proptest! {
    /// The verbs agree, texts are distinct (VV-06), and nothing is changed.
    #[test]
    fn verbs_agree(schema in schema(), value in value()) {
        let validator = validator(&schema);
        let before = value.clone();
        let errors = validator.errors(&value);
        prop_assert_eq!(validator.is_valid(&value), errors.is_empty());
        prop_assert_eq!(validator.validate(&value).err(), errors.first().cloned());
        prop_assert_eq!(texts(&errors).len(), errors.len());
        prop_assert!(deep_eq(&value, &before));
    }

    /// Members are judged alone: the errors of a wrong one hide none of another, and add none.
    #[test]
    fn members_are_judged_alone(schema in schema(), value in value(), old in value()) {
        let validator = validator(&json!({"properties": {"a": &schema, "b": {"type": "string"}}}));
        let (alone, old_alone) = (json!({"a": &value}), json!({"a": &old}));
        let (both, old_both) = (json!({"a": &value, "b": 1}), json!({"a": &old, "b": "x"}));
        for (alone, both) in [
            (validator.check(&alone), validator.check(&both)),
            (validator.check(&alone).update_of(&old_alone), validator.check(&both).update_of(&old_both)),
        ] {
            let mut errors = both.errors();
            let count = errors.len();
            errors.retain(|error| error.field().to_string() != "b");
            prop_assert_eq!(errors.len(), count - 1);
            prop_assert_eq!(alone.is_valid(), errors.is_empty());
            prop_assert_eq!(alone.errors(), errors);
        }
    }

    /// An update forgives, and never finds more (VV-80).
    #[test]
    fn updates_find_no_more(schema in schema(), value in value(), old in value()) {
        let validator = validator(&schema);
        let plain = texts(&validator.errors(&value));
        for old in [&old, &value] {
            let check = validator.check(&value).update_of(old);
            let errors = check.errors();
            prop_assert!(texts(&errors).is_subset(&plain));
            prop_assert_eq!(check.is_valid(), errors.is_empty());
            prop_assert_eq!(check.validate().err(), errors.first().cloned());
        }
    }

    /// A part that is replaced by something of another kind is never forgiven (VV-85).
    #[test]
    fn what_replaces_another_kind_is_not_forgiven(schema in schema(), value in value()) {
        let validator = validator(&schema);
        let old = if value.is_boolean() { json!("x") } else { json!(true) };
        prop_assert_eq!(validator.check(&value).update_of(&old).errors(), validator.errors(&value));
    }

    /// A base path changes paths, not what is found (VV-60).
    #[test]
    fn a_base_changes_paths_only(schema in schema(), value in value()) {
        let validator = validator(&schema);
        let base = billhook_apimachinery::FieldPath::default().name("status");
        let (plain, based) = (validator.errors(&value), validator.check(&value).at(base).errors());
        let details = |errors: &[FieldError]| -> Vec<String> {
            errors.iter().map(|error| error.detail().to_owned()).collect()
        };
        prop_assert_eq!(details(&plain), details(&based));
        prop_assert!(based.iter().all(|error| error.field().to_string().starts_with("status")));
    }

    /// `not` of a schema is valid just where the schema is not, except for null (VV-04, VV-53).
    #[test]
    fn negation(schema in schema(), value in value()) {
        prop_assume!(!value.is_null());
        let negated = validator(&json!({"not": &schema}));
        prop_assert_eq!(negated.is_valid(&value), !validator(&schema).is_valid(&value));
    }

    /// The fast search for repeated elements finds what the slow one finds.
    #[test]
    fn list_sets(items in vec(value(), 0..8)) {
        let schema = json!({"type": "object", "properties": {"a": {"type": "array",
            "x-kubernetes-list-type": "set", "items": {"x-kubernetes-preserve-unknown-fields": true}}}});
        let validator = validator(&schema);
        let object = json!({"a": &items});
        let errors = validator.list_errors(&object);
        let expected: Vec<String> =
            repeated(&items).iter().map(|index| format!("a[{index}]")).collect();
        let found: Vec<String> = errors.iter().map(|error| error.field().to_string()).collect();
        prop_assert_eq!(validator.has_valid_lists(&object), errors.is_empty());
        prop_assert_eq!(found, expected);
    }

    /// Lists in any schema: the verbs agree.
    #[test]
    fn list_verbs_agree(schema in schema(), value in value()) {
        let validator = validator(&schema);
        prop_assert_eq!(validator.has_valid_lists(&value), validator.list_errors(&value).is_empty());
    }

    /// No text makes a format fail.
    #[test]
    fn formats_take_any_text(text in any::<String>(), marks in "[-@\"().:;,<>%?=/ 0-9a-fTtzZ\\[\\]]{0,40}") {
        let properties: Map<String, Value> = FORMATS
            .iter()
            .map(|format| ((*format).to_owned(), json!({"type": "string", "format": format})))
            .collect();
        let validator = validator(&json!({"properties": properties}));
        for text in [&text, &marks] {
            let object: Map<String, Value> =
                FORMATS.iter().map(|format| ((*format).to_owned(), json!(text))).collect();
            let refused = validator.errors(&Value::Object(object)).len();
            prop_assert!(refused < FORMATS.len(), "any text is a password");
        }
    }
}

const FORMATS: [&str; 26] = [
    "bsonobjectid",
    "uri",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "cidr",
    "mac",
    "uuid",
    "uuid3",
    "uuid4",
    "uuid5",
    "isbn",
    "isbn10",
    "isbn13",
    "creditcard",
    "ssn",
    "hexcolor",
    "rgbcolor",
    "byte",
    "password",
    "date",
    "date-time",
    "duration",
    "k8s-short-name",
    "k8s-long-name",
];
