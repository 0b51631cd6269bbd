//! Runs the tables in `data`: values with the errors that a server gives, each with the rule it
//! shows, and texts with the formats that admit them.

use std::collections::BTreeSet;

use billhook_apimachinery::FieldError;
use billhook_schema::JsonSchemaProps;
use billhook_validation::{Format, Validator};
use serde_json::{Map, Value, json};

/// The rules about single keywords, and those about how they work together.
const RULES: [&str; 45] = [
    "VV-02", "VV-03", "VV-04", "VV-05", "VV-06", "VV-10", "VV-11", "VV-12", "VV-13", "VV-14",
    "VV-20", "VV-21", "VV-22", "VV-23", "VV-24", "VV-25", "VV-26", "VV-27", "VV-28", "VV-30",
    "VV-31", "VV-32", "VV-33", "VV-34", "VV-35", "VV-36", "VV-37", "VV-38", "VV-39", "VV-40",
    "VV-41", "VV-42", "VV-43", "VV-44", "VV-45", "VV-51", "VV-52", "VV-53", "VV-54", "VV-61",
    "VV-62", "VV-70", "VV-71", "VV-80", "VV-85",
];

fn validator(schema: &Value) -> Validator {
    Validator::new(&JsonSchemaProps::from_value(schema).unwrap())
}

fn texts(errors: &[FieldError]) -> Vec<String> {
    errors.iter().map(ToString::to_string).collect()
}

#[test]
fn values_and_their_errors() {
    let mut wrong = Vec::new();
    let mut shown = BTreeSet::new();
    for line in include_str!("../data/values.jsonl").lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let validator = validator(&case["schema"]);
        let errors = match (case.get("lists"), case.get("value"), case.get("old")) {
            (Some(object), _, _) => validator.list_errors(object),
            (_, Some(value), Some(old)) => validator.check(value).update_of(old).errors(),
            (_, Some(value), None) => validator.errors(value),
            _ => panic!("no value: {line}"),
        };
        let rule = case["rule"].as_str().unwrap().to_owned();
        // What the table has of updates is sorted.
        let (mut actual, mut expected) = (json!(texts(&errors)), case["errors"].clone());
        if case.get("old").is_some() {
            for list in [&mut actual, &mut expected] {
                list.as_array_mut().unwrap().sort_by_key(Value::to_string);
            }
        }
        if actual != expected {
            wrong.push(format!("{line}\n  gives {actual:#}"));
        }
        shown.insert(rule);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for rule in RULES {
        assert!(shown.contains(rule), "no case shows {rule}");
    }
}

