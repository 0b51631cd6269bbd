//! Validation of new definitions: the examples of the specification (CV-T…), and rules
//! that have none.

use billhook_apimachinery::KubernetesVersion;
use billhook_definition::{Definition, DefinitionError};
use billhook_testing::definitions::{base, with_schema};
use serde_json::{Value, json};

use crate::support::{create, errors, refusal};

/// The definition of an example: the base with the parts replaced that it names.
pub(crate) fn changed(change: &Value) -> Value {
    let mut definition = base();
    for (name, value) in change.as_object().unwrap() {
        match name.as_str() {
            "metadata" => definition["metadata"] = value.clone(),
            "schema" => {
                definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = value.clone();
            }
            "version" => {
                for (name, value) in value.as_object().unwrap() {
                    definition["spec"]["versions"][0][name] = value.clone();
                }
            }
            name => definition["spec"][name] = value.clone(),
        }
    }
    definition
}

#[test]
fn examples_of_the_specification() {
    let mut count = 0;
    for line in include_str!("../data/crd_examples.jsonl").lines() {
        let example: Value = serde_json::from_str(line).unwrap();
        let mut actual = errors(&create(&changed(&example["change"])));
        let mut expected: Vec<String> = serde_json::from_value(example["errors"].clone()).unwrap();
        actual.sort();
        expected.sort();
        assert_eq!(actual, expected, "{}", example["id"]);
        count += 1;
    }
    assert_eq!(count, 77);
}

/// One change to the base, and all that is said of it.
fn check(change: &Value, expected: &[&str]) {
    assert_eq!(errors(&create(&changed(change))), expected, "{change}");
}

/// CV-01: names that follow from the kind, and what a missing conversion is.
#[test]
fn defaults_of_a_definition() {
    check(&json!({"names": {"plural": "foos", "kind": "Foo"}}), &[]);
    check(&json!({"conversion": null}), &[]);
    let service = json!({"name": "a", "namespace": "b"});
    let webhook = json!({"conversionReviewVersions": ["v1"], "clientConfig": {"service": service}});
    check(&json!({"conversion": {"strategy": "Webhook", "webhook": webhook}}), &[]);
}

/// CV-02: a status is not taken from the request.
#[test]
fn the_status_of_a_request_is_ignored() {
    let mut definition = base();
    definition["status"] = json!({
        "storedVersions": ["v7"],
        "acceptedNames": {"plural": "UPPER"},
        "conditions": [{"type": "Established", "status": "True"}],
    });
    assert!(create(&definition).errors().is_empty());
}

/// CV-05: what differs between versions is reported there.
#[test]
fn where_errors_are_reported() {
    let version = |name: &str, storage: bool, spec: Value| {
        json!({"name": name, "served": true, "storage": storage,
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}},
            "additionalPrinterColumns": [{"name": "", "type": "date", "jsonPath": ".a"}]})
    };
    let bad = json!({"type": "array"});
    check(
        &json!({"versions": [version("v1", true, bad.clone()), version("v2", false, bad.clone())]}),
        &[
            "spec.validation.openAPIV3Schema.properties[spec].items: Required value: must be specified",
            "spec.additionalPrinterColumns[0].name: Required value",
        ],
    );
    let other = json!({"type": "array", "description": "d"});
    check(
        &json!({"versions": [version("v1", true, bad.clone()), version("v2", false, other)]}),
        &[
            "spec.versions[0].schema.openAPIV3Schema.properties[spec].items: Required value: must be specified",
            "spec.versions[1].schema.openAPIV3Schema.properties[spec].items: Required value: must be specified",
            "spec.additionalPrinterColumns[0].name: Required value",
        ],
    );
    // Large numbers that are the same as floats are still different.
    let long = |max: i64| json!({"type": "array", "maxItems": max});
    let versions = [version("v1", true, long(i64::MAX)), version("v2", false, long(i64::MAX - 1))];
    assert_eq!(create(&changed(&json!({"versions": versions}))).errors().len(), 3);
    // Keywords that the server doesn't know, nulls and empty lists make no difference.
    let same = json!({"type": "array", "items": null, "allOf": [], "const": 1});
    check(
        &json!({"versions": [version("v1", true, bad), version("v2", false, same)]}),
        &[
            "spec.validation.openAPIV3Schema.properties[spec].items: Required value: must be specified",
            "spec.additionalPrinterColumns[0].name: Required value",
        ],
    );
}

