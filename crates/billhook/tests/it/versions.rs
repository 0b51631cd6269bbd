//! Objects and webhook configurations for servers of other versions (KV-01 to KV-91).

use billhook::webhook::{ValidationOptions, WebhookConfiguration};
use billhook::{
    CrdOptions, CrdVersion, CustomResourceDefinition, DecodeOptions, FieldManagement,
    KubernetesVersion, Time, ValidateOptions, Validation, to_json,
};
use serde_json::{Value, json};

fn version(kubernetes: KubernetesVersion, schema: &Value) -> CrdVersion {
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "foos", "kind": "Foo"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": schema}, "subresources": {"status": {}}}],
        },
    });
    let options = CrdOptions::default().kubernetes(kubernetes);
    let crd = CustomResourceDefinition::with_options(&definition, &options).unwrap();
    assert_eq!(crd.kubernetes(), kubernetes);
    crd.version("v1").unwrap()
}

fn texts(validation: &Validation) -> Vec<String> {
    validation.errors().iter().map(ToString::to_string).collect()
}

/// KV-01: the time that is not set, in metadata of the object and of one in it.
#[test]
fn unset_times_are_written_up_to_1_33() {
    let schema = json!({"type": "object", "properties": {"e": {"type": "object",
        "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true}}});
    let body = br#"{"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"x"}}"#;
    for kubernetes in KubernetesVersion::ALL {
        let version = version(kubernetes, &schema);
        let decoded = version.decode(body, &DecodeOptions::default()).unwrap();
        let metadata = match kubernetes < KubernetesVersion::V1_34 {
            true => r#"{"creationTimestamp":null,"name":"x"}"#,
            false => r#"{"name":"x"}"#,
        };
        let expected =
            format!(r#"{{"apiVersion":"example.com/v1","kind":"Foo","metadata":{metadata}}}"#);
        assert_eq!(to_json(decoded.object()), expected, "{kubernetes}");
    }
}

/// KV-80: values and rules that were wrong before and have not changed.
#[test]
fn the_status_ratchets_since_1_33() {
    let schema = json!({"type": "object", "properties": {
    "spec": {"type": "object", "properties": {"a": {"type": "string", "pattern": "^.$"}}},
    "status": {"type": "object", "properties": {
        "a": {"type": "string", "pattern": "^.$"},
        "b": {"type": "string"},
        "c": {"type": "integer", "x-kubernetes-validations": [{"rule": "self > 0"}]},
        "l": {"type": "array", "x-kubernetes-list-type": "set",
            "items": {"type": "string"}},
    }}}});
    let object = |part: &str, changed: &str| {
        json!({"apiVersion": "example.com/v1", "kind": "Foo",
            "metadata": {"name": "x", "namespace": "ns", "resourceVersion": "1"},
            part: {"a": "long", "b": changed}})
    };
    let options = ValidateOptions::default();
    for kubernetes in KubernetesVersion::ALL {
        let version = version(kubernetes, &schema);
        let is_strict = kubernetes == KubernetesVersion::V1_32;

        let status = |member: &str, value: Value| {
            let (mut new, mut old) = (object("status", "new"), object("status", "old"));
            for object in [&mut new, &mut old] {
                object["status"]["a"] = json!("x");
                object["status"][member] = value.clone();
            }
            texts(&version.validate_status_update(&new, &old, &options))
        };
        let values = status("a", json!("long"));
        assert_eq!(values.len(), usize::from(is_strict), "{kubernetes}: {values:?}");
        let rules = status("c", json!(0));
        assert_eq!(rules.len(), usize::from(is_strict), "{kubernetes}: {rules:?}");
        let lists = status("l", json!(["x", "x"]));
        assert!(lists.is_empty(), "{kubernetes}: {lists:?}");

        let (new, old) = (object("spec", "new"), object("spec", "old"));
        let main = texts(&version.validate_update(&new, &old, &options));
        assert!(main.is_empty(), "{kubernetes}: {main:?}");
    }
}

/// KV-10, KV-11, KV-14, KV-60: texts of one object.
#[test]
fn texts_differ() {
    let schema = json!({"type": "object", "properties": {
        "e": {"enum": ["x"], "x-kubernetes-preserve-unknown-fields": true},
        "s": {"type": "string", "maxLength": 1},
        "i": {"type": "integer", "maximum": 2.5},
    }});
    let object = json!({"apiVersion": "example.com/v1", "kind": "Foo",
        "metadata": {"name": "x", "namespace": "ns", "labels": {"a/b/c": "x"}},
        "e": {"a": [1.5]}, "s": "long", "i": 3});
    for kubernetes in KubernetesVersion::ALL {
        let validation =
            version(kubernetes, &schema).validate_create(&object, &ValidateOptions::default());
        let found = texts(&validation).join("\n");
        let contains = |text: &str| assert!(found.contains(text), "{kubernetes}: {text}\n{found}");
        match kubernetes < KubernetesVersion::V1_34 {
            true => {
                contains(
                    r#"e: Unsupported value: map[string]interface {}{"a":[]interface {}{1.5}}"#,
                );
                contains("s: Too long: may not be more than 1 bytes");
            }
            false => {
                contains(r#"e: Unsupported value: {"a":[1.5]}"#);
                contains("s: Too long: may not be more than 1 byte");
            }
        }
        contains(match kubernetes < KubernetesVersion::V1_35 {
            true => "a qualified name must consist of",
            false => "a valid label key must consist of",
        });
        contains(match kubernetes < KubernetesVersion::V1_36 {
            true => "i in body should be less than or equal to 2",
            false => "Maximum boundary value must be of type integer (default format) in i",
        });
    }
}

/// KV-30, WCF-76, WCF-94: the match conditions of a configuration, new and stored.
#[test]
fn conditions_of_configurations() {
    let configuration = |kubernetes, condition: &str| {
        let condition = json!({"name": condition, "expression": "semver('1.2.3').major() == 1"});
        let document = json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": "x", "resourceVersion": "1"},
            "webhooks": [{
                "name": "hook.example.com",
                "clientConfig": {"url": "https://hook.example.com/"},
                "sideEffects": "None",
                "admissionReviewVersions": ["v1"],
                "matchConditions": [condition],
            }],
        });
        WebhookConfiguration::from_value(&document).unwrap().kubernetes(kubernetes)
    };
    for kubernetes in KubernetesVersion::ALL {
        let new = configuration(kubernetes, "new");
        let refused = new.validate();
        let expected = kubernetes >= KubernetesVersion::V1_34;
        assert_eq!(refused.is_empty(), expected, "{kubernetes}: {refused:?}");
        let stored = configuration(kubernetes, "stored");
        let refused = new.validate_with(&ValidationOptions::default().stored(&stored));
        let expected = kubernetes >= KubernetesVersion::V1_33;
        assert_eq!(refused.is_empty(), expected, "{kubernetes}: {refused:?}");
    }
}

/// KV-83: whose labels they are after an apply to the status.
#[test]
fn metadata_is_not_reset_by_a_status_write_up_to_1_35() {
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {"a": {"type": "string"}}},
        "status": {"type": "object", "properties": {"s": {"type": "string"}}}}});
    let object = json!({"apiVersion": "example.com/v1", "kind": "Foo",
        "metadata": {"name": "x", "labels": {"a": "b"}},
        "spec": {"a": "1"}, "status": {"s": "1"}});
    let now = Time::parse("2026-01-01T00:00:00Z").unwrap();
    for kubernetes in KubernetesVersion::ALL {
        let version = version(kubernetes, &schema);
        let fields = FieldManagement::new(&version, "m", now).subresource("status");
        let applied = fields.apply(&object, None, false).unwrap();
        let owned = &applied["metadata"]["managedFields"][0]["fieldsV1"];
        let expected = match kubernetes >= KubernetesVersion::V1_36 {
            true => json!({"f:status": {"f:s": {}}}),
            false => json!({"f:metadata": {"f:labels": {"f:a": {}}}, "f:status": {"f:s": {}}}),
        };
        assert_eq!(*owned, expected, "{kubernetes}");
    }
}

