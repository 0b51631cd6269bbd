//! Changes of one keyword, and the answers about them.

use serde_json::{Value, json};

use crate::support::{compared, definition, lines, spec_of};

#[test]
fn single_changes() {
    let text = json!({"type": "string"});
    let list = |more: Value| {
        let mut list = json!({"type": "array", "items": {"type": "object", "required": ["name"],
            "properties": {"name": {"type": "string"}, "port": {"type": "integer", "default": 1}}}});
        list.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        list
    };
    let mut told = String::new();
    for (name, old, new) in [
        (
            "enum shrunk",
            json!({"type": "string", "enum": ["x", "y"]}),
            json!({"type": "string", "enum": ["x"]}),
        ),
        (
            "enum grown",
            json!({"type": "string", "enum": ["x"]}),
            json!({"type": "string", "enum": ["x", "y"]}),
        ),
        ("enum added", text.clone(), json!({"type": "string", "enum": ["x"]})),
        (
            "maximum lowered",
            json!({"type": "integer", "maximum": 10}),
            json!({"type": "integer", "maximum": 5}),
        ),
        (
            "maximum raised",
            json!({"type": "integer", "maximum": 5}),
            json!({"type": "integer", "maximum": 10}),
        ),
        ("default added", text.clone(), json!({"type": "string", "default": "x"})),
        (
            "default changed",
            json!({"type": "string", "default": "x"}),
            json!({"type": "string", "default": "y"}),
        ),
        ("default removed", json!({"type": "string", "default": "x"}), text.clone()),
        ("type widened", json!({"type": "integer"}), json!({"type": "number"})),
        ("type changed", text.clone(), json!({"type": "integer"})),
        ("int-or-string", json!({"type": "integer"}), json!({"x-kubernetes-int-or-string": true})),
        ("nullable added", text.clone(), json!({"type": "string", "nullable": true})),
        ("nullable removed", json!({"type": "string", "nullable": true}), text.clone()),
        (
            "pattern widened",
            json!({"type": "string", "pattern": "^[a-z]+$"}),
            json!({"type": "string", "pattern": "^[a-z0-9]+$"}),
        ),
        (
            "pattern narrowed",
            json!({"type": "string", "pattern": "^[a-z0-9]+$"}),
            json!({"type": "string", "pattern": "^[a-z]+$"}),
        ),
        (
            "pattern to length",
            json!({"type": "string", "pattern": "^[a-z]{3,5}$"}),
            json!({"type": "string", "maxLength": 5, "minLength": 3}),
        ),
        ("format added", text.clone(), json!({"type": "string", "format": "date-time"})),
        (
            "format widened",
            json!({"type": "string", "format": "uuid4"}),
            json!({"type": "string", "format": "uuid"}),
        ),
        (
            "int32 to int64",
            json!({"type": "integer", "format": "int32"}),
            json!({"type": "integer", "format": "int64"}),
        ),
        (
            "maxItems lowered",
            json!({"type": "array", "items": {"type": "string"}, "maxItems": 5}),
            json!({"type": "array", "items": {"type": "string"}, "maxItems": 2}),
        ),
        (
            "list type",
            list(json!({})),
            list(json!({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]})),
        ),
        (
            "map keys",
            list(json!({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]})),
            list(
                json!({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name", "port"]}),
            ),
        ),
        (
            "map type",
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            json!({"type": "object", "x-kubernetes-map-type": "atomic", "additionalProperties": {"type": "string"}}),
        ),
        (
            "preserved no longer",
            json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
            json!({"type": "object"}),
        ),
        (
            "union grown",
            json!({"type": "object", "properties": {"x": {"type": "string"}, "y": {"type": "string"}},
                "oneOf": [{"required": ["x"]}, {"required": ["y"]}]}),
            json!({"type": "object", "properties": {"x": {"type": "string"}, "y": {"type": "string"}, "z": {"type": "string"}},
                "oneOf": [{"required": ["x"]}, {"required": ["y"]}, {"required": ["z"]}]}),
        ),
        (
            "union added",
            json!({"type": "object", "properties": {"x": {"type": "string"}, "y": {"type": "string"}}}),
            json!({"type": "object", "properties": {"x": {"type": "string"}, "y": {"type": "string"}},
                "oneOf": [{"required": ["x"]}, {"required": ["y"]}]}),
        ),
        (
            "rule added",
            json!({"type": "integer"}),
            json!({"type": "integer", "x-kubernetes-validations": [{"rule": "self > 3"}]}),
        ),
        (
            "transition rule",
            json!({"type": "integer"}),
            json!({"type": "integer", "x-kubernetes-validations": [{"rule": "self == oldSelf"}]}),
        ),
        (
            "item pattern",
            json!({"type": "array", "items": {"type": "string"}}),
            json!({"type": "array", "items": {"type": "string", "pattern": "^a"}}),
        ),
    ] {
        let comparison = compared(&definition(spec_of(old)), &definition(spec_of(new)));
        told.push_str(&format!("# {name}\n{}\n\n", lines(&comparison)));
    }
    insta::assert_snapshot!(told);
}

