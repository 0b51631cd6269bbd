//! Validation of metadata (OM-30 to OM-41) and the warnings about finalizers (OM-60).

use billhook_apimachinery::metadata::{
    Invalid, decode_metadata, finalizer_warnings, validate_create, validate_create_with,
    validate_generic, validate_update,
};
use billhook_apimachinery::value::DeepValue;
use billhook_apimachinery::{FieldError, Wording};
use billhook_schema::{CompileOptions, CompiledSchema, JsonSchemaProps, StructuralSchema};
use billhook_validation::validate_embedded;
use serde_json::{Value, json};

const LABEL_1035: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const LABEL_1123: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN: &str = r"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const NAME_PART: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

fn newest() -> &'static Wording {
    <&Wording>::default()
}

fn printed(errors: &[FieldError]) -> Vec<String> {
    errors.iter().map(ToString::to_string).collect()
}

fn embedded_schema() -> CompiledSchema {
    let resource = json!({
        "type": "object",
        "x-kubernetes-embedded-resource": true,
        "x-kubernetes-preserve-unknown-fields": true,
    });
    let schema = json!({"type": "object", "properties": {
        "e": resource,
        "l": {"type": "array", "items": resource},
        "m": {"type": "object", "additionalProperties": resource},
    }});
    let props = JsonSchemaProps::from_value(&schema).unwrap();
    let schema = StructuralSchema::new(props).unwrap();
    CompiledSchema::new(Some(&schema), CompileOptions::default())
}

fn embedded(object: &Value) -> Vec<String> {
    printed(&validate_embedded(&embedded_schema(), false, object))
}

fn decoded(metadata: &Value) -> DeepValue {
    decode_metadata(metadata, Invalid::Refuse).unwrap().into_value()
}

fn create(metadata: &Value, namespaced: bool) -> Vec<String> {
    printed(&validate_create(&decoded(metadata), namespaced, newest()))
}

fn in_metadata(metadata: &Value) -> Vec<String> {
    embedded(&json!({"e": {"apiVersion": "v1", "kind": "K", "metadata": metadata}}))
}

fn check(actual: &[String], expected: &[&str]) {
    assert_eq!(actual, expected);
}

/// OM-30.
#[test]
fn types_of_embedded_resources() {
    for (object, expected) in [
        (json!({"e": {}}), vec!["e.apiVersion: Required value", "e.kind: Required value"]),
        (
            json!({"e": {"apiVersion": "", "kind": ""}}),
            vec![
                "e.apiVersion: Invalid value: \"\": must not be empty",
                "e.kind: Invalid value: \"\": must not be empty",
            ],
        ),
        (
            json!({"e": {"apiVersion": 5, "kind": null}}),
            vec![
                "e.apiVersion: Invalid value: 5: must be a string",
                "e.kind: Invalid value: null: must be a string",
            ],
        ),
        (json!({"e": {"apiVersion": "/ ?", "kind": "aBC"}}), vec![]),
        (json!({"e": [{}], "l": {"kind": 5}, "m": 1}), vec![]),
        (
            json!({"l": [{"metadata": null}], "m": {"k.z": {"apiVersion": "v1"}}}),
            vec![
                "l[0].apiVersion: Required value",
                "l[0].kind: Required value",
                "m[k.z].kind: Required value",
            ],
        ),
    ] {
        check(&embedded(&object), &expected);
    }
    let kind = format!(
        "e.kind: Invalid value: \"1K_x\": may have mixed case, but should otherwise match: {LABEL_1035}"
    );
    check(
        &embedded(&json!({"e": {"apiVersion": "a/b/c", "kind": "1K_x"}})),
        &["e.apiVersion: Invalid value: \"a/b/c\": unexpected GroupVersion string: a/b/c", &kind],
    );
    let root = validate_embedded(&embedded_schema(), true, &json!({}));
    check(&printed(&root), &["apiVersion: Required value", "kind: Required value"]);
}

/// OM-30: metadata that doesn't decode.
#[test]
fn undecodable_metadata_of_embedded_resources() {
    check(
        &in_metadata(&json!({"labels": {"a": 1}})),
        &[
            "e.metadata: Invalid value: {\"labels\":{\"a\":1}}: json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string",
        ],
    );
}