/// KV-83: whether a version other than that of the request resets anything.
#[test]
fn all_versions_are_reset_since_1_35() {
    let schema = json!({"openAPIV3Schema": {"type": "object", "properties": {
        "spec": {"type": "object", "properties": {"a": {"type": "string"}}},
        "status": {"type": "object", "properties": {"s": {"type": "string"}}}}}});
    let of_version = |name: &str, is_stored: bool| {
        json!({"name": name, "served": true, "storage": is_stored, "schema": schema,
            "subresources": {"status": {}}})
    };
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "spec": {"group": "example.com", "scope": "Namespaced",
            "names": {"plural": "foos", "kind": "Foo"},
            "versions": [of_version("v1", true), of_version("v2", false)]},
    });
    let now = Time::parse("2026-01-01T00:00:00Z").unwrap();
    let object = |version: &str, a: &str, s: &str| {
        json!({"apiVersion": format!("example.com/{version}"), "kind": "Foo",
            "metadata": {"name": "x"}, "spec": {"a": a}, "status": {"s": s}})
    };
    for kubernetes in KubernetesVersion::ALL {
        let options = CrdOptions::default().kubernetes(kubernetes);
        let crd = CustomResourceDefinition::with_options(&definition, &options).unwrap();
        let (v1, v2) = (crd.version("v1").unwrap(), crd.version("v2").unwrap());
        let configuration = json!({"apiVersion": "example.com/v2", "kind": "Foo",
            "metadata": {"name": "x"}, "spec": {"a": "1"}});
        let live = FieldManagement::new(&v2, "other", now);
        let live = live.apply(&configuration, None, false).unwrap();
        let of_status = FieldManagement::new(&v1, "m", now).subresource("status");
        let mut written = object("v1", "2", "1");
        of_status.track(&mut written, Some(&mut live.clone()));
        let entries = written["metadata"]["managedFields"].as_array().unwrap();
        let keeps = entries.iter().any(|entry| entry["manager"] == "other");
        assert_eq!(keeps, kubernetes >= KubernetesVersion::V1_35, "{kubernetes}: {entries:?}");
    }
}

