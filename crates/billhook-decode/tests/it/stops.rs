//! The reasons for which the pass over text leaves a text to the path over a tree.

use billhook_apimachinery::metadata::{
    Invalid, decode_metadata, metadata_changes, unknown_metadata_fields,
};
use billhook_apimachinery::{Dialect, FieldPath, Location};
use billhook_decode::{Decoder, Reported, Stop};
use billhook_schema::{CompileOptions, CompiledSchema, JsonSchemaProps, StructuralSchema};
use serde_json::{Value, json};

fn decoder(properties: &Value, change: impl FnOnce(&mut CompileOptions)) -> Decoder {
    let written = json!({"type": "object", "properties": properties});
    let props = JsonSchemaProps::from_value(&written).unwrap();
    let schema = StructuralSchema::new(props).unwrap();
    let mut options = CompileOptions::default();
    change(&mut options);
    Decoder::new(CompiledSchema::new(Some(&schema), options), "example.com/v1", "Foo")
}

/// The text of an object of the right kind with some more members.
fn object(more: &str) -> String {
    format!(r#"{{"apiVersion": "example.com/v1", "kind": "Foo"{more}}}"#)
}

/// Each way to decode stops for the reason, or none does.
#[track_caller]
fn check(decoder: &Decoder, text: &str, reason: Option<Stop>) {
    let text = text.as_bytes();
    assert_eq!(decoder.clean(text).err(), reason);
    assert_eq!(decoder.read(text).err(), reason);
    for reported in [Reported::UnknownFields, Reported::Changes] {
        assert_eq!(decoder.clean_reporting(text, reported).err(), reason);
        assert_eq!(decoder.read_reporting(text, reported).err(), reason);
    }
}

#[test]
fn texts() {
    let decoder =
        decoder(&json!({"e": {"type": "object", "x-kubernetes-embedded-resource": true}}), |_| {});
    check(&decoder, &object(""), None);
    check(&decoder, &object(r#", "extra": 1"#), None);
    check(&decoder, &object(r#", "e": {"kind": "K", "metadata": {"labels": {}}}"#), None);
    for (text, reason) in [
        ("{", Stop::Invalid),
        (&*object(r#", "e": 1e999"#), Stop::Invalid),
        (&*(object("") + "x"), Stop::Invalid),
        ("[]", Stop::NotAnObject),
        (r#"{"apiVersion": "example.com/v2", "kind": "Foo"}"#, Stop::OtherKind),
        (r#"{"apiVersion": "example.com/v1", "kind": "Bar"}"#, Stop::OtherKind),
        (r#"{"apiVersion": "example.com/v1", "kind": null}"#, Stop::OtherKind),
        (r#"{"apiVersion": "example.com/v1"}"#, Stop::OtherKind),
        (&*object(r#", "e": {"kind": 5}"#), Stop::EmbeddedResource),
        (&*object(r#", "metadata": {"labels": {"a": 1}}"#), Stop::Metadata),
        (&*object(r#", "e": {"metadata": "x"}"#), Stop::Metadata),
    ] {
        check(&decoder, text, Some(reason));
    }
}

/// Texts that have to be written anew decode, but not with findings.
#[test]
fn texts_to_be_written_anew() {
    let decoder = decoder(&json!({"a": {"type": "string"}}), |_| {});
    for text in [object(r#", "a": "1", "a": "2""#), object(r#", "a": "\ud800""#)] {
        let text = text.as_bytes();
        assert!(decoder.clean(text).is_ok());
        assert!(decoder.read(text).is_ok());
        assert_eq!(decoder.clean_reporting(text, Reported::Changes).err(), Some(Stop::Duplicate));
        assert_eq!(decoder.read_reporting(text, Reported::Changes).err(), Some(Stop::Duplicate));
    }
    let text = b"{\"apiVersion\": \"example.com/v1\", \"kind\": \"Foo\", \"a\": \"\xff\"}";
    assert!(decoder.clean(text).is_ok());
    assert_eq!(decoder.clean_reporting(text, Reported::Changes).err(), Some(Stop::Duplicate));
}

/// A key that has one spelling only is as good as one without escapes.
#[test]
fn escaped_keys() {
    let decoder = decoder(&json!({}), |_| {});
    let labels = |members: &str| object(&format!(r#", "metadata": {{"labels": {{{members}}}}}"#));
    check(&decoder, &labels(r#""a\"\\": "1", "a\"": "2""#), None);
    for members in [r#""a\"": "1", "a\"": "2""#, r#""a\/": "1""#, r#""\u0061": "1""#] {
        let stop = decoder.clean_reporting(labels(members).as_bytes(), Reported::Changes).err();
        assert_eq!(stop, Some(Stop::Duplicate), "{members}");
    }
}

/// Reports name the members whose keys have escapes by what the keys stand for.
#[test]
fn escaped_keys_in_reports() {
    let map = json!({"type": "object", "additionalProperties": {"type": "object"}});
    let decoder = decoder(&json!({"m": map}), |_| {});
    let text = object(r#", "a\\": 1, "m": {"b\"": {"c\"": 1}, "d": {}}"#);
    let (_, findings) = decoder.clean_reporting(text.as_bytes(), Reported::Changes).unwrap();
    let paths: Vec<String> =
        findings.changes.iter().map(|change| change.path().to_string()).collect();
    assert_eq!(paths, ["a\\", "m.b\".c\""]);
}

#[test]
fn schemas() {
    let nothing = json!({});
    let kep = decoder(&nothing, |options| options.dialect = Dialect::Kep);
    check(&kep, &object(""), Some(Stop::Schema));
    let part = decoder(&nothing, |options| options.resource_root = false);
    check(&part, &object(""), Some(Stop::Schema));
    let whole = decoder(&nothing, |options| options.prune = false);
    check(&whole, &object(""), Some(Stop::Schema));
}

#[test]
fn defaults() {
    let long = "x".repeat(5 << 20);
    let large = json!({
        "a": {"type": "string", "default": long},
        "b": {"type": "string", "default": "y"},
    });
    check(&decoder(&large, |_| {}), &object(""), Some(Stop::Defaults));

    let many: Vec<u8> = vec![0; 50_000];
    let many = json!({"l": {"type": "array", "items": {"type": "object", "properties": {
        "d": {"type": "array", "items": {"type": "integer"}, "default": many},
    }}}});
    let items = vec!["{}"; 201].join(",");
    check(&decoder(&many, |_| {}), &object(&format!(r#", "l": [{items}]"#)), Some(Stop::Defaults));
}

/// Unknown fields of metadata are reported as all of it is that is written anew (OM-12).
#[test]
fn unknown_fields_of_metadata() {
    let decoder = decoder(&json!({}), |_| {});
    let owner = |more: Value| {
        let mut owner = json!({"apiVersion": "v1", "kind": "K", "name": "n", "uid": "u"});
        owner.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        owner
    };
    let entry = json!({"manager": "m", "operation": "Update", "x": "y", "fieldsV1": {"x": {}}});
    for metadata in [
        json!({"name": "n", "z": 1, "a": {"b": [null]}, "é": null}),
        json!({"ownerReferences": [owner(json!({})), owner(json!({"z": [], "a": 1.0}))]}),
        json!({"y": {}, "managedFields": [entry], "ownerReferences": [owner(json!({"x": 1}))]}),
    ] {
        let text = object(&format!(r#", "metadata": {metadata}"#));
        let reported = decoder.clean_reporting(text.as_bytes(), Reported::Changes);
        let (cleaned, findings) = reported.unwrap();
        let decoded = decode_metadata(&metadata, Invalid::Refuse).unwrap().changed().unwrap();
        let cleaned: Value = serde_json::from_slice(&cleaned).unwrap();
        assert_eq!(cleaned["metadata"], *decoded);
        let at = Location::TOP.name("metadata");
        let changes = metadata_changes(&metadata, &decoded, &at, &FieldPath::default());
        assert!(!changes.is_empty());
        assert_eq!(findings.changes, changes);
        assert_eq!(findings.unknown, unknown_metadata_fields(&metadata, &at));
    }
    for repeated in [r#""x": 1, "x": 2"#, r#""x": {"a": 1, "a": 2}"#] {
        let text = object(&format!(r#", "metadata": {{{repeated}}}"#));
        let reported = decoder.clean_reporting(text.as_bytes(), Reported::UnknownFields);
        assert_eq!(reported.err(), Some(Stop::Duplicate), "{repeated}");
    }
}