/// OM-31, each row.
#[test]
fn rows_of_the_metadata_rules() {
    let at = |field: &str, value: &str, detail: &str| {
        format!("e.metadata.{field}: Invalid value: {value}: {detail}")
    };
    for (metadata, expected) in [
        (json!({"name": "Upper_Case is fine", "namespace": "n", "generation": 3}), vec![]),
        (json!({"generateName": ".."}), vec![]),
        (
            json!({"generateName": "%a/b"}),
            vec![
                at("generateName", "\"%a/b\"", "may not contain '/'"),
                at("generateName", "\"%a/b\"", "may not contain '%'"),
            ],
        ),
        (json!({"name": "."}), vec![at("name", "\".\"", "may not be '.'")]),
        (json!({"name": ".."}), vec![at("name", "\"..\"", "may not be '..'")]),
        (json!({"name": "a/b"}), vec![at("name", "\"a/b\"", "may not contain '/'")]),
        (json!({"namespace": "A_b"}), vec![at("namespace", "\"A_b\"", LABEL_1123)]),
        (
            json!({"generation": -1}),
            vec![at("generation", "-1", "must be greater than or equal to 0")],
        ),
        (
            json!({"labels": {"a b": "c d"}}),
            vec![at("labels", "\"a b\"", NAME_PART), at("labels", "\"c d\"", LABEL_VALUE)],
        ),
        (json!({"annotations": {"EXAMPLE.com/A": "any thing"}}), vec![]),
        // The kelvin sign becomes a plain k in lower case.
        (json!({"annotations": {"\u{212a}": ""}}), vec![]),
        (
            json!({"annotations": {"/X": "y"}}),
            vec![at("annotations", "\"/X\"", "prefix part must be non-empty")],
        ),
        (
            json!({"ownerReferences": [{}]}),
            vec![
                at("ownerReferences.apiVersion", "\"\"", "version must not be empty"),
                at("ownerReferences.kind", "\"\"", "must not be empty"),
                at("ownerReferences.name", "\"\"", "must not be empty"),
                at("ownerReferences.uid", "\"\"", "must not be empty"),
            ],
        ),
        (json!({"finalizers": ["a b"]}), vec![at("finalizers", "\"a b\"", NAME_PART)]),
        (
            json!({"finalizers": ["orphan", "foregroundDeletion"]}),
            vec![at(
                "finalizers",
                "[\"orphan\",\"foregroundDeletion\"]",
                "finalizer orphan and foregroundDeletion cannot be both set",
            )],
        ),
        (
            json!({"managedFields": [{"operation": "Apply"}, {"operation": "X", "fieldsType": "Y"}]}),
            vec![
                at("managedFields[1].operation", "\"X\"", "must be `Apply` or `Update`"),
                at("managedFields[1].fieldsType", "\"Y\"", "must be `FieldsV1`"),
            ],
        ),
        (
            json!({"managedFields": [{"operation": "Update", "manager": "ü\u{7}"}]}),
            vec![at(
                "managedFields[0].manager",
                "\"ü\\a\"",
                "invalid character U+0007 (at position 2)",
            )],
        ),
        (
            json!({"managedFields": [{
                "operation": "Update", "manager": "m".repeat(129), "subresource": "s".repeat(257),
            }]}),
            vec![
                "e.metadata.managedFields[0].manager: Too long: may not be more than 128 bytes"
                    .to_owned(),
                "e.metadata.managedFields[0].subresource: Too long: may not be more than 256 bytes"
                    .to_owned(),
            ],
        ),
    ] {
        assert_eq!(in_metadata(&metadata), expected, "{metadata}");
    }
}

/// OM-31: the size of all annotations.
#[test]
fn annotations_have_a_total_size() {
    let annotations = |size: usize| json!({"annotations": {"a": "x".repeat(size - 1)}});
    check(&in_metadata(&annotations(262_144)), &[]);
    check(
        &in_metadata(&annotations(262_145)),
        &["e.metadata.annotations: Too long: may not be more than 262144 bytes"],
    );
}

