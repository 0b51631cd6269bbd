//! Validation of whole objects: create, update, the status and the scale subresource.

use billhook::{CrdVersion, CustomResourceDefinition, ValidateOptions, Validation, Verdict};
use serde_json::{Value, json};

fn version(schema: Value, subresources: Value, scope: &str) -> CrdVersion {
    let crd = CustomResourceDefinition::from_value(&json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "spec": {
            "group": "example.com",
            "scope": scope,
            "names": {"plural": "foos", "kind": "Foo"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": schema}, "subresources": subresources}],
        },
    }));
    crd.unwrap().version("v1").unwrap()
}

fn foo(members: Value) -> Value {
    let mut object = json!({"apiVersion": "example.com/v1", "kind": "Foo",
        "metadata": {"name": "x", "namespace": "ns", "resourceVersion": "1"}});
    for (key, value) in members.as_object().unwrap() {
        object[key] = value.clone();
    }
    object
}

fn texts(validation: &Validation) -> Vec<String> {
    validation.errors().iter().map(ToString::to_string).collect()
}

fn options() -> ValidateOptions {
    ValidateOptions::default()
}

fn schema() -> Value {
    json!({"type": "object", "required": ["status"], "properties": {
        "spec": {"type": "object", "properties": {
            "a": {"type": "string", "maxLength": 1},
            "e": {"type": "object", "x-kubernetes-embedded-resource": true,
                "x-kubernetes-preserve-unknown-fields": true},
            "l": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        }},
        "status": {"type": "object", "properties": {
            "a": {"type": "string", "pattern": "^z"},
            "l": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
            "kind": {"type": "string", "enum": ["X"]},
        }, "not": {"required": ["no"]}},
    }})
}