/// CV-06: the versions as they are printed.
#[test]
fn internal_form() {
    check(
        &json!({"versions": [{"name": "v1", "served": true, "schema": {"openAPIV3Schema": {"type": "object"}}}]}),
        &[
            "spec.versions: Invalid value: [{\"Name\":\"v1\",\"Served\":true,\"Storage\":false,\"Deprecated\":false,\"DeprecationWarning\":null,\"Schema\":null,\"Subresources\":null,\"AdditionalPrinterColumns\":null,\"SelectableFields\":null}]: must have exactly one version marked as storage version",
            "status.storedVersions: Invalid value: null: must have at least one stored version",
        ],
    );
    let schema = json!({"type": "object", "enum": [{}], "properties": {"a": {"type": "array",
        "items": {"type": "string"}, "maxItems": 2, "default": ["<"], "x-kubernetes-list-type": "set"}}});
    let verdict = create(&changed(&json!({
        "schema": schema, "version": {"subresources": {"status": {}}},
    })));
    // `version` comes after `schema`, which stays.
    let [error] = verdict.errors() else { panic!("{:?}", errors(&verdict)) };
    assert_eq!(error.field().to_string(), "spec.validation.openAPIV3Schema");
    assert_eq!(error.bad_value().unwrap()["Properties"]["a"]["Items"]["Schema"]["Type"], "string");
    let text = error.to_string();
    assert!(text.contains(r#""Default":["\u003c"],"Maximum":null"#), "{text}");
    assert!(text.contains(r#""Enum":[{}],"MaxProperties":null"#), "{text}");
    assert!(text.contains(r#""XListType":"set","XMapType":null,"XValidations":null"#), "{text}");
}

/// CV-13.
#[test]
fn approval_of_protected_groups() {
    let protected = |annotation: &str| {
        json!({"group": "a.kubernetes.io", "metadata": {"name": "foos.a.kubernetes.io",
            "annotations": {"api-approved.kubernetes.io": annotation}}})
    };
    for approved in ["https://example.com/1", "http://x", "unapproved"] {
        check(&protected(approved), &[]);
    }
    let end = "see https://github.com/kubernetes/enhancements/pull/1111";
    for (annotation, value) in
        [("example.com/1", "\"example.com/1\""), ("https:///x", "\"https:///x\"")]
    {
        let expected = format!(
            "metadata.annotations[api-approved.kubernetes.io]: Invalid value: {value}: protected groups must have approval annotation \"api-approved.kubernetes.io\" with either a URL or a reason starting with \"unapproved\", {end}"
        );
        check(&protected(annotation), &[&expected]);
    }
    check(&json!({"group": "xk8s.io", "metadata": {"name": "foos.xk8s.io"}}), &[]);
}

/// CV-14, CV-26, CV-105.
#[test]
fn definitions_that_preserve_unknown_fields() {
    let preserve = "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
    let schema = json!({"type": "object", "properties": {"a": {"type": "string", "default": "x"}}});
    check(
        &json!({"preserveUnknownFields": true, "schema": schema}),
        &[
            "spec.preserveUnknownFields: Invalid value: true: must be false in order to use defaults in the schema",
            preserve,
        ],
    );
    check(
        &json!({"preserveUnknownFields": true, "conversion": {"strategy": "Webhook", "webhook": {
            "clientConfig": {"url": "https://x"}, "conversionReviewVersions": ["v1"],
        }}}),
        &[
            "spec.conversion.strategy: Invalid value: \"Webhook\": must be None if spec.preserveUnknownFields is true",
            preserve,
        ],
    );
}

/// CV-31.
#[test]
fn deprecation_warnings() {
    let with =
        |warning: &str| json!({"version": {"deprecated": true, "deprecationWarning": warning}});
    check(&with("use v2"), &[]);
    check(&with(&"x".repeat(256)), &[]);
    let path = "spec.versions[0].deprecationWarning: Invalid value";
    let long = "é".repeat(129);
    check(&with(&long), &[&format!("{path}: \"{long}\": must be <= 256 characters long")]);
    check(
        &with("é\u{7}\n"),
        &[&format!(
            "{path}: \"é\\u0007\\n\": must only contain printable UTF-8 characters; non-printable character found at index 2"
        )],
    );
}

/// CV-41: what is set is looked at in the order of CV-06, and only the first is reported.
#[test]
fn roots_beside_a_status_subresource() {
    let with = |schema: Value| {
        let mut definition = with_schema(schema);
        definition["spec"]["versions"][0]["subresources"] = json!({"status": {}});
        errors(&create(&definition))
    };
    assert!(with(json!({
        "type": "object", "description": "d", "title": "t", "format": "f", "required": ["spec"],
        "properties": {"spec": {"type": "object"}}, "nullable": false, "default": null,
        "x-kubernetes-preserve-unknown-fields": true, "externalDocs": {"url": "x"}, "example": 1,
    })).is_empty());
    for keyword in [
        json!({"nullable": true}),
        json!({"allOf": []}),
        json!({"enum": []}),
        json!({"minProperties": 0}),
        json!({"x-kubernetes-map-type": "atomic"}),
        json!({"not": {}}),
    ] {
        let mut schema = json!({"type": "object"});
        schema.as_object_mut().unwrap().extend(keyword.as_object().unwrap().clone());
        let errors = with(schema);
        let start = "spec.validation.openAPIV3Schema: Invalid value: {\"ID\":\"\",";
        assert!(errors[0].starts_with(start), "{keyword}: {errors:?}");
        assert!(errors[0].contains("only [Description Type Format Title Maximum "));
    }
}

/// CV-44: a schema that has no structural form is reported if nothing else is.
#[test]
fn schemas_without_a_structural_form() {
    let check = |schema: &Value, expected: &[&str]| {
        assert_eq!(errors(&create(&with_schema(schema.clone()))), expected);
    };
    check(
        &json!({"type": "object", "$schema": "x"}),
        &[
            "spec.validation.openAPIV3Schema: Invalid value: \"\": OpenAPIV3Schema 'schema' is not supported",
        ],
    );
    check(
        &json!({"type": "object", "$schema": "x", "id": "y", "properties": {"a": {}}}),
        &["spec.validation.openAPIV3Schema.id: Forbidden: id is not supported"],
    );
    // Unsupported however empty it is.
    check(
        &json!({"type": "object", "dependencies": {}}),
        &["spec.validation.openAPIV3Schema.dependencies: Forbidden: dependencies is not supported"],
    );
}

/// CV-46, CV-50: every place that may hold a schema is visited.
#[test]
fn all_nodes_are_visited() {
    let bad = json!({"type": "bad"});
    let schema = json!({
        "type": "object",
        "properties": {"a": bad, "b": {"type": "object", "additionalProperties": bad}},
        "not": bad, "allOf": [bad], "oneOf": [bad], "anyOf": [bad], "definitions": {"d": bad},
        "items": [bad], "dependencies": {"e": bad, "f": ["g"]},
    });
    let found = errors(&create(&with_schema(schema)));
    let types: Vec<&str> = found
        .iter()
        .filter_map(|error| error.strip_suffix(": Unsupported value: \"bad\": supported values: \"array\", \"boolean\", \"integer\", \"number\", \"object\", \"string\""))
        .filter_map(|error| error.strip_prefix("spec.validation.openAPIV3Schema."))
        .collect();
    assert_eq!(
        types,
        [
            "properties[a].type",
            "properties[b].additionalProperties.type",
            "not.type",
            "allOf[0].type",
            "oneOf[0].type",
            "anyOf[0].type",
            "definitions[d].type",
            "items[0].type",
            "dependencies[e].type",
        ]
    );
}

/// CV-48, CV-49.
#[test]
fn defaults_in_metadata() {
    let string = json!({"type": "string", "default": "x"});
    let metadata = json!({"type": "object", "properties": {"labels": {
        "type": "object", "additionalProperties": string,
    }, "name": string}});
    let resource = json!({"type": "object", "x-kubernetes-embedded-resource": true,
        "properties": {"metadata": metadata, "kind": string, "apiVersion": {"type": "string"}}});
    let found = errors(&create(&with_schema(json!({
        "type": "object", "properties": {"e": resource, "metadata": metadata},
    }))));
    let found: Vec<_> = found.iter().filter(|error| error.contains("must not be set")).collect();
    let path = "spec.validation.openAPIV3Schema.properties";
    assert_eq!(
        found,
        [
            &format!(
                "{path}[e].properties[metadata].properties[labels].additionalProperties.default: Forbidden: must not be set inside additionalProperties applying to object metadata"
            ),
            &format!(
                "{path}[metadata].properties[labels].additionalProperties.default: Forbidden: must not be set inside additionalProperties applying to object metadata"
            ),
            &format!(
                "{path}[metadata].properties[name].default: Forbidden: must not be set in top-level metadata"
            ),
        ]
    );
}

/// CE-15, CV-104.
#[test]
fn paths_of_selectable_fields() {
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {"a": {"type": "string"}, "a-b": {"type": "boolean"}}},
        "m": {"type": "object", "additionalProperties": {"type": "integer"}},
        "f": {"type": "object", "additionalProperties": true},
        "metadata": {"type": "object", "properties": {"name": {"type": "string"}}},
    }});
    let path = "spec.selectableFields[0].jsonPath: Invalid value";
    let invalid = |text: &str, detail: &str| {
        vec![format!("{path}: \"{text}\": is an invalid path: {detail}")]
    };
    let no_type = "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.";
    for (written, expected) in [
        (".spec.a", vec![]),
        (".spec.a-b", vec![]),
        (".m.x", vec![]),
        (".m", vec![format!("{path}: \".m\": {no_type}")]),
        (".f.x", vec![format!("{path}: \".f.x\": {no_type}")]),
        (".f.x.y", invalid(".f.x.y", "does not refer to a valid field")),
        (".spec.b", invalid(".spec.b", "does not refer to a valid field")),
        (".spec.a.b", invalid(".spec.a.b", "does not refer to a valid field")),
        (".", invalid(".", "unexpected end of JSON path")),
        (".spec.", invalid(".spec.", "unexpected end of JSON path")),
        ("spec", invalid("spec", "expected [ or . but got: spec")),
        ("]", invalid("]", "expected [ or . but got: ]")),
        (".spec['a']", invalid(".spec['a']", "array notation is not allowed")),
        (
            ".metadata.name",
            vec![format!("{path}: \".metadata.name\": must not point to fields in metadata")],
        ),
    ] {
        let mut definition = with_schema(schema.clone());
        definition["spec"]["versions"][0]["selectableFields"] = json!([{"jsonPath": written}]);
        assert_eq!(errors(&create(&definition)), expected, "{written}");
    }
}

/// CV-104, KD-82: equal schemas with different selectable fields.
#[test]
fn selectable_fields_of_versions_with_one_schema() {
    let version = |name: &str, storage: bool, fields: Value| {
        json!({"name": name, "served": true, "storage": storage, "selectableFields": fields,
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {"a": {"type": "string"}}}}})
    };
    check(
        &json!({"versions": [version("v1", true, json!([{"jsonPath": ".a"}])), version("v2", false, json!(null))]}),
        &[
            "spec.versions[0].selectableFields: Invalid value: \"\": may only be set when `version.schema.openAPIV3Schema` is not included",
        ],
    );
}