/// KV-84: an element that omits some of its keys, or all.
#[test]
fn elements_need_all_keys_up_to_1_33() {
    let schema = json!({"type": "object", "properties": {"l": {"type": "array",
        "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port", "name", "p"],
        "items": {"type": "object", "required": ["port", "name"], "properties": {
            "name": {"type": "string"}, "port": {"type": "integer"},
            "p": {"type": "string", "default": "TCP"}}}}}});
    let with_default = json!({"name": "a", "port": 1});
    for kubernetes in KubernetesVersion::ALL {
        let version = version(kubernetes, &schema);
        let check = |element: &Value| {
            let object = json!({"apiVersion": "example.com/v1", "kind": "Foo", "l": [element]});
            version.field_set(&object).map(drop).map_err(|error| error.to_string())
        };
        assert_eq!(check(&with_default), Ok(()), "{kubernetes}");
        let omits = |key: &str| {
            let text = "associative list with keys has an element that omits key field";
            let error = format!(".l: element 0: {text} \"{key}\" (and doesn't have default value)");
            if kubernetes < KubernetesVersion::V1_34 { Err(error) } else { Ok(()) }
        };
        assert_eq!(check(&json!({"name": "a"})), omits("port"), "{kubernetes}");
        assert_eq!(check(&json!({"port": 1})), omits("name"), "{kubernetes}");
        assert_eq!(check(&json!({})), omits("port"), "{kubernetes}");
    }
}