/// RP-40: another type keeps metadata, values and scale from being looked at; embedded resources
/// and lists still are.
#[test]
fn another_type() {
    let scale =
        json!({"scale": {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"}});
    let version = version(schema(), scale, "Namespaced");
    let mut object = foo(json!({"spec": {"a": "long", "n": -1, "e": {}, "l": ["x", "x"]}}));
    object["kind"] = json!("Bar");
    object["apiVersion"] = json!("example.com/v2");
    object["metadata"] = json!({});
    assert_eq!(
        texts(&version.validate_create(&object, &options())),
        [
            "kind: Invalid value: \"Bar\": must be Foo",
            "apiVersion: Invalid value: \"example.com/v2\": must be example.com/v1",
            "spec.e.apiVersion: Required value",
            "spec.e.kind: Required value",
            "spec.l[1]: Duplicate value: \"x\"",
        ]
    );
}

/// RP-41: the order of a create; VV-64, VV-65: its message.
#[test]
fn create() {
    let scale =
        json!({"scale": {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"}});
    let version = version(schema(), scale, "Cluster");
    let object =
        foo(json!({"spec": {"a": "long", "n": -1, "e": {}, "l": ["x", "x"]}, "status": {}}));
    let validation = version.validate_create(&object, &options());
    assert_eq!(validation.verdict(), Verdict::Invalid);
    let expected = [
        "metadata.namespace: Forbidden: not allowed on this type",
        "spec.a: Too long: may not be more than 1 byte",
        ".spec.n: Invalid value: -1: should be a non-negative integer",
        "spec.e.apiVersion: Required value",
        "spec.e.kind: Required value",
        "spec.l[1]: Duplicate value: \"x\"",
    ];
    assert_eq!(texts(&validation), expected);
    let message = validation.status_message().unwrap();
    assert_eq!(message, format!("Foo.example.com \"x\" is invalid: [{}]", expected.join(", ")));
}

/// RP-45, RP-46: what is prepared before a create. Fields that only the server writes are removed
/// from a body, but stay where a later step sets them.
#[test]
fn preparation_of_a_create() {
    let version = version(schema(), json!({"status": {}}), "Namespaced");
    let mut object = foo(json!({"status": {"a": "z"}}));
    object["metadata"] = json!({"name": "x", "uid": "u", "selfLink": "s", "generation": 7,
        "creationTimestamp": "2020-01-01T00:00:00Z", "deletionTimestamp": "2020-01-01T00:00:00Z",
        "deletionGracePeriodSeconds": 3, "resourceVersion": "5"});
    let mut admitted = object.clone();
    version.prepare_create(&mut admitted, "ns");
    assert_eq!(admitted["metadata"]["deletionTimestamp"], "2020-01-01T00:00:00Z");
    billhook::remove_server_fields(&mut object);
    version.prepare_create(&mut object, "ns");
    assert_eq!(
        object,
        json!({"apiVersion": "example.com/v1", "kind": "Foo", "metadata":
        {"name": "x", "namespace": "ns", "generation": 1, "resourceVersion": "5"}})
    );
    assert_eq!(texts(&version.validate_create(&object, &options())), ["status: Required value"]);
}

/// RP-45: what is prepared before an update.
#[test]
fn preparation_of_an_update() {
    let with_status = version(schema(), json!({"status": {}}), "Namespaced");
    let without_status = version(schema(), json!({}), "Namespaced");
    let mut old = foo(json!({"spec": {"a": "1"}, "status": {"a": "z"}}));
    old["metadata"]["generation"] = json!(4);
    for (version, new_spec, status, generation) in
        [(&with_status, "1", "z", 4), (&with_status, "2", "z", 5), (&without_status, "1", "new", 5)]
    {
        let mut object = foo(json!({"spec": {"a": new_spec}, "status": {"a": "new"}}));
        object["metadata"]["generation"] = json!(90);
        version.prepare_update(&mut object, &old);
        assert_eq!(object["status"]["a"], status);
        assert_eq!(object["metadata"]["generation"], generation);
    }
    let mut object = foo(json!({"status": {"a": "new"}}));
    with_status.prepare_update(&mut object, &foo(json!({})));
    assert_eq!(object.get("status"), None);
}

/// RP-70: what is prepared before an update of the status.
#[test]
fn preparation_of_a_status_update() {
    let version = version(schema(), json!({"status": {}}), "Namespaced");
    let mut old = foo(json!({"spec": {"a": "1"}, "status": {"a": "z"}}));
    old["metadata"]["managedFields"] = json!([{"manager": "m"}]);
    let mut object = foo(json!({"spec": {"a": "2"}, "status": {"a": "new"}}));
    object["metadata"]["labels"] = json!({"a": "b"});
    version.prepare_status_update(&mut object, &old);
    assert_eq!(object, foo(json!({"spec": {"a": "1"}, "status": {"a": "new"}})));
    let mut object = foo(json!({}));
    version.prepare_status_update(&mut object, &old);
    assert_eq!(object, foo(json!({"spec": {"a": "1"}})));

    // What equals the old value in another notation is the old value.
    for (old, new) in [(json!(0.0), json!(-0.0)), (json!(7), json!(7.0)), (json!(7.0), json!(7))] {
        let with = |size: &Value| foo(json!({"spec": {"sizes": [size]}}));
        let mut object = with(&new);
        version.prepare_status_update(&mut object, &with(&old));
        assert_eq!(object["spec"].to_string(), with(&old)["spec"].to_string());
    }
}

/// RP-42, VV-80, RP-43, OM-41: an update forgives what has not changed, and the checks for objects
/// of any kind come first.
#[test]
fn update() {
    let version = version(schema(), json!({}), "Namespaced");
    let old = foo(json!({"spec": {"a": "long", "l": ["x"]}, "status": {}}));
    let new = foo(json!({"spec": {"a": "long", "l": ["x", "x"]}, "status": {}}));
    assert_eq!(
        texts(&version.validate_update(&new, &old, &options())),
        ["spec.l[1]: Duplicate value: \"x\"",]
    );
    let old = foo(json!({"spec": {"a": "long"}, "status": {"l": ["x", "x"]}}));
    assert_eq!(version.validate_update(&new, &old, &options()).verdict(), Verdict::Valid);

    let mut new = new;
    new["metadata"] = json!({"name": "y", "namespace": "ns", "resourceVersion": "1"});
    let changed = "metadata.name: Invalid value: \"y\": field is immutable";
    let validation = version.validate_update(&new, &old, &options());
    assert_eq!(texts(&validation), [changed, changed]);
    assert_eq!(
        validation.status_message().unwrap(),
        format!("Foo.example.com \"y\" is invalid: {changed}")
    );
    let resource_only = options().generic_checks(false);
    assert_eq!(texts(&version.validate_update(&new, &old, &resource_only)), [changed]);
}

/// RP-70 to RP-72, VV-84: an update of the status looks at the status alone.
#[test]
fn status_update() {
    let version = version(schema(), json!({"status": {}}), "Namespaced");
    let old = foo(json!({"spec": {"a": "long", "e": {}}, "status": {"a": "x", "kind": "K"}}));
    let status = |status: Value| foo(json!({"spec": {"a": "long", "e": {}}, "status": status}));
    for (object, expected) in [
        (status(json!({"a": "x", "kind": "X"})), &[][..]),
        (status(json!({"a": "x", "kind": "K"})), &[]),
        (
            status(json!({"a": "xx", "kind": "K"})),
            &[
                "status.a: Invalid value: \"xx\": a in body should match '^z'",
                "status.kind: Unsupported value: \"K\": supported values: \"X\"",
            ],
        ),
        (
            status(json!("s")),
            &[
                "status: Invalid value: \"string\":  in body must be of type object: \"string\"",
                "status: Invalid value: \"\": \"\" must not validate the schema (not)",
            ],
        ),
        (status(json!({"l": ["a", "a"]})), &["status.l[1]: Duplicate value: \"a\""]),
        (foo(json!({"spec": {"a": "long", "e": {}}})), &[]),
    ] {
        let validation = version.validate_status_update(&object, &old, &options());
        assert_eq!(texts(&validation), expected, "{object}");
    }
}

/// RP-75.
#[test]
fn scale() {
    let scale = json!({"scale": {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.x.n",
        "labelSelectorPath": ".status.s"}});
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let version = version(schema, scale, "Namespaced");
    for (members, expected) in [
        (json!({}), vec![]),
        (json!({"spec": {"n": 2147483647}, "status": {"x": {"n": 0}, "s": ""}}), vec![]),
        (
            json!({"spec": {"n": 2147483648_i64}}),
            vec![".spec.n: Invalid value: 2147483648: should be less than or equal to 2147483647"],
        ),
        (
            json!({"spec": {"n": 1.0}}),
            vec![
                ".spec.n: Invalid value: 0: .spec.n accessor error: 1 is of the type float64, \
                expected int64",
            ],
        ),
        (
            json!({"spec": 5}),
            vec![
                ".spec.n: Invalid value: 0: .spec.n accessor error: 5 is of the type int64, \
                expected map[string]interface{}",
            ],
        ),
        (
            json!({"status": {"x": {"n": {"b": [1, null], "a": true}}, "s": ["x"]}}),
            vec![
                ".status.x.n: Invalid value: 0: .status.x.n accessor error: map[a:true b:[1 <nil>]] \
                 is of the type map[string]interface {}, expected int64",
                ".status.s: Invalid value: \"\": .status.s accessor error: [x] is of the type \
                 []interface {}, expected string",
            ],
        ),
        (
            json!({"status": {"x": "y"}}),
            vec![
                ".status.x.n: Invalid value: 0: .status.x.n accessor error: y is of the type \
                string, expected map[string]interface{}",
            ],
        ),
    ] {
        let object = foo(members);
        assert_eq!(texts(&version.validate_create(&object, &options())), expected, "{object}");
    }
    // The replicas of the spec belong to the main resource.
    let bad = foo(json!({"spec": {"n": -1}, "status": {"x": {"n": -1}}}));
    assert_eq!(
        texts(&version.validate_status_update(&bad, &bad, &options())),
        [".status.x.n: Invalid value: -1: should be a non-negative integer",]
    );
}

/// RP-44: some errors block rules in CEL; others don't.
#[test]
fn rules() {
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "required": ["a"], "properties": {
            "a": {"type": "integer", "minimum": 1,
                "x-kubernetes-validations": [{"rule": "self > 0"}, {"rule": "self == oldSelf"}]},
        }},
    }});
    let version = version(schema, json!({}), "Namespaced");
    let blocked = "<nil>: Invalid value: null: some validation rules were not checked because the \
        object was invalid; correct the existing errors to complete validation";

    let validation = version.validate_create(&foo(json!({"spec": {}})), &options());
    assert_eq!(texts(&validation), ["spec.a: Required value", blocked]);

    let below = foo(json!({"spec": {"a": 0}}));
    let validation = version.validate_create(&below, &options());
    assert_eq!(
        texts(&validation),
        [
            "spec.a: Invalid value: 0: spec.a in body should be greater than or equal to 1",
            "spec.a: Invalid value: 0: failed rule: self > 0",
        ]
    );
    assert_eq!(validation.verdict(), Verdict::Invalid);

    let fine = foo(json!({"spec": {"a": 1}}));
    let validation = version.validate_create(&fine, &options());
    assert_eq!(validation.verdict(), Verdict::Valid);
    assert_eq!(validation.status_message(), None);
    let validation = version.validate_update(&fine, &below, &options());
    assert_eq!(texts(&validation), ["spec.a: Invalid value: 1: failed rule: self == oldSelf"]);

    let nothing = foo(json!({}));
    assert_eq!(version.validate_create(&nothing, &options()).verdict(), Verdict::Valid);
}

/// OM-60: warnings about finalizers, not for the status.
#[test]
fn warnings() {
    let version = version(json!({"type": "object"}), json!({"status": {}}), "Namespaced");
    let old = foo(json!({}));
    let mut object = foo(json!({}));
    object["metadata"]["finalizers"] = json!(["foo"]);
    assert_eq!(version.validate_create(&object, &options()).warnings().len(), 1);
    assert_eq!(version.validate_update(&object, &old, &options()).warnings().len(), 1);
    assert_eq!(version.validate_update(&object, &object, &options()).warnings().len(), 0);
    assert_eq!(version.validate_status_update(&object, &old, &options()).warnings().len(), 0);
}

/// Metadata that decoding would have refused is read field by field.
#[test]
fn metadata_of_wrong_types() {
    let version = version(json!({"type": "object"}), json!({}), "Namespaced");
    let mut object = foo(json!({}));
    object["metadata"]["labels"] = json!(["a"]);
    object["metadata"]["ownerReferences"] =
        json!([{"apiVersion": "v1", "kind": "K", "name": "n", "uid": 1, "controller": "yes"}]);
    assert_eq!(
        texts(&version.validate_create(&object, &options())),
        ["metadata.ownerReferences.uid: Invalid value: \"\": must not be empty",]
    );
    object["metadata"] = json!("x");
    assert_eq!(
        texts(&version.validate_create(&object, &options())),
        [
            "metadata.name: Required value: name or generateName is required",
            "metadata.namespace: Required value",
        ]
    );
}

/// Old definitions that preserve unknown fields may have schemas that are not structural.
#[test]
fn a_schema_that_is_not_structural() {
    let crd = CustomResourceDefinition::from_value(&json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "spec": {
            "group": "example.com", "scope": "Namespaced", "preserveUnknownFields": true,
            "names": {"plural": "foos", "kind": "Foo"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema":
                {"openAPIV3Schema": {"id": "x", "properties": {"a": {"maxLength": 1},
                    "l": {"x-kubernetes-list-type": "set"}}}}}],
        },
    }));
    let version = crd.unwrap().version("v1").unwrap();
    let object = foo(json!({"a": "long", "l": [1, 1]}));
    assert_eq!(
        texts(&version.validate_create(&object, &options())),
        ["a: Too long: may not be more than 1 byte",]
    );
}

