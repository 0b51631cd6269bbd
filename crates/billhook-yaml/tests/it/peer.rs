//! The same text read by `serde_yaml`: what both accept is equal, except for the differences that
//! the crate page lists.

use billhook_apimachinery::value::deep_eq;
use billhook_yaml::{read_document, read_documents};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::any_text::{PIECES, any_value};

/// Line breaks of YAML 1.1 that are characters here, and the byte order mark, after which the peer
/// does not see the start of a document.
const OTHERWISE: [char; 3] = ['\u{2028}', '\u{2029}', '\u{feff}'];

/// Returns the documents of a stream; none if the peer refuses one of them.
fn read_by_peer(text: &str) -> Option<Vec<Value>> {
    serde_yaml::Deserializer::from_str(text)
        .map(|document| Value::deserialize(document).ok())
        .collect()
}

/// Returns the documents of a stream; none if one of them is refused.
fn read(text: &str) -> Option<Vec<Value>> {
    let documents = read_documents(text.as_bytes()).into_iter();
    documents.map(|document| Some(document.ok()?.into_value().into_inner())).collect()
}

/// The text of a plain scalar as YAML 1.1 understands it.
fn resolved(scalar: &str) -> Option<Value> {
    Some(read_document(scalar.as_bytes()).ok()?.into_value().into_inner())
}

fn resolved_key(key: &str) -> Option<String> {
    let value = resolved(&format!("{key}: 1"))?;
    value.as_object()?.keys().next().cloned()
}

/// Whether two readings are equal except for the listed differences.
fn same(ours: &Value, peers: &Value) -> bool {
    match (ours, peers) {
        // Whole floats are integers, integers beyond 64 bits are floats.
        (Value::Number(ours), Value::Number(peers)) => ours.as_f64() == peers.as_f64(),
        // Booleans and numbers of YAML 1.1 are text in 1.2.
        (Value::Bool(_) | Value::Number(_), Value::String(text)) => {
            resolved(text).is_some_and(|value| deep_eq(&value, ours))
        }
        (Value::Array(ours), Value::Array(peers)) => {
            ours.len() == peers.len()
                && ours.iter().zip(peers).all(|(ours, peers)| same(ours, peers))
        }
        (Value::Object(_), Value::Object(peers)) if peers.contains_key("<<") => true,
        (Value::Object(ours), Value::Object(peers)) => {
            // Keys that are one and the same in YAML 1.1 may be two in 1.2.
            ours.len() <= peers.len()
                && peers.iter().all(|(key, peers)| {
                    let ours = ours.get(key).or_else(|| ours.get(&resolved_key(key)?));
                    ours.is_some_and(|ours| same(ours, peers))
                })
        }
        _ => ours == peers,
    }
}

fn check(text: &str) -> Result<(), String> {
    if text.contains(OTHERWISE) {
        return Ok(());
    }
    let (Some(mut ours), Some(mut peers)) = (read(text), read_by_peer(text)) else { return Ok(()) };
    // Empty documents of a stream are left out here.
    ours.retain(|document| !document.is_null());
    peers.retain(|document| !document.is_null());
    // A block scalar that is a whole document needs no indentation here.
    if ours.iter().any(Value::is_string) {
        return Ok(());
    }
    let (ours, peers) = (Value::from(ours), Value::from(peers));
    if same(&ours, &peers) { Ok(()) } else { Err(format!("{text:?}\nours  {ours}\npeers {peers}")) }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn texts(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..12)) {
        check(&pieces.concat()).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn printed_by_the_peer(value in any_value()) {
        let text = serde_yaml::to_string(&value).unwrap();
        let read = read_document(text.as_bytes());
        if let Ok(document) = read && !text.contains(OTHERWISE) {
            prop_assert!(same(document.value(), &value), "{text}");
        }
    }
}

#[test]
fn fixtures() {
    let mut directories =
        vec![std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")];
    let mut seen = 0;
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|extension| extension == "yaml") {
                let text = std::fs::read_to_string(&path).unwrap();
                assert!(read(&text).is_some() && read_by_peer(&text).is_some(), "{path:?}");
                check(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"));
                seen += 1;
            }
        }
    }
    assert!(seen > 80, "{seen}");
}

/// The differences of the crate page; `None` is a refusal.
#[test]
fn differences() {
    for (text, ours, peers) in [
        ("y", Some(json!(true)), Some(json!("y"))),
        ("Off", Some(json!(false)), Some(json!("Off"))),
        ("0777", Some(json!(511)), Some(json!("0777"))),
        ("0X1F", Some(json!(31)), Some(json!("0X1F"))),
        ("1_000", Some(json!(1000)), Some(json!("1_000"))),
        ("1.0", Some(json!(1)), Some(json!(1.0))),
        (
            "9223372036854775808",
            Some(json!(9223372036854775808f64)),
            Some(json!(9223372036854775808u64)),
        ),
        ("100000000000000000000", Some(json!(1e20)), None),
        (".inf", None, Some(json!(null))),
        ("0x10: a", Some(json!({"16": "a"})), Some(json!({"0x10": "a"}))),
        ("~: a", None, Some(json!({"~": "a"}))),
        (
            "{<<: {p: 1}, q: 2}",
            Some(json!({"p": 1, "q": 2})),
            Some(json!({"<<": {"p": 1}, "q": 2})),
        ),
        ("{<<: 1}", None, Some(json!({"<<": 1}))),
        ("!!binary aGk=", Some(json!("hi")), Some(json!("aGk="))),
        ("!!bool yes", Some(json!(true)), None),
        ("!custom a", Some(json!("a")), None),
    ] {
        let found =
            read_document(text.as_bytes()).ok().map(|document| document.into_value().into_inner());
        assert_eq!(found, ours, "{text}");
        assert_eq!(serde_yaml::from_str(text).ok(), peers, "{text}, read by the peer");
    }
}