/// CE-15, CV-70: paths of rules.
#[test]
fn paths_of_rules() {
    for (written, is_valid) in [
        (".a", true),
        ("['a']", true),
        (".m['x.y'].z", true),
        (".m['it\\'s']", true),
        (".m['\\x']", false),
        (".m['x'", false),
        (".m[x]", false),
        (".m['x'.z", false),
        (".b", false),
        ("a", false),
        (".a.b", false),
    ] {
        let definition = with_schema(json!({"type": "object", "properties": {
            "a": {"type": "string"},
            "m": {"type": "object", "additionalProperties": {"type": "object",
                "properties": {"z": {"type": "string"}}}},
        }, "x-kubernetes-validations": [{"rule": "true", "fieldPath": written}]}));
        let verdict = create(&definition);
        assert_eq!(verdict.errors().is_empty(), is_valid, "{written}: {:?}", errors(&verdict));
    }
}

/// CV-90: one warning for each occurrence; the judgement is VV-02's.
#[test]
fn warnings_about_formats() {
    let schema = json!({"type": "object", "properties": {
        "a": {"type": "string", "format": "date-time"},
        "b": {"type": "number", "format": "int32"},
        "c": {"type": "string", "format": "moment"},
        "d": {"x-kubernetes-int-or-string": true, "type": "integer", "format": "int32"},
        "e": {"type": "array", "items": {"type": "boolean", "format": "moment",
            "allOf": [{"format": "date"}, {"format": "other"}]}},
    }});
    assert_eq!(
        create(&with_schema(schema)).warnings(),
        [
            "unrecognized format \"int32\"",
            "unrecognized format \"moment\"",
            "unrecognized format \"int32\"",
            "unrecognized format \"moment\"",
            "unrecognized format \"other\"",
        ]
    );
}

