//! Values that are read where they stand.

use billhook_decode::{ObjectView, read_json};
use proptest::prelude::*;
use serde_json::{Value, json};

fn value(view: ObjectView<'_>) -> Value {
    view.to_value().into_inner()
}

/// Puts a tree together of the parts that views find.
fn rebuilt(view: ObjectView<'_>) -> Value {
    if view.is_object() {
        let members = view.members().map(|(name, value)| (name.into_owned(), rebuilt(value)));
        return Value::Object(members.collect());
    }
    if view.is_array() {
        return Value::Array(view.elements().map(rebuilt).collect());
    }
    match (view.as_str(), view.as_i64(), view.as_f64(), view.as_bool()) {
        (Some(text), ..) => text.into_owned().into(),
        (_, Some(integer), ..) => integer.into(),
        (_, _, Some(number), _) => number.into(),
        (.., Some(truth)) => truth.into(),
        _ => {
            assert!(view.is_null());
            Value::Null
        }
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        let list = prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from);
        let object = prop::collection::btree_map(any::<String>(), inner, 0..4);
        prop_oneof![list, object.prop_map(|members| Value::Object(members.into_iter().collect()))]
    })
}

proptest! {
    #[test]
    fn views_say_what_trees_say(tree in any_value(), is_indented in any::<bool>()) {
        let text = match is_indented {
            true => serde_json::to_string_pretty(&tree),
            false => serde_json::to_string(&tree),
        };
        let text = text.unwrap();
        let tree = read_json(text.as_bytes()).unwrap().into_value();
        for view in [ObjectView::read(text.as_bytes()).unwrap(), ObjectView::of_checked(text.as_bytes())] {
            prop_assert_eq!(&rebuilt(view), &*tree);
            prop_assert_eq!(&value(view), &*tree);
            for (name, member) in view.members() {
                prop_assert_eq!(&value(view.get(&name).unwrap()), &tree[&*name]);
                prop_assert!(text.as_bytes()[member.offset()..].starts_with(member.text()));
            }
        }
    }

    /// Whatever the text is, views end.
    #[test]
    fn other_texts_do_no_harm(text in "[{}\\[\\]\",:a1.tn\\\\ ]{0,40}") {
        let view = ObjectView::of_checked(text.as_bytes());
        rebuilt_of_anything(view, 8);
        prop_assert_eq!(ObjectView::read(text.as_bytes()).is_ok(), read_json(text.as_bytes()).is_ok());
    }
}

fn rebuilt_of_anything(view: ObjectView<'_>, left: usize) {
    let _ = (view.text(), view.as_str(), view.as_i64(), view.as_f64(), view.to_value());
    if left > 0 {
        view.members().for_each(|(_, member)| rebuilt_of_anything(member, left - 1));
        view.elements().for_each(|element| rebuilt_of_anything(element, left - 1));
    }
}

#[test]
fn repeated_and_escaped_names_are_found() {
    let text = br#" {"a": 1, "\u0062\"": {"c": "\ud83d\ude00\u00e9\ud800"}, "a": 2} "#;
    let view = ObjectView::read(text).unwrap();
    assert_eq!(view.get("a").unwrap().as_i64(), Some(2), "the last one counts");
    assert_eq!(view.at(["b\"", "c"]).unwrap().as_str().unwrap(), "\u{1f600}é\u{fffd}");
    let mut members = view.members();
    let names: Vec<usize> = std::iter::from_fn(|| {
        members.next()?;
        Some(members.name_offset())
    })
    .collect();
    assert!(names.iter().all(|name| text[*name] == b'"'), "{names:?}");
    assert!(view.get("c").is_none() && view.at(["a", "b"]).is_none());
    assert_eq!(view.elements().count(), 0);
    let not_unicode = ObjectView::read(b"{\"a\xff\": \"\xff\"}").unwrap();
    assert_eq!(value(not_unicode), json!({"a\u{fffd}": "\u{fffd}"}));
    assert_eq!(rebuilt(not_unicode), value(not_unicode));
}

#[test]
fn values_are_read_as_types() {
    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Port<'t> {
        name: &'t str,
        port: u16,
    }
    let view =
        ObjectView::read(br#"{"ports": [{"name": "web", "port": 80}, {"name": 1}]}"#).unwrap();
    let ports: Vec<_> =
        view.get("ports").unwrap().elements().map(|port| port.deserialize::<Port<'_>>()).collect();
    assert_eq!(ports[0].as_ref().unwrap(), &Port { name: "web", port: 80 });
    assert!(ports[1].is_err());
}

#[test]
fn deep_values_are_passed_over() {
    let text = format!("{{\"a\": {}{}, \"b\": 1}}", "[".repeat(9_000), "]".repeat(9_000));
    let view = ObjectView::read(text.as_bytes()).unwrap();
    assert_eq!(view.get("b").unwrap().as_i64(), Some(1));
}