/// OM-31: printed owner references have their members in the order of declaration.
#[test]
fn owner_references_are_printed_in_their_own_order() {
    let references = json!([
        {"blockOwnerDeletion": false, "apiVersion": "v1", "kind": "Event", "name": "x", "uid": "u", "controller": true},
        {"apiVersion": "a/b/c", "kind": "E", "name": "y", "uid": "u", "controller": true},
    ]);
    let first = r#"{"apiVersion":"v1","kind":"Event","name":"x","uid":"u","controller":true,"blockOwnerDeletion":false}"#;
    let second = r#"{"apiVersion":"a/b/c","kind":"E","name":"y","uid":"u","controller":true}"#;
    assert_eq!(
        in_metadata(&json!({"ownerReferences": references})),
        [
            format!(
                "e.metadata.ownerReferences: Invalid value: {first}: /v1, Kind=Event is disallowed from being an owner"
            ),
            "e.metadata.ownerReferences.apiVersion: Invalid value: \"a/b/c\": version must not be empty"
                .to_owned(),
            format!(
                "e.metadata.ownerReferences: Invalid value: [{first},{second}]: Only one reference can have Controller set to true. Found \"true\" in references for Event/x and E/y"
            ),
        ]
    );
}

/// OM-40.
#[test]
fn metadata_of_new_resources() {
    check(&create(&json!({"name": "a.b", "namespace": "n"}), true), &[]);
    check(&create(&json!({"name": "a"}), false), &[]);
    check(
        &create(&json!({}), true),
        &[
            "metadata.name: Required value: name or generateName is required",
            "metadata.namespace: Required value",
        ],
    );
    let bad_name = format!("metadata.name: Invalid value: \"A\": {SUBDOMAIN}");
    check(
        &create(&json!({"name": "A", "namespace": "n"}), false),
        &[&bad_name, "metadata.namespace: Forbidden: not allowed on this type"],
    );
    let bad_namespace = format!("metadata.namespace: Invalid value: \"N\": {LABEL_1123}");
    check(&create(&json!({"name": "a", "namespace": "N"}), true), &[&bad_namespace]);
}

/// OM-40: the last two characters of a generated name are not looked at (KD-72).
#[test]
fn prefixes_of_generated_names() {
    for (prefix, is_valid) in
        [("ab-", true), ("aB-", true), ("Ab-", false), ("-", false), ("é-", false), ("ab_", false)]
    {
        let errors = create(&json!({"name": "a", "generateName": prefix}), false);
        assert_eq!(errors.is_empty(), is_valid, "{prefix}");
    }
}

/// CV-11 has a rule of its own.
#[test]
fn other_rules_for_names() {
    let metadata = decoded(&json!({"name": "a", "generateName": "b"}));
    let errors = validate_create_with(&metadata, false, newest(), |name, is_prefix| {
        vec![format!("{name} {is_prefix}")]
    });
    check(
        &printed(&errors),
        &[
            "metadata.generateName: Invalid value: \"b\": b true",
            "metadata.name: Invalid value: \"a\": a false",
        ],
    );
}

/// OM-40, OM-41: names in the generic pass.
#[test]
fn the_generic_pass() {
    let errors = validate_generic(&decoded(&json!({"name": "A B"})), false, newest());
    check(&printed(&errors), &[]);
    let errors = validate_generic(&decoded(&json!({"name": "A%"})), false, newest());
    check(&printed(&errors), &["metadata.name: Invalid value: \"A%\": may not contain '%'"]);
}

fn update(metadata: &Value, old: &Value) -> Vec<String> {
    printed(&validate_update(&decoded(metadata), &decoded(old), newest()))
}

