//! Normal form of metadata.

use billhook_apimachinery::metadata::{Invalid, NormalMetadata, ObjectMeta, decode_metadata};
use billhook_apimachinery::record::TypedRecord as _;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

fn values() -> impl Strategy<Value = Value> {
    proptest::sample::select(vec![
        json!(null),
        json!(""),
        json!("x"),
        json!(0),
        json!(2),
        json!(2.0),
        json!(u64::MAX),
        json!(false),
        json!("2020-01-01T00:00:00Z"),
        json!("0001-01-01T00:00:00Z"),
        json!("2020-01-01T02:00:00+02:00"),
        json!([]),
        json!([""]),
        json!({}),
        json!({"a": "b"}),
        json!({"a": null}),
        json!([{}]),
        json!([{"time": "2020-01-01T00:00:00Z", "fieldsV1": {"f:a": {}}}]),
        json!([{"time": null, "fieldsV1": {"f:a": 1.0}}]),
        json!([{"fieldsV1": {}, "subresource": "", "q": 1}]),
        json!([{"apiVersion": "v1", "kind": "K", "name": "", "uid": "u", "controller": false}]),
        json!([{"apiVersion": "v1", "kind": "K", "name": "n", "controller": true}]),
    ])
}

fn metadata() -> impl Strategy<Value = Value> {
    let names = ObjectMeta::FIELDS.iter().map(|field| field.name).chain(["other"]);
    let name = proptest::sample::select(names.collect::<Vec<_>>());
    let members = vec((name, values()), 0..3);
    members.prop_map(|members| {
        Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    })
}

/// The same metadata after a server printed it, which writes whole floats as integers.
fn printed(mut metadata: Value) -> Value {
    for value in metadata.as_object_mut().into_iter().flat_map(|members| members.values_mut()) {
        if let Some(float) = value.as_f64().filter(|float| value.is_f64() && float.fract() == 0.0) {
            *value = Value::from(float as i64);
        }
    }
    metadata
}

proptest! {
    /// OM-02 to OM-05: what is taken as it is would be written so.
    #[test]
    fn metadata_is_decoded_as_its_record_writes_it(metadata in metadata()) {
        let decoded = decode_metadata(&metadata, Invalid::Refuse);
        let written = ObjectMeta::read(&printed(metadata.clone())).map(|(record, _)| record.to_document());
        prop_assert_eq!(decoded.map(NormalMetadata::into_value), written);
    }
}

#[test]
fn normal_metadata_is_not_copied() {
    let metadata = json!({
        "name": "x", "labels": {"a": ""}, "generation": 1,
        "creationTimestamp": "2020-01-01T00:00:00Z",
        "ownerReferences": [{"apiVersion": "v1", "kind": "K", "name": "n", "uid": "u"}],
        "managedFields": [{"time": "2020-01-01T00:00:00Z", "fieldsV1": {"f:a": {}}}],
    });
    let decoded = decode_metadata(&metadata, Invalid::Refuse);
    assert!(matches!(decoded, Ok(NormalMetadata::Same(_))));
}
