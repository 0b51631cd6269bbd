//! Values as text.

use billhook_apimachinery::print::{
    compact_json, compact_json_with_place, indent_json, json_float, plain_float, pretty_json,
    quote, yaml_string,
};
use billhook_apimachinery::value::DeepValue;
use serde_json::{Value, json};

/// VV-62, RP-52.
#[test]
fn floats_print_as_the_server_prints_them() {
    for (float, plain, json) in [
        (0.0, "0", "0"),
        (-0.0, "-0", "-0"),
        (1.5, "1.5", "1.5"),
        (100000.0, "100000", "100000"),
        (1e6, "1e+06", "1000000"),
        (2147483647.0, "2.147483647e+09", "2147483647"),
        (1e20, "1e+20", "100000000000000000000"),
        (1e21, "1e+21", "1e+21"),
        (1e300, "1e+300", "1e+300"),
        (1e-4, "0.0001", "0.0001"),
        (1e-5, "1e-05", "0.00001"),
        (1e-6, "1e-06", "0.000001"),
        (1.25e-7, "1.25e-07", "1.25e-7"),
        (5e-324, "5e-324", "5e-324"),
        (9223372036854775808.0, "9.223372036854776e+18", "9223372036854776000"),
        // Of two that are equally near, the even one, if it means the same number.
        (1195108924053123.3, "1.1951089240531232e+15", "1195108924053123.2"),
        (-1195108924053123.8, "-1.1951089240531238e+15", "-1195108924053123.8"),
        (2f64.powi(-24), "5.960464477539063e-08", "5.960464477539063e-8"),
        (2f64.powi(-25), "2.9802322387695312e-08", "2.9802322387695312e-8"),
        (9007199254740993e3, "9.007199254740993e+18", "9007199254740993000"),
    ] {
        assert_eq!(plain_float(float), plain);
        assert_eq!(json_float(float), json);
    }
    for (single, expected) in [
        (2097152.3f32, "2.0971522e+06"),
        (2097152.8, "2.0971528e+06"),
        (1048576.1, "1.0485761e+06"),
        (0.1, "0.1"),
    ] {
        assert_eq!(plain_float(single), expected);
    }
}

#[test]
fn compact_json_is_indented() {
    let value = json!({"a": [], "b": {}, "c": [1, {"d": "{\"[,:\\"}]});
    assert_eq!(indent_json(&compact_json(&value)), pretty_json(&value));
    let deep = "[".repeat(20_000) + &"]".repeat(20_000);
    assert!(indent_json(&deep).len() < 100_000);
}

#[test]
fn places_of_members_are_those_in_the_text() {
    for (value, place) in [
        (json!({"a": {"m": {}}, "m": {"a": "<\"", "s": 1}, "z": 0}), Some(r#""s":1"#)),
        (json!({"m": {"r": 1, "s": 1}}), None),
        (json!({"m": {"a": 1}}), None),
        (json!({"m": [{"s": 1}]}), None),
        (json!({"r": 1, "s": 1}), None),
    ] {
        let printed = compact_json_with_place(&value, &["m", "r"], None);
        assert_eq!(printed.text, compact_json(&value));
        assert_eq!(printed.place, place.and_then(|place| printed.text.find(place)));
        assert!(!printed.has_floats);
    }
}

/// VV-62.
#[test]
fn strings_are_quoted_as_the_server_quotes_them() {
    for (text, quoted) in [
        ("a\"\\b", r#""a\"\\b""#),
        ("\x07\x08\x0c\n\r\t\x0b", r#""\a\b\f\n\r\t\v""#),
        ("\0\x7f", r#""\x00\x7f""#),
        ("\u{a0}\u{200b}é😀", "\"\\u00a0\\u200bé😀\""),
        ("\u{e0001}", r#""\U000e0001""#),
        ("e\u{301}\u{301}", "\"e\u{301}\u{301}\""),
    ] {
        assert_eq!(quote(text), quoted);
    }
}

/// VV-62.
#[test]
fn compact_json_sorts_and_escapes() {
    let value = json!({"b": [1.0, 2, null], "a": "<&>\u{2028}\u{1}", "c": {}});
    let expected = r#"{"a":"\u003c\u0026\u003e\u2028\u0001","b":[1,2,null],"c":{}}"#;
    assert_eq!(compact_json(&value), expected);
}

/// A terminal obeys C1 controls, and bidirectional marks make text read as what it is not.
#[test]
fn unprintable_characters_are_escaped_where_people_read() {
    let text = "a\u{9b}b\u{202e}\u{feff}\u{e0001}é😀";
    let json = r#""a\u009bb\u202e\ufeff\udb40\udc01é😀""#;
    assert_eq!(pretty_json(&json!(text)), json);
    assert_eq!(serde_json::from_str::<Value>(json).unwrap(), text);
    assert_eq!(yaml_string(text), r#""a\u009bb\u202e\ufeff\U000e0001é😀""#);
}

#[test]
fn values_of_any_depth_are_displayed_as_json() {
    let value = DeepValue::from(json!({"b": "<é>", "a": [1.0, {}]}));
    assert_eq!(value.to_string(), r#"{"a":[1,{}],"b":"<é>"}"#);
    assert_eq!(format!("{value:#}"), pretty_json(&value));
    let mut deep = Value::Null;
    for _ in 0..10_000 {
        deep = Value::Array(vec![deep]);
    }
    let (deep, brackets) = (DeepValue::from(deep), 10_000);
    let text = deep.to_string();
    assert_eq!(text, "[".repeat(brackets) + "null" + &"]".repeat(brackets));
}
