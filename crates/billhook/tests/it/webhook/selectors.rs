//! Label selectors (WM-60 to WM-68, WCF-52 to WCF-58).

use std::collections::{BTreeMap, HashMap};

use billhook::FieldPath;
use billhook::label_selector::{LabelSelector, Labels, Operator, Selector};
use billhook_apimachinery::record::TypedRecord as _;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::webhook::support::labels;

fn parsed(document: &Value) -> Selector {
    LabelSelector::from_value(document).unwrap().parse().unwrap()
}

fn expression(operator: &str, values: &[&str]) -> Value {
    json!({"matchExpressions": [{"key": "env", "operator": operator, "values": values}]})
}

/// WM-60 to WM-66.
#[test]
fn matching() {
    let two = ["prod", "dev"];
    for (document, matching, others) in [
        (json!({}), vec!["", "env=prod"], vec![]),
        (
            json!({"matchLabels": {"env": "prod"}}),
            vec!["env=prod", "env=prod,a=b"],
            vec!["", "env=", "env=Prod", "Env=prod", "a=prod"],
        ),
        (json!({"matchLabels": {"env": "", "a": "b"}}), vec!["env=,a=b"], vec!["a=b", "env="]),
        (expression("In", &two), vec!["env=prod", "env=dev"], vec!["", "env=", "env=pro"]),
        (expression("In", &[""]), vec!["env="], vec!["", "env=a"]),
        (expression("NotIn", &two), vec!["", "env=", "a=prod"], vec!["env=prod", "env=dev"]),
        (expression("Exists", &[]), vec!["env=", "env=a"], vec!["", "a=env"]),
        (expression("DoesNotExist", &[]), vec!["", "a=env"], vec!["env=", "env=a"]),
    ] {
        let selector = parsed(&document);
        for text in matching {
            assert!(selector.matches(&labels(text)), "{document} {text}");
        }
        for text in others {
            assert!(!selector.matches(&labels(text)), "{document} {text}");
        }
    }
    assert!(!Selector::nothing().matches(&()));
    assert!(!Selector::nothing().is_everything());
    assert!(Selector::everything().matches(&()) && Selector::everything().is_everything());
}

#[test]
fn labels_may_come_from_anywhere() {
    let selector = parsed(&json!({"matchLabels": {"a": "b"}}));
    assert!(selector.matches(&BTreeMap::from([("a".to_owned(), "b".to_owned())])));
    assert!(selector.matches(&HashMap::from([("a".to_owned(), "b".to_owned())])));
    let object = json!({"a": "b", "c": 1});
    assert!(selector.matches(object.as_object().unwrap()));
    assert_eq!(object.as_object().unwrap().label("c"), None);
    let [requirement] = selector.requirements() else { panic!("{selector}") };
    assert!(!requirement.matches(&()));
    assert_eq!((requirement.key(), requirement.operator()), ("a", Operator::Equals));
    assert_eq!(requirement.values(), ["b"]);
}

#[test]
fn canonical_text() {
    for (document, text) in [
        (json!({}), ""),
        (json!({"matchLabels": {"b": "", "a": "x"}}), "a=x,b="),
        (expression("In", &["b", "", "a", "a"]), "env in (,a,a,b)"),
        (expression("NotIn", &["x"]), "env notin (x)"),
        (expression("Exists", &[]), "env"),
        (expression("DoesNotExist", &[]), "!env"),
        (
            json!({"matchLabels": {"env": "x"}, "matchExpressions": [
                {"key": "z", "operator": "Exists"},
                {"key": "env", "operator": "Exists"},
                {"key": "a.b/c", "operator": "DoesNotExist"},
            ]}),
            "!a.b/c,env=x,env,z",
        ),
    ] {
        let selector = parsed(&document);
        assert_eq!(selector.to_string(), text);
        assert_eq!(text.parse::<Selector>().unwrap(), selector, "{text}");
    }
}