/// VV-70, VV-71.
#[test]
fn texts_and_the_formats_that_admit_them() {
    let table: Value = serde_json::from_str(include_str!("../data/formats.json")).unwrap();
    let all = table["texts"].as_array().unwrap();
    let mut wrong = Vec::new();
    for (format, accepted) in table["accepted"].as_object().unwrap() {
        let validator = validator(&json!({"type": "string", "format": format}));
        for text in all {
            let expected = match accepted {
                Value::Array(accepted) => accepted.contains(text),
                _ => true,
            };
            if validator.is_valid(text) != expected {
                wrong.push(format!("{format}: {text} should give {expected}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// VV-71: what the table of formats does not reach, read from the rules.
#[test]
fn more_texts_and_formats() {
    for (format, valid, invalid) in [
        (
            "date-time",
            &["2020-01-01T00:00:59x123z", "2020-01-01t00:00:00+23:99", "2020-01-01T00:00:00Ztxt"][..],
            &["2020-01-01T00:00:00\n1Z", "2020-01-01T00:00:60Z", "2020-01-01", "tt"][..],
        ),
        (
            "duration",
            &["5 foo 3 s", "-1.5h", "10µs", "weeks 3 weeksxx", "1h 99999 foo", ".5h", "0"],
            &["", "1", "1 2", "99999999999999999999 s", "s5", "5 sx", "-"],
        ),
        ("ssn", &["123 45 6789"], &["123456789", "123-456789", "123-45-678"]),
        ("byte", &["AAA=", "AA==", "++//"], &["", "A===", "AA=A", "AAAA=", "AA==AAAA"]),
        (
            "ipv4",
            &["010.0.0.1", "::ffff:1.2.3.4", "::ffff:01.2.3.4"],
            &["1.2.3", "1.2.3.4.5", "1.2.3.256"],
        ),
        (
            "ipv6",
            &["1:2:3:4:5:6:7::", "::1.2.3.4"],
            &["::ffff:01.2.3.4", "fe80::1%a", "1.2.3.4", "1:2:3:4:5:6:7:8:9"],
        ),
        (
            "cidr",
            &["010.0.0.0/08", "::/128"],
            &["1.2.3.4", "1.2.3.4/", "1.2.3.4/33", "/8", "::/129"],
        ),
        (
            "mac",
            &["01:23:45:67:89:ab", "0123.4567.89ab.cdef"],
            &["01:23-45:67:89:ab", "01:23:45:67:89:ab:cd"],
        ),
        (
            "uuid4",
            &["16fd27068baf433b82eb8c7fada847da", "16FD2706-8baf-433b-a2eb-8c7fada847da"],
            &["16fd2706-8baf-433b-c2eb-8c7fada847da", "16fd2706-8baf-333b-82eb-8c7fada847da"],
        ),
        (
            "uri",
            &[
                "*",
                "//x",
                "a:",
                "http://a%25b",
                "http://[::1%25eth0]:80",
                "http://a]",
                "mailto:a b",
                "http://é:",
                "http://u:p%40@a?%zz",
                "/a b",
            ],
            &[
                "",
                "a",
                "#x",
                ":a",
                "http://[::1",
                "http://a:b",
                "http://a:1:2",
                "http://[::1]a",
                "http://[1.2.3.4]",
                "http://a%20b",
                "http://é@a",
                "http://a b",
                "/%zz",
                "http://u ser@a",
            ],
        ),
        (
            "email",
            &[
                "a@b",
                "\"a b\"@c",
                "Foo <a@b.c>",
                "a@b (comment (nested))",
                "x: a@b;",
                "a@[1.2.3.4]",
                "é@é",
            ],
            &[
                "a",
                "a@",
                "<a@b",
                "a@b c@d",
                "\"\"@a",
                "a..b@c",
                ".a@b",
                "x: a@b, c@d;",
                "x:;",
                "a@b (c",
                "a@[x]",
                "=?x?q?a?= <a@b>",
            ],
        ),
        ("k8s-short-name", &["a", "0-a"], &["", "-a", "a-", "A", "a.b"]),
        ("k8s-long-name", &["a.b-c.0"], &["", "a..b", ".a", "a.", "a.-b"]),
        ("hexcolor", &["#FFF", "abcdef"], &["#", "#ff", "##fff", "ff"]),
        (
            "rgbcolor",
            &["rgb( 0 ,255,\t1 )"],
            &["rgb(01,0,0)", "rgb(0,0)", "rgb(256,0,0)", "rgb (0,0,0)"],
        ),
        ("isbn10", &["0-321-75104-3", "123456789X"], &["X23456789X", "0321751044", "03217510433"]),
        ("creditcard", &["4111 1111-1111x1111"], &["", "4111111111111112", "6111111111111116"]),
        ("hostname", &["a", "a-b.example", "ünï.de", "a-"], &["", "-a", "a..b", "a.b-.c"]),
        ("bsonobjectid", &["0123456789abcdefABCDEF00"], &["0123456789abcdefABCDEF0g", "0123"]),
        ("password", &["", "x"], &[]),
    ] {
        assert!(Format::named(format).is_some(), "{format}");
        let validator = validator(&json!({"type": "string", "format": format}));
        for (texts, expected) in [(valid, true), (invalid, false)] {
            for text in texts {
                assert_eq!(validator.is_valid(&json!(text)), expected, "{format}: {text:?}");
            }
        }
    }
}

/// Objects with few of many listed members (VV-35 to VV-37).
#[test]
fn few_of_many_members() {
    let names: Vec<String> = (0..100).map(|number| format!("m{number:02}")).collect();
    let properties: Map<String, Value> =
        names.iter().map(|name| (name.clone(), json!({"type": "string"}))).collect();
    let open = validator(&json!({"properties": &properties, "additionalProperties": false}));
    for left in &names {
        for right in &names {
            assert!(open.is_valid(&json!({left: "x", right: "x"})), "{left} {right}");
            assert!(!open.is_valid(&json!({left: "x", right: 1})), "{left} {right}");
        }
        assert!(!open.is_valid(&json!({left: "x", "m0": "x"})), "{left}");
    }
    for required in [vec!["m10", "m63"], vec!["m10", "m64"], vec!["m10", "other"], vec!["m99"]] {
        let strict = validator(&json!({"properties": &properties, "required": &required}));
        let whole: Map<String, Value> =
            required.iter().map(|name| ((*name).to_owned(), json!("x"))).collect();
        assert!(strict.is_valid(&json!(&whole)), "{required:?}");
        for name in &required {
            let mut object = whole.clone();
            object.remove(*name);
            let errors = strict.errors(&json!(object));
            assert_eq!(texts(&errors), [format!("{name}: Required value")]);
        }
    }
}

/// VV-22.
#[test]
fn a_pattern_that_is_none_matches_nothing() {
    let errors = validator(&json!({"type": "string", "pattern": "a(b"})).errors(&json!("a(b"));
    assert_eq!(
        texts(&errors),
        [
            "<nil>: Invalid value: \"a(b\":  in body should match 'a(b, but pattern is invalid: error \
          parsing regexp: missing closing ): `a(b`'"
        ]
    );
}

/// VV-60, VV-61, RP-71.
#[test]
fn paths_start_at_the_base_and_texts_do_not() {
    let validator = validator(&json!({"type": "object", "properties": {
        "a": {"type": "array", "items": {"type": "string"}, "not": {"maxItems": 9}},
    }}));
    let value = json!({"a": [1]});
    let base = billhook_apimachinery::FieldPath::default().name("status");
    let errors = validator.check(&value).at(base.clone()).errors();
    assert_eq!(
        texts(&errors),
        [
            "status: Invalid value: \"\": \"a\" must not validate the schema (not)",
            "status.a[0]: Invalid value: \"integer\": a[0] in body must be of type string: \"integer\"",
        ]
    );
    assert_eq!(errors[1].field().to_json_pointer(), "/status/a/0");
    let list = validator.property("a").unwrap();
    let errors = list.check(&value["a"]).at(base).errors();
    assert_eq!(errors[1].field().to_string(), "status.[0]");
}

/// VV-01: whether there are rules in CEL at or below a node; none under junctors (SS-50).
#[test]
fn rules_are_found() {
    let rules = json!([{"rule": "false"}]);
    let validator = validator(&json!({"type": "object", "properties": {
        "l": {"type": "array", "items": {"type": "string", "x-kubernetes-validations": rules}},
        "m": {"type": "object", "additionalProperties": {"type": "string"}},
        "j": {"type": "string", "anyOf": [{"x-kubernetes-validations": rules}]},
    }}));
    assert!(validator.has_rules());
    for (name, has_rules) in [("l", true), ("m", false), ("j", false)] {
        assert_eq!(validator.property(name).unwrap().has_rules(), has_rules, "{name}");
    }
    let member = |name| validator.schema().root().property(name).unwrap().edge().node();
    assert!(validator.at(member("l").items().node_id()).has_rules());
    assert!(!validator.at(member("m").member("x").unwrap().node_id()).has_rules());
}

/// VV-81, VV-85: parts of an object and the old parts they replace.
#[test]
fn parts_are_compared_with_old_parts() {
    let validator = validator(&json!({"type": "object", "properties": {
        "k": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"],
            "items": {"type": "object", "properties": {"a": {"type": "integer"}}}},
        "l": {"type": "array", "items": {"type": "integer"}},
    }}));
    let root = validator.schema().root();
    let member = |name| root.property(name).unwrap().edge().node_id();
    let (k, l) = (member("k"), member("l"));
    let (old, new) = (json!([{"a": 2}, {"a": 1}]), json!([{"a": 1}, {"a": 2}]));
    assert!(validator.is_unchanged(k, &new, &old));
    assert!(!validator.is_unchanged(k, &new, &json!([{"a": 1}])));
    let elements = validator.old_elements(k, &old).unwrap();
    assert_eq!(elements.get(&new[0]), Some(&old[1]));
    assert_eq!(elements.get(&json!({"a": 3})), None);
    assert!(!validator.is_unchanged(l, &json!([1, 2]), &json!([2, 1])));
    assert!(validator.old_elements(l, &json!([1])).is_none());
    // What the schema doesn't know is never unchanged.
    assert!(!validator.is_unchanged(root.id(), &json!({"x": 1}), &json!({"x": 1})));
}