/// OM-41.
#[test]
fn what_an_update_must_not_change() {
    let old = json!({
        "name": "a", "namespace": "n", "uid": "u", "resourceVersion": "1", "generation": 2,
        "creationTimestamp": "2024-01-01T00:00:00Z", "deletionGracePeriodSeconds": 1,
        "deletionTimestamp": "2024-01-02T00:00:00Z", "finalizers": ["a.b/c"],
    });
    check(&update(&old, &old), &[]);
    check(
        &update(&json!({"generation": 1, "finalizers": ["y", "x\"", "y", "a.b/c"]}), &old),
        &[
            "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{\"x\\\"\", \"y\"}",
            "metadata.resourceVersion: Invalid value: \"\": must be specified for an update",
            "metadata.generation: Invalid value: 1: must not be decremented",
            "metadata.name: Invalid value: \"\": field is immutable",
            "metadata.namespace: Invalid value: \"\": field is immutable",
            "metadata.uid: Invalid value: \"\": field is immutable",
            "metadata.creationTimestamp: Invalid value: null: field is immutable",
            "metadata.deletionTimestamp: Invalid value: null: field is immutable",
            "metadata.deletionGracePeriodSeconds: Invalid value: null: field is immutable",
        ],
    );
    check(
        &update(
            &json!({
                "name": "b", "resourceVersion": "1", "labels": {"/a": ""},
                "creationTimestamp": "2024-01-01T00:00:01Z", "deletionGracePeriodSeconds": 0,
                "finalizers": ["not looked at"],
            }),
            &json!({"name": "b", "creationTimestamp": "2024-01-01T00:00:00Z"}),
        ),
        &[
            "metadata.creationTimestamp: Invalid value: \"2024-01-01T00:00:01Z\": field is immutable",
            "metadata.deletionGracePeriodSeconds: Invalid value: 0: field is immutable",
            "metadata.labels: Invalid value: \"/a\": prefix part must be non-empty",
        ],
    );
}

/// OM-60.
#[test]
fn warnings_about_finalizers() {
    let metadata = decoded(&json!({"finalizers": [
        "foo.bar", "foo", "orphan", "kubernetes", "foregroundDeletion", "a/b", "a b", "foo",
    ]}));
    let (start, end) = (
        "prefer a domain-qualified finalizer name",
        "to avoid accidental conflicts with other finalizer writers",
    );
    assert_eq!(
        finalizer_warnings(&metadata, None, newest()),
        [
            format!("metadata.finalizers: \"a b\": {NAME_PART}"),
            format!("metadata.finalizers: \"a b\": {start} {end}"),
            format!("metadata.finalizers: \"foo\": {start} {end}"),
            format!("metadata.finalizers: \"foo.bar\": {start} including a path (/) {end}"),
        ]
    );
    let old = decoded(&json!({"finalizers": ["a b", "foo.bar"]}));
    assert_eq!(
        finalizer_warnings(&metadata, Some(&old), newest()),
        [format!("metadata.finalizers: \"foo\": {start} {end}")]
    );
}

/// Errors that repeat a whole list or text stay within bounds.
#[test]
fn long_lists_and_texts_are_not_repeated_without_end() {
    let reference =
        json!({"apiVersion": "v1", "kind": "K", "name": "n", "uid": "u", "controller": true});
    let references: Vec<Value> = vec![reference; 20_000];
    assert_eq!(in_metadata(&json!({"ownerReferences": references})).len(), 1);
    let manager = "\u{7f}".repeat(1_000_000);
    let managed = json!({"managedFields": [{"operation": "Apply", "manager": manager}]});
    assert_eq!(in_metadata(&managed).len(), 2);
}

/// Resources within resources, deeper than any stack.
#[test]
fn embedded_resources_of_any_depth() {
    const DEPTH: usize = 3_000;
    let nest =
        |inner: Value, name: &str| Value::Object([(name.to_owned(), inner)].into_iter().collect());
    let (mut schema, mut object) = (resource(None), json!({}));
    for _ in 1..DEPTH {
        schema = resource(Some(schema));
        object = nest(object, "e");
    }
    let (schema, object) = (DeepValue::from(schema), DeepValue::from(object));
    let schema = StructuralSchema::new(JsonSchemaProps::from_value(&schema).unwrap()).unwrap();
    let schema = CompiledSchema::new(Some(&schema), CompileOptions::default());
    assert_eq!(validate_embedded(&schema, false, &object).len(), 2 * DEPTH);
}

fn resource(inner: Option<Value>) -> Value {
    let mut schema = json!({"type": "object", "x-kubernetes-embedded-resource": true});
    if let Some(inner) = inner {
        let properties = [("e".to_owned(), inner)].into_iter().collect();
        schema["properties"] = Value::Object(properties);
    }
    schema
}