#[test]
fn members() {
    let spec = |properties: Value, required: Value| {
        definition(json!({"type": "object", "properties": properties, "required": required}))
    };
    let text = json!({"type": "string"});
    let mut told = String::new();
    for (name, old, new) in [
        (
            "removed",
            spec(json!({"a": text, "b": text}), json!([])),
            spec(json!({"a": text}), json!([])),
        ),
        (
            "added",
            spec(json!({"a": text}), json!([])),
            spec(json!({"a": text, "b": text}), json!([])),
        ),
        (
            "added with default",
            spec(json!({"a": text}), json!([])),
            spec(json!({"a": text, "b": {"type": "string", "default": "x"}}), json!([])),
        ),
        ("required", spec(json!({"a": text}), json!([])), spec(json!({"a": text}), json!(["a"]))),
        ("optional", spec(json!({"a": text}), json!(["a"])), spec(json!({"a": text}), json!([]))),
    ] {
        told.push_str(&format!("# {name}\n{}\n\n", lines(&compared(&old, &new))));
    }
    insta::assert_snapshot!(told);
}

#[test]
fn rules() {
    let spec = |rule: &str| {
        let rules: Vec<Value> = rule.split(';').map(|rule| json!({"rule": rule.trim()})).collect();
        definition(json!({"type": "object", "properties": {
            "a": {"type": "integer"}, "b": {"type": "string", "maxLength": 20},
            "c": {"type": "array", "maxItems": 5, "items": {"type": "string", "maxLength": 5}},
        }, "x-kubernetes-validations": rules}))
    };
    let mut told = String::new();
    for (name, old, new) in [
        ("the same in other words", "self.a > 3 && has(self.b)", "has(self.b); 3 < self.a"),
        ("a weaker bound", "self.a <= 3", "self.a < 5"),
        ("a stronger bound", "self.a < 5", "self.a <= 3"),
        ("another alternative", "self.b == 'x'", "self.b in ['x', 'y'] || self.a == 1"),
        ("an alternative less", "self.b in ['x', 'y']", "self.b == 'x'"),
        ("another name", "self.c.all(x, x != '')", "self.c.all(item, '' != item)"),
        ("a rule less", "self.a > 3; has(self.b)", "has(self.b)"),
        ("a transition", "self.a > 3", "self.a > 3; self.a >= oldSelf.a"),
        ("negations", "!(has(self.a) && self.b == 'x')", "self.b != 'x' || !has(self.a)"),
    ] {
        told.push_str(&format!("# {name}\n{}\n\n", lines(&compared(&spec(old), &spec(new)))));
    }
    insta::assert_snapshot!(told);
}

/// A definition of two versions, with the fields of `spec` in each.
fn versions(first: Value, second: Value, storage: &str) -> Value {
    let mut crd = definition(json!({"type": "object"}));
    let version = |name: &str, properties: Value| {
        json!({"name": name, "served": true, "storage": name == storage, "schema": {"openAPIV3Schema": {
            "type": "object", "properties": {"spec": {"type": "object", "properties": properties}},
        }}})
    };
    crd["spec"]["versions"] = json!([version("v1", first), version("v2", second)]);
    crd
}