/// As deep as objects may be, on a stack of 2 MiB: whatever is valid, invalid or printed.
#[test]
fn deep_objects() {
    let test = || {
        let schema = json!({"type": "object", "properties": {
            "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": true,
                "enum": [{"x": 1}], "not": {"required": ["a"]}},
            "status": {"x-kubernetes-preserve-unknown-fields": true, "type": "string"},
        }});
        let scale = json!({"status": {}, "scale": {"specReplicasPath": ".spec", "statusReplicasPath": ".status"}});
        let version = version(schema, scale, "Namespaced");
        let text = format!(
            r#"{{"apiVersion":"example.com/v1","kind":"Foo","metadata":{{"name":"x"}},"spec":{0}1{1},"status":{0}1{1}}}"#,
            r#"{"a":"#.repeat(9_990),
            "}".repeat(9_990)
        );
        let decoded = version.decode(text.as_bytes(), &billhook::DecodeOptions::default()).unwrap();
        let decoded = decoded.into_object();
        for (mut object, write) in
            [(decoded.clone(), 0), (decoded.clone(), 1), (decoded.clone(), 2)]
        {
            let validation = match write {
                0 => {
                    version.prepare_create(&mut object, "ns");
                    version.validate_create(&object, &options())
                }
                1 => {
                    version.prepare_update(&mut object, &decoded);
                    version.validate_update(&object, &decoded, &options())
                }
                _ => {
                    version.prepare_status_update(&mut object, &decoded);
                    version.validate_status_update(&object, &decoded, &options())
                }
            };
            assert_eq!(validation.verdict(), Verdict::Invalid);
            assert!(validation.status_message().unwrap().len() > 9_990);
            assert!(validation.clone() == validation);
        }
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(test).unwrap().join().unwrap();
}