/// RP-24, SS-12: fields that are not known, except for those inside unions.
#[test]
fn unknown_fields() {
    let mut definition = with_schema(json!({"type": "object", "const": 1, "properties": {
        "a.b": {"type": "array", "readOnly": true, "items": {"type": "string", "const": 2}},
        "c": {"type": "object", "additionalProperties": {"type": "string", "const": 3}},
    }, "x-kubernetes-validations": [{"rule": "true", "extra": 4}]}));
    definition["metadata"]["clusterName"] = json!("x");
    definition["Spec"] = json!({});
    let manifest = Definition::from_value(&definition).unwrap();
    let schema = "spec.versions[0].schema.openAPIV3Schema";
    assert_eq!(
        manifest.unknown_fields(),
        [
            "unknown field \"Spec\"".to_owned(),
            "unknown field \"metadata.clusterName\"".to_owned(),
            format!("unknown field \"{schema}.const\""),
            format!("unknown field \"{schema}.properties.a.b.readOnly\""),
            format!("unknown field \"{schema}.x-kubernetes-validations[0].extra\""),
        ]
    );
}

/// SS-10, SS-11: values of wrong types.
#[test]
fn values_of_wrong_types() {
    let in_schema = |schema: Value| refusal(&with_schema(schema));
    let schema = "spec.versions.schema.openAPIV3Schema";
    for (written, what, path, go_type) in [
        (json!("x"), "string", "", "v1.JSONSchemaProps"),
        (json!({"type": ["string"]}), "array", ".type", "string"),
        (json!({"nullable": 1}), "number", ".nullable", "bool"),
        (json!({"maximum": "1"}), "string", ".maximum", "float64"),
        (json!({"maxLength": 1.5}), "number 1.5", ".maxLength", "int64"),
        (json!({"exclusiveMinimum": 0}), "number", ".exclusiveMinimum", "bool"),
        (json!({"enum": {}}), "object", ".enum", "[]v1.JSON"),
        (json!({"required": "a"}), "string", ".required", "[]string"),
        (json!({"required": [1]}), "number", ".required", "string"),
        (json!({"properties": []}), "array", ".properties", "map[string]v1.JSONSchemaProps"),
        (json!({"properties": {"a": true}}), "bool", ".properties", "v1.JSONSchemaProps"),
        (json!({"properties": {"a": {"type": 1}}}), "number", ".properties.type", "string"),
        (json!({"items": {"type": 1}}), "number", ".items.type", "string"),
        (json!({"items": [{"not": {"id": 1}}]}), "number", ".items.not.id", "string"),
        (
            json!({"additionalProperties": {"allOf": 1}}),
            "number",
            ".additionalProperties.allOf",
            "[]v1.JSONSchemaProps",
        ),
        (json!({"definitions": true}), "bool", ".definitions", "v1.JSONSchemaDefinitions"),
        (json!({"dependencies": {"a": [1]}}), "number", ".dependencies", "string"),
    ] {
        // The first value is that of the container of the schema.
        let record = if path.is_empty() { "CustomResourceValidation" } else { "JSONSchemaProps" };
        assert_eq!(
            in_schema(written),
            format!(
                "json: cannot unmarshal {what} into Go struct field {record}.{schema}{path} of type {go_type}"
            )
        );
    }
    assert_eq!(in_schema(json!({"additionalProperties": 1})), "boolean or JSON schema expected");
    // An error of another sort, or inside a union, comes before values of wrong types.
    let both = json!({"additionalItems": "x", "$ref": 1});
    assert_eq!(in_schema(both), "boolean or JSON schema expected");
    assert_eq!(
        in_schema(
            json!({"default": null, "example": null, "items": null, "properties": {"a": null}, "type": "object", "required": null})
        ),
        "accepted"
    );
}

