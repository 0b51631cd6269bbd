//! Laws of inclusion, for schemas at random.

use billhook::{CustomResourceDefinition, DecodeOptions, FieldValidation, ValidateOptions};
use billhook_compat::{Comparison, Question, Verdict};
use billhook_schema::JsonSchemaProps;
use billhook_validation::Validator;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::support::{compared, definition, spec_of};

type Keywords = Vec<(&'static str, Value)>;

fn schema(type_: &str, keywords: Keywords) -> Value {
    let mut schema = Map::from_iter([("type".to_owned(), type_.into())]);
    schema.extend(keywords.into_iter().map(|(name, value)| (name.to_owned(), value)));
    schema.into()
}

fn some(
    strategy: impl Strategy<Value = (&'static str, Value)>,
) -> impl Strategy<Value = Option<(&'static str, Value)>> {
    prop::option::of(strategy)
}

fn text() -> impl Strategy<Value = Value> {
    let patterns = ["^a*$", "^[ab]*$", "a", "^a", "b$", "^.{1,3}$", "^(a|b)$"];
    (
        some(prop::sample::select(patterns.to_vec()).prop_map(|it| ("pattern", it.into()))),
        some((0..4_i64).prop_map(|it| ("maxLength", it.into()))),
        some((0..3_i64).prop_map(|it| ("minLength", it.into()))),
        some(
            prop::sample::subsequence(vec!["", "a", "b", "ab"], 1..4)
                .prop_map(|it| ("enum", it.into())),
        ),
        some(Just(("nullable", true.into()))),
        some(prop::sample::select(vec!["a", "b"]).prop_map(|it| ("default", it.into()))),
        some(
            prop::sample::select(vec!["date", "uuid", "byte"]).prop_map(|it| ("format", it.into())),
        ),
    )
        .prop_map(|(a, b, c, d, e, f, g)| {
            schema("string", [a, b, c, d, e, f, g].into_iter().flatten().collect())
        })
}

fn number() -> impl Strategy<Value = Value> {
    (
        prop::sample::select(vec!["integer", "number"]),
        some((-3..3_i64).prop_map(|it| ("minimum", it.into()))),
        some((-3..3_i64).prop_map(|it| ("maximum", it.into()))),
        some(Just(("exclusiveMinimum", true.into()))),
        some(Just(("exclusiveMaximum", true.into()))),
        some((1..4_i64).prop_map(|it| ("multipleOf", it.into()))),
        some((-1..2_i64).prop_map(|it| ("default", it.into()))),
    )
        .prop_map(|(type_, a, b, c, d, e, f)| {
            schema(type_, [a, b, c, d, e, f].into_iter().flatten().collect())
        })
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        text(),
        number(),
        Just(json!({"type": "boolean"})),
        Just(json!({"x-kubernetes-int-or-string": true})),
        Just(json!({"x-kubernetes-preserve-unknown-fields": true})),
    ]
}

fn list(items: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    (
        items,
        some((0..3_i64).prop_map(|it| ("maxItems", it.into()))),
        some((0..2_i64).prop_map(|it| ("minItems", it.into()))),
        some(Just(("x-kubernetes-list-type", "set".into()))),
    )
        .prop_map(|(items, a, b, c)| {
            let keywords = [a, b, c].into_iter().flatten().chain([("items", items)]);
            schema("array", keywords.collect())
        })
}

fn object() -> impl Strategy<Value = Value> {
    let names = || prop::sample::subsequence(vec!["x", "y"], 0..3);
    let needs = |names: Vec<&str>| -> Value {
        names.iter().map(|name| json!({"required": [name]})).collect()
    };
    (
        prop::collection::btree_map(prop::sample::select(vec!["x", "y", "z"]), scalar(), 0..3),
        some(names().prop_map(|it| ("required", it.into()))),
        some(Just(("x-kubernetes-preserve-unknown-fields", true.into()))),
        some((0..3_i64).prop_map(|it| ("maxProperties", it.into()))),
        some(
            prop::sample::subsequence(vec!["x", "y"], 1..3)
                .prop_map(move |it| ("oneOf", needs(it))),
        ),
        some(
            prop::sample::select(vec!["x", "y"]).prop_map(|it| ("not", json!({"required": [it]}))),
        ),
        some(prop::sample::select(vec!["x", "y"]).prop_map(|it| {
            ("anyOf", json!([{"required": [it]}, {"properties": {"x": {"enum": ["a", 1]}}}]))
        })),
    )
        .prop_map(|(properties, a, b, c, d, e, f)| {
            let properties: Map<String, Value> =
                properties.into_iter().map(|(name, part)| (name.to_owned(), part)).collect();
            let keywords =
                [a, b, c, d, e, f].into_iter().flatten().chain([("properties", properties.into())]);
            schema("object", keywords.collect())
        })
}

fn any_schema() -> BoxedStrategy<Value> {
    let map = scalar().prop_map(|part| json!({"type": "object", "additionalProperties": part}));
    prop_oneof![
        3 => scalar().boxed(),
        2 => list(scalar()).boxed(),
        4 => object().boxed(),
        1 => map.boxed(),
        1 => list(object()).boxed(),
    ]
    .boxed()
}

fn value() -> impl Strategy<Value = Value> {
    let scalar = || {
        prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-5..6_i64).prop_map(Value::from),
            prop::sample::select(vec![-2.5, 0.5, 1.0, 2.000_000_000_1, 1e20]).prop_map(Value::from),
            "[ab]{0,4}".prop_map(Value::from),
            prop::sample::select(vec![
                "2026-01-01",
                "YQ==",
                "6ba7b810-9dad-41d1-80b4-00c04fd430c8"
            ])
            .prop_map(Value::from),
        ]
    };
    let members = prop::collection::btree_map(
        prop::sample::select(vec!["x", "y", "z", "other"]),
        scalar(),
        0..4,
    );
    let object = || {
        members.clone().prop_map(|members| {
            Value::Object(
                members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            )
        })
    };
    prop_oneof![
        4 => scalar(),
        4 => object(),
        2 => prop::collection::vec(prop_oneof![scalar(), object()], 0..4).prop_map(Value::from),
    ]
}

