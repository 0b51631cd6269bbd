//! Keywords of value validation, and scalars that they judge.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

/// Few names, so that objects and schemas meet.
pub const NAMES: [&str; 5] = ["a", "b", "kind", "x.y", ""];

/// One of [`NAMES`].
pub fn name() -> impl Strategy<Value = String> {
    select(&NAMES[..]).prop_map(str::to_owned)
}

/// Any value of a few parts.
pub fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((name(), inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// A scalar or null.
pub fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2i64..8).prop_map(Value::from),
        select(&[1.0, 1.5, -0.0, 1e20, 65.0][..]).prop_map(Value::from),
        select(&["", "a", "ab", "2024-02-29", "5s", "A"][..]).prop_map(Value::from),
    ]
}

/// Keywords that look at one value, some of them.
pub fn keywords() -> impl Strategy<Value = Map<String, Value>> {
    let count = || (0i64..3).prop_map(Value::from);
    let bound = || select(&[-1.5, 0.0, 1.0, 2.5, 5.0, 1e20][..]).prop_map(Value::from);
    let keyword = prop_oneof![
        (select(&["maxLength", "minLength", "maxItems", "minItems"][..]), count()),
        (select(&["maxProperties", "minProperties"][..]), count()),
        (select(&["maximum", "minimum", "multipleOf"][..]), bound()),
        (
            select(&["exclusiveMaximum", "exclusiveMinimum", "uniqueItems", "nullable"][..]),
            Just(json!(true))
        ),
        (Just("pattern"), select(&["a", "^$", "(", "^[^b]"][..]).prop_map(Value::from)),
        (
            Just("format"),
            select(&["date", "duration", "int32", "float", "nope"][..]).prop_map(Value::from)
        ),
        (Just("enum"), vec(value(), 0..3).prop_map(Value::from)),
        (Just("required"), vec(name(), 0..2).prop_map(Value::from)),
    ];
    vec(keyword, 0..3)
        .prop_map(|list| list.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}