/// SS-10: of several values of wrong types the first one in the text counts; YAML is brought into
/// the order of keys before.
#[test]
fn the_first_value_of_a_wrong_type_in_the_text() {
    let wrong = |field: &str, go_type: &str| {
        let schema = "JSONSchemaProps.spec.versions.schema.openAPIV3Schema";
        format!(
            "json: cannot unmarshal number into Go struct field {schema}.{field} of type {go_type}"
        )
    };
    let (type_, nullable) = (wrong("type", "string"), wrong("nullable", "bool"));
    let item = wrong("items.type", "string");
    let union = "boolean or JSON schema expected".to_owned();
    for (schema, in_text, by_keys) in [
        (r#"{"type": 1, "nullable": 1}"#, &type_, &nullable),
        (r#"{"nullable": 1, "type": 1}"#, &nullable, &nullable),
        (r#"{"items": {"type": 1, "nullable": 1}}"#, &item, &wrong("items.nullable", "bool")),
        (r#"{"items": {"type": 1}, "additionalProperties": 1}"#, &item, &union),
        (r#"{"additionalProperties": 1, "items": {"type": 1}}"#, &union, &union),
        (r#"{"type": "object", "type": 1, "nullable": 1}"#, &type_, &nullable),
    ] {
        let text = format!(
            r#"{{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                "spec": {{"versions": [{{"schema": {{"openAPIV3Schema": {schema}}}}}]}}}}"#
        );
        let read = Definition::from_json(text.as_bytes(), KubernetesVersion::default());
        assert_eq!(&read.unwrap_err().to_string(), in_text, "{schema}");
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(&Definition::from_value(&value).unwrap_err().to_string(), by_keys, "{schema}");
    }
    let read = Definition::from_json(b"{", KubernetesVersion::default());
    assert_eq!(read.unwrap_err().to_string(), "unexpected end of JSON input");
}

/// CV-01, OM-04: other fields of wrong types.
#[test]
fn values_of_wrong_types_outside_schemas() {
    for (pointer, value, expected) in [
        (
            "/spec",
            json!([]),
            "array into Go struct field CustomResourceDefinition.spec of type v1.CustomResourceDefinitionSpec",
        ),
        (
            "/metadata/labels",
            json!({"a": 1}),
            "number into Go struct field ObjectMeta.metadata.labels of type string",
        ),
        (
            "/spec/scope",
            json!(1),
            "number into Go struct field CustomResourceDefinitionSpec.spec.scope of type v1.ResourceScope",
        ),
        (
            "/spec/names",
            json!({"shortNames": "f"}),
            "string into Go struct field CustomResourceDefinitionNames.spec.names.shortNames of type []string",
        ),
        (
            "/spec/versions/0/storage",
            json!("yes"),
            "string into Go struct field CustomResourceDefinitionVersion.spec.versions.storage of type bool",
        ),
        (
            "/spec/conversion",
            json!({"webhook": {"clientConfig": {"service": {"port": 3e9}}}}),
            "number 3000000000 into Go struct field ServiceReference.spec.conversion.webhook.clientConfig.service.port of type int32",
        ),
    ] {
        let mut definition = base();
        set(&mut definition, pointer, value);
        assert_eq!(refusal(&definition), format!("json: cannot unmarshal {expected}"));
    }
    let mut definition = base();
    definition["metadata"]["creationTimestamp"] = json!("yesterday");
    assert_eq!(
        refusal(&definition),
        "parsing time \"yesterday\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"yesterday\" as \"2006\""
    );
    let mut definition = base();
    definition["spec"]["conversion"] = json!({"webhook": {"clientConfig": {"caBundle": "e*"}}});
    assert_eq!(refusal(&definition), "illegal base64 data at input byte 1");
}

fn set(definition: &mut Value, pointer: &str, value: Value) {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    definition.pointer_mut(parent).unwrap()[name] = value;
}

#[test]
fn documents_of_other_kinds() {
    for other in [
        json!(null),
        json!([1]),
        json!({"kind": "CustomResourceDefinition"}),
        json!({"kind": "CustomResourceDefinition", "apiVersion": "apiextensions.k8s.io/v1beta1"}),
        json!({"kind": "Foo", "apiVersion": "apiextensions.k8s.io/v1"}),
    ] {
        assert_eq!(Definition::from_value(&other).unwrap_err(), DefinitionError::Kind, "{other}");
    }
}