/// A witness may break several things; each answer has the error that it is about (CC-20).
#[test]
fn reasons_are_of_the_field() {
    let spec = |group: Value, kind: Value| {
        definition(json!({"type": "object", "required": ["group"], "properties": {
            "group": group, "kind": kind}}))
    };
    let (long, short) =
        (json!({"type": "string", "minLength": 5}), json!({"type": "string", "maxLength": 3}));
    let comparison = compared(&spec(long, json!({"type": "string"})), &spec(short.clone(), short));
    let told = lines(&comparison);
    for field in ["spec.group", "spec.kind"] {
        let reason = format!("it is refused now: {field}: Too long: may not be more than 3 bytes");
        let is_told = |line: &str| {
            line.starts_with(&format!("v1 writers: breaks {field}: ")) && line.contains(&reason)
        };
        assert!(told.lines().any(is_told), "{told}");
    }
}

#[test]
fn whole_definitions() {
    let text = json!({"type": "string"});
    let (narrow, wide) = (json!({"a": text}), json!({"a": text, "b": text}));
    let plain =
        definition(json!({"type": "object", "properties": {"replicas": {"type": "integer"}}}));
    let with = |pointer: &str, value: Value| {
        let mut crd = plain.clone();
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        crd.pointer_mut(parent).unwrap()[name] = value;
        crd
    };
    let scale = json!({"scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}});
    let mut told = String::new();
    for (name, old, new) in [
        (
            "version removed",
            versions(narrow.clone(), narrow.clone(), "v2"),
            definition(json!({"type": "object", "properties": narrow})),
        ),
        (
            "a version has a new field",
            versions(narrow.clone(), narrow.clone(), "v1"),
            versions(narrow.clone(), wide.clone(), "v1"),
        ),
        (
            "another version is stored",
            versions(narrow.clone(), wide.clone(), "v2"),
            versions(narrow.clone(), wide.clone(), "v1"),
        ),
        (
            "lost before and now",
            versions(narrow.clone(), wide.clone(), "v1"),
            versions(json!({"a": text, "c": text}), wide, "v1"),
        ),
        ("scope", plain.clone(), with("/spec/scope", json!("Cluster"))),
        ("short name removed", with("/spec/names/shortNames", json!(["b"])), plain.clone()),
        ("scale added", plain.clone(), with("/spec/versions/0/subresources", scale.clone())),
        ("scale removed", with("/spec/versions/0/subresources", scale), plain.clone()),
        (
            "column removed",
            with(
                "/spec/versions/0/additionalPrinterColumns",
                json!([{"name": "N", "type": "integer", "jsonPath": ".spec.replicas"}]),
            ),
            plain.clone(),
        ),
        (
            "selectable field removed",
            with("/spec/versions/0/selectableFields", json!([{"jsonPath": ".spec.replicas"}])),
            plain.clone(),
        ),
        ("no longer served", plain.clone(), with("/spec/versions/0/served", json!(false))),
    ] {
        told.push_str(&format!("# {name}\n{}\n\n", lines(&compared(&old, &new))));
    }
    insta::assert_snapshot!(told);
}

/// RP-46: a creation drops the status after its default is set.
#[test]
fn no_default_makes_up_for_a_status_that_is_dropped() {
    let mut old = definition(json!({"type": "object"}));
    let version = &mut old["spec"]["versions"][0];
    version["subresources"] = json!({"status": {}});
    let schema = &mut version["schema"]["openAPIV3Schema"];
    schema["properties"]["status"] =
        json!({"type": "object", "default": {}, "x-kubernetes-preserve-unknown-fields": true});
    let mut new = old.clone();
    new["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["required"] = json!(["status"]);
    let said = lines(&compared(&old, &new));
    assert!(said.contains("v1 writers: breaks status: required added"), "{said}");
}