fn verdict(comparison: &Comparison, question: Question) -> Verdict {
    let answers = comparison.answers.iter().filter(|answer| answer.question == question);
    answers.map(|answer| answer.verdict).max().unwrap()
}

/// The `spec` that is stored when an object is created.
fn created(
    crd: &CustomResourceDefinition,
    value: Option<&Value>,
    mode: FieldValidation,
) -> Option<Value> {
    let version = crd.version("v1").unwrap();
    let mut object = json!({"apiVersion": "example.com/v1", "kind": "Backup", "metadata": {"name": "a"}, "spec": {}});
    if let Some(value) = value {
        object["spec"]["a"] = value.clone();
    }
    let options = DecodeOptions::default().field_validation(mode);
    let mut object = version.decode(object.to_string().as_bytes(), &options).ok()?.into_object();
    version.prepare_create(&mut object, "default");
    let validation = version.validate_create(&object, &ValidateOptions::default());
    validation.errors().is_empty().then(|| object["spec"].clone())
}

/// The part of a schema that a client knows (CC-23).
fn types(schema: &Value) -> Value {
    let mut known = schema.clone();
    let Some(members) = known.as_object_mut() else { return known };
    for bound in [
        "pattern",
        "maxLength",
        "minLength",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "maxItems",
        "minItems",
        "maxProperties",
        "oneOf",
        "not",
        "anyOf",
        "x-kubernetes-list-type",
    ] {
        members.remove(bound);
    }
    for part in ["items", "additionalProperties"] {
        if let Some(part) = members.get_mut(part) {
            *part = types(part);
        }
    }
    let mut required = members.get("required").cloned().unwrap_or_else(|| json!([]));
    if let Some(listed) = members.get_mut("properties").and_then(Value::as_object_mut) {
        for (name, part) in listed {
            if part.get("default").is_some() {
                required.as_array_mut().unwrap().push(name.as_str().into());
            }
            *part = types(part);
        }
    }
    members.insert("required".to_owned(), required);
    known
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// No object refutes a proof, and each witness is one.
    #[test]
    fn proofs_hold(old in any_schema(), new in any_schema(), values in prop::collection::vec(value(), 40)) {
        let (old, new) = (definition(spec_of(old)), definition(spec_of(new)));
        let read = |crd: &Value| CustomResourceDefinition::from_value(crd);
        let (Ok(before), Ok(after)) = (read(&old), read(&new)) else { return Ok(()) };
        let comparison = compared(&old, &new);
        let absent = std::iter::once(None);
        if verdict(&comparison, Question::Writers) == Verdict::Safe {
            for value in values.iter().map(Some).chain(absent) {
                if let Some(stored) = created(&before, value, FieldValidation::Strict) {
                    prop_assert_eq!(created(&after, value, FieldValidation::Ignore), Some(stored), "{:?}", value);
                }
            }
        }
        for answer in comparison.answers.iter().filter(|it| it.question == Question::Writers) {
            if let Some(witness) = &answer.witness {
                let value = witness["spec"].get("a");
                let stored = created(&before, value, FieldValidation::Strict);
                prop_assert!(stored.is_some());
                prop_assert_ne!(created(&after, value, FieldValidation::Ignore), stored);
            }
        }
    }

    /// Each object that is written from now on fits the old types, where that is proved.
    #[test]
    fn readers_are_not_surprised(
        old in any_schema(),
        new in any_schema(),
        is_near in any::<bool>(),
        keyword in prop::sample::select(vec!["nullable", "enum", "type", "format", "default", "required"]),
        values in prop::collection::vec(value(), 40),
    ) {
        // Mostly two schemas differ in much; here often in one keyword alone.
        let mut other = old.clone();
        other.as_object_mut().unwrap().remove(keyword);
        let new = match is_near {
            true if keyword == "nullable" => {
                other[keyword] = true.into();
                other
            }
            true => other,
            false => new,
        };
        let known = types(&spec_of(old.clone()));
        let known = Validator::new(&JsonSchemaProps::from_value(&known).unwrap());
        let (old, new) = (definition(spec_of(old)), definition(spec_of(new)));
        let read = |crd: &Value| CustomResourceDefinition::from_value(crd);
        let (Ok(before), Ok(after)) = (read(&old), read(&new)) else { return Ok(()) };
        if verdict(&compared(&old, &new), Question::Readers) == Verdict::Safe {
            for value in values.iter().map(Some).chain(std::iter::once(None)) {
                let Some(stored) = created(&after, value, FieldValidation::Ignore) else { continue };
                let is_new = created(&before, value, FieldValidation::Ignore).as_ref() != Some(&stored);
                prop_assert!(!is_new || known.is_valid(&stored), "{}", stored);
            }
        }
    }

    /// A description changes nothing.
    #[test]
    fn inclusion_is_reflexive(schema in any_schema()) {
        let mut described = schema.clone();
        described["description"] = "words".into();
        let (old, new) = (definition(spec_of(schema)), definition(spec_of(described)));
        if CustomResourceDefinition::from_value(&old).is_ok() {
            let comparison = compared(&old, &new);
            for question in [Question::Writers, Question::Readers, Question::Appliers, Question::Stored] {
                prop_assert_eq!(verdict(&comparison, question), Verdict::Safe, "{}", question);
            }
        }
    }

    /// A way over a third schema that is safe in both steps is never refuted as a whole.
    #[test]
    fn inclusion_is_transitive(one in any_schema(), two in any_schema(), three in any_schema()) {
        let [one, two, three] = [one, two, three].map(|schema| definition(spec_of(schema)));
        if [&one, &two, &three].iter().all(|crd| CustomResourceDefinition::from_value(crd).is_ok()) {
            let is_safe = |old, new| verdict(&compared(old, new), Question::Writers) == Verdict::Safe;
            if is_safe(&one, &two) && is_safe(&two, &three) {
                prop_assert_ne!(verdict(&compared(&one, &three), Question::Writers), Verdict::Breaks);
            }
        }
    }

    /// Without a keyword that only restricts, a schema admits as much.
    #[test]
    fn keywords_are_monotone(schema in any_schema(), keyword in prop::sample::select(vec![
        "pattern", "maxLength", "minLength", "enum", "minimum", "maximum", "multipleOf", "maxItems", "minItems",
        "required", "maxProperties", "oneOf", "not", "anyOf",
    ])) {
        let mut wider = schema.clone();
        let members = wider.as_object_mut().unwrap();
        // Without the bound, its exclusion would say nothing.
        if members.remove(keyword).is_some() && !schema.to_string().contains("exclusive") {
            let (old, new) = (definition(spec_of(schema)), definition(spec_of(wider)));
            if CustomResourceDefinition::from_value(&old).is_ok() {
                prop_assert_eq!(verdict(&compared(&old, &new), Question::Writers), Verdict::Safe);
            }
        }
    }
}