/// RE-53; KV-94: an empty place in a list is an empty value.
#[test]
fn texts_as_people_write_them() {
    for (text, canonical) in [
        ("  ", ""),
        (" b == c , a != d ", "a!=d,b=c"),
        ("x in ( b ,a,)", "x in (,a,b)"),
        ("x in (b,,a)", "x in (,a,b)"),
        ("x notin()", "x notin ()"),
        ("! a", "!a"),
        ("in in (in),notin", "in in (in),notin"),
        ("a=,b", "a=,b"),
    ] {
        let selector: Selector = text.parse().unwrap();
        assert_eq!(selector.to_string(), canonical, "{text}");
    }
    for (text, error) in [
        (",", "found ',', expected: !, identifier, or 'end of string'"),
        ("a,", "found '', expected: identifier after ','"),
        ("a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
        ("a in b", "unable to parse requirement: found 'b' expected: '('"),
        ("a in (b", "unable to parse requirement: found '', expected: ',' or ')'"),
        ("a=b c", "found 'c', expected: ',' or 'end of string'"),
        ("a===b", "unable to parse requirement: found '=', expected: identifier"),
        ("a<>b", "unable to parse requirement: found '>', expected: identifier"),
        ("a)", "unable to parse requirement: found ')', expected: in, notin, =, ==, !=, gt, lt"),
    ] {
        assert_eq!(text.parse::<Selector>().unwrap_err().to_string(), error, "{text}");
    }
    assert!("a b=c/".parse::<Selector>().is_err());
    assert!(
        "-a".parse::<Selector>()
            .unwrap_err()
            .to_string()
            .starts_with("unable to parse requirement: <nil>: Invalid value")
    );
}

/// WM-67.
#[test]
fn selectors_that_cannot_be_parsed() {
    let long = "x".repeat(64);
    for (document, error) in [
        (expression("in", &["a"]), "\"in\" is not a valid label selector operator".to_owned()),
        (
            expression("In", &[]),
            "values: Invalid value: null: for 'in', 'notin' operators, values \
            set can't be empty"
                .to_owned(),
        ),
        (
            expression("Exists", &["b", "a"]),
            "values: Invalid value: [\"b\",\"a\"]: values set must \
            be empty for exists and does not exist"
                .to_owned(),
        ),
        (
            expression("NotIn", &["a", &long]),
            format!(
                "values[1][env]: Invalid value: \"{long}\": \
            must be no more than 63 bytes"
            ),
        ),
        (
            json!({"matchLabels": {"a": long}, "matchExpressions": [{"key": "", "operator": "X"}]}),
            format!("values[0][a]: Invalid value: \"{long}\": must be no more than 63 bytes"),
        ),
        (
            json!({"matchExpressions": [{"key": "/a", "operator": "Exists"}]}),
            "key: Invalid value: \"/a\": prefix part must be non-empty".to_owned(),
        ),
    ] {
        let selector = LabelSelector::from_value(&document).unwrap();
        assert_eq!(selector.parse().unwrap_err().to_string(), error);
    }
}

/// WCF-52 to WCF-56: all errors, in order.
#[test]
fn validation() {
    let selector = LabelSelector::from_value(&json!({
        "matchLabels": {"a b": "c d"},
        "matchExpressions": [
            {"key": "-", "operator": "in", "values": ["-"]},
            {"key": "a", "operator": "NotIn"},
            {"key": "a", "operator": "Exists", "values": ["b"]},
        ],
    }))
    .unwrap();
    let errors = selector.validate(&FieldPath::default().name("p"));
    let starts: Vec<String> = errors
        .iter()
        .map(|error| error.to_string().split(" must consist").next().unwrap().to_owned())
        .collect();
    assert_eq!(
        starts,
        [
            "p.matchLabels: Invalid value: \"a b\": name part",
            "p.matchLabels: Invalid value: \"c d\": a valid label must be an empty string or consist \
            of alphanumeric characters, '-', '_' or '.', and must start and end with an \
            alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for \
            validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
            "p.matchExpressions[0].operator: Invalid value: \"in\": not a valid selector operator",
            "p.matchExpressions[0].key: Invalid value: \"-\": name part",
            "p.matchExpressions[0].values[0]: Invalid value: \"-\": a valid label must be an empty \
            string or consist of alphanumeric characters, '-', '_' or '.', and must start and end \
            with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex \
            used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
            "p.matchExpressions[1].values: Required value: must be specified when `operator` is 'In' \
            or 'NotIn'",
            "p.matchExpressions[2].values: Forbidden: may not be specified when `operator` is \
            'Exists' or 'DoesNotExist'",
        ]
    );
}

#[test]
fn documents() {
    let document = json!({"matchLabels": {"a": "b"}, "matchExpressions": [
        {"key": "c", "operator": "In", "values": ["z", "a"]}, {"key": "d", "operator": "Exists"}]});
    assert_eq!(*LabelSelector::from_value(&document).unwrap().to_document(), document);
    assert_eq!(*LabelSelector::from_value(&Value::Null).unwrap().to_document(), json!({}));
    for (document, error) in [
        (json!([]), "json: cannot unmarshal array into Go value of type v1.LabelSelector"),
        (
            json!({"matchLabels": {"a": 1}}),
            "json: cannot unmarshal number into Go struct field LabelSelector.matchLabels of type string",
        ),
        (
            json!({"matchExpressions": {}}),
            "json: cannot unmarshal object into Go struct field LabelSelector.matchExpressions of type []v1.LabelSelectorRequirement",
        ),
        (
            json!({"matchExpressions": [{"values": "a"}]}),
            "json: cannot unmarshal string into Go struct field LabelSelectorRequirement.matchExpressions.values of type []string",
        ),
    ] {
        assert_eq!(LabelSelector::from_value(&document).unwrap_err().to_string(), error);
    }
}

fn document() -> impl Strategy<Value = Value> {
    let key = prop_oneof![
        "[a-c]",
        Just("in".to_owned()),
        Just("notin".to_owned()),
        "[a-c]\\.[a-c]/[A-Za-z0-9]([-_.]?[a-z]){0,2}"
    ];
    let value = || "([a-d0-9]([-_.]?[a-d]){0,2})?";
    let expression = prop_oneof![
        (key.clone(), vec(value(), 1..4))
            .prop_map(|(key, values)| json!({"key": key, "operator": "In", "values": values})),
        (key.clone(), vec(value(), 1..4))
            .prop_map(|(key, values)| json!({"key": key, "operator": "NotIn", "values": values})),
        key.clone().prop_map(|key| json!({"key": key, "operator": "Exists"})),
        key.clone().prop_map(|key| json!({"key": key, "operator": "DoesNotExist"})),
    ];
    let labels = proptest::collection::btree_map(key, value(), 0..3);
    (labels, vec(expression, 0..4)).prop_map(
        |(labels, expressions)| json!({"matchLabels": labels, "matchExpressions": expressions}),
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// The canonical text parses back to the same selector, and prints the same again.
    #[test]
    fn text_and_selector_are_the_same(document in document()) {
        let selector = parsed(&document);
        let text = selector.to_string();
        let again: Selector = text.parse().unwrap();
        prop_assert_eq!(&again, &selector);
        prop_assert_eq!(again.to_string(), text);
    }

    /// A selector that a server accepts can be parsed, and the other way round.
    #[test]
    fn validation_and_parsing_agree(
        key in "[a-]{0,2}/?[a-]{0,2}", operator in "In|NotIn|Exists|DoesNotExist|Like",
        values in vec("[a-]{0,2}", 0..3), label in "[a-]{0,2}",
    ) {
        let document = json!({"matchLabels": {"a": label},
            "matchExpressions": [{"key": key, "operator": operator, "values": values}]});
        let selector = LabelSelector::from_value(&document).unwrap();
        let is_valid = selector.validate(&FieldPath::default()).is_empty();
        prop_assert_eq!(selector.parse().is_ok(), is_valid);
    }

    /// Any text gets an answer.
    #[test]
    fn any_text(text in "[ab(),=!<> é]{0,12}") {
        if let Ok(selector) = text.parse::<Selector>() {
            prop_assert_eq!(&selector.to_string().parse::<Selector>().unwrap(), &selector);
        }
    }
}
