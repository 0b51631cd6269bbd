//! Managers: entries, applies, updates, conflicts (SA-30 to SA-93).

use billhook_apply::{ManagedFields, manager_name};
use serde_json::{Value, json};

use crate::support::merge_schema;
use crate::world::{V1, V2, World, typed};

fn spec(spec: &Value) -> Value {
    json!({"spec": spec})
}

/// SA-62, SA-72 to SA-76, SA-82: two managers, a conflict, force, and giving up.
#[test]
fn an_object_through_several_hands() {
    let mut world = World::new();
    world.update("cli", &spec(&json!({"a": "x", "t": [1]})));
    assert_eq!(world.entries(), [r#"cli Update 00:01 {"f:spec":{".":{},"f:a":{},"f:t":{}}}"#]);

    // Nothing changes: a new entry without time.
    world.apply("m", &spec(&json!({"a": "x"})), false).unwrap();
    assert_eq!(
        world.entries(),
        [
            r#"m Apply - {"f:spec":{"f:a":{}}}"#,
            r#"cli Update 00:01 {"f:spec":{".":{},"f:a":{},"f:t":{}}}"#,
        ]
    );

    let changed = spec(&json!({"a": "y"}));
    let error = world.apply("m", &changed, false).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Apply failed with 1 conflict: conflict with \"cli\" using example.com/v1: .spec.a"
    );
    world.apply("m", &changed, true).unwrap();
    assert_eq!(
        world.entries(),
        [
            r#"m Apply 00:04 {"f:spec":{"f:a":{}}}"#,
            r#"cli Update 00:01 {"f:spec":{".":{},"f:t":{}}}"#,
        ]
    );

    world.apply("m", &json!({}), false).unwrap();
    assert_eq!(world.live, Some(typed(&spec(&json!({"t": [1]})), "example.com/v1")));
    assert_eq!(world.entries(), [r#"cli Update 00:01 {"f:spec":{".":{},"f:t":{}}}"#]);
}

/// SA-73: of an element that was applied without its keys nothing is owned but the element. Applied
/// again it goes with its default keys, whatever other managers the object has.
#[test]
fn an_element_with_default_keys_alone() {
    let ports = json!({
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["port"],
        "items": {"type": "object", "properties": {"port": {"type": "integer", "default": 80}}},
    });
    let schema = merge_schema(&json!({"type": "object", "properties": {"ports": ports}}));
    let mut world = World::new();
    world.definition.0.insert(V1, schema);
    let config = spec(&json!({"ports": [{}, {"port": 90}]}));
    world.apply("m", &config, false).unwrap();
    let defaulted = spec(&json!({"ports": [{"port": 80}, {"port": 90}]}));
    world.live = Some(typed(&defaulted, V1));
    world.apply("m", &config, false).unwrap();
    assert_eq!(world.live, Some(typed(&spec(&json!({"ports": [{"port": 90}]})), V1)));
    let written = spec(&json!({"ports": [{"port": 80}, {"port": 90}]}));
    world.apply("m", &written, false).unwrap();
    world.apply("m", &written, false).unwrap();
    let listed = world.live.as_ref().and_then(|live| live.pointer("/spec/ports")).unwrap();
    assert_eq!(listed.as_array().map(Vec::len), Some(2));
}

/// SA-73: if it is the only element its list stays as null, which validation refuses.
#[test]
fn the_only_element_with_default_keys_alone() {
    let ports = json!({
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["port"],
        "items": {"type": "object", "properties": {"port": {"type": "integer", "default": 7}}},
    });
    let schema = merge_schema(&json!({"type": "object", "properties": {"ports": ports}}));
    let mut world = World::new();
    world.definition.0.insert(V1, schema);
    let config = spec(&json!({"ports": [{}]}));
    world.apply("m", &config, false).unwrap();
    world.live = Some(typed(&spec(&json!({"ports": [{"port": 7}]})), V1));
    world.apply("m", &config, false).unwrap();
    assert_eq!(world.live, Some(typed(&spec(&json!({"ports": null})), V1)));
}

/// SA-21: keys of entries that are written in another way than a server writes them are read, and
/// written as a server does.
#[test]
fn keys_of_elements_in_other_notations() {
    let names = ["a", "a b", "z"];
    let properties = names.iter().map(|name| ((*name).to_owned(), json!({"type": "string"})));
    let schema = merge_schema(&json!({"type": "object", "properties": {
        "v": {"type": "string"},
        "l": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": names,
            "items": {"type": "object", "properties": Value::Object(properties.collect())},
        },
    }}));
    let mut world = World::new();
    world.definition.0.insert(V1, schema);
    let own = spec(&json!({"v": "x"}));
    world.apply("m", &own, false).unwrap();
    let cases = [
        (r#"k:{"a":"x","a b":"y","z":"t"}"#, r#"k:{"a":"x","a b":"y","z":"t"}"#),
        (r#"k:{"a b":"y","a":"x","z":"t"}"#, r#"k:{"a":"x","a b":"y","z":"t"}"#),
        (r#"k:{"a":"x", "z":"t"}"#, r#"k:{"a":"x","z":"t"}"#),
        (r#"k:{"a":1,"z":"\u0041"}"#, r#"k:{"a":1,"z":"A"}"#),
    ];
    for (key, expected) in cases {
        let fields = |key: &str| json!({"f:spec": {"f:l": {key: {}}}});
        let mut object = world.stored();
        let entries = object.pointer_mut("/metadata/managedFields").unwrap();
        entries.as_array_mut().unwrap().push(json!({"manager": "other", "operation": "Apply",
            "apiVersion": V1, "fieldsType": "FieldsV1", "fieldsV1": fields(key)}));
        let manager = world.manager("m", "2026-01-01T01:00:00Z");
        assert_eq!(manager.apply(&mut object, &typed(&own, V1), false), Ok(false));
        let entries = object["metadata"]["managedFields"].as_array().unwrap();
        let other = entries.iter().find(|entry| entry["manager"] == "other").unwrap();
        assert_eq!(other["fieldsV1"], fields(expected));
    }
}

/// SA-80, SA-81, SA-83, SA-84.
#[test]
fn texts_of_several_conflicts() {
    let mut world = World::new();
    world.update("kubectl", &spec(&json!({"a": "x", "l": [{"name": "n", "v": 1}]})));
    world.apply("zz", &spec(&json!({"a": "x"})), false).unwrap();
    let config = spec(&json!({"a": "y", "l": [{"name": "n", "v": 2}]}));
    let error = world.apply("m", &config, false).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Apply failed with 3 conflicts: conflicts with \"kubectl\" using example.com/v1:\n\
         - .spec.a\n- .spec.l[name=\"n\"].v\nconflicts with \"zz\":\n- .spec.a"
    );
    let status = error.to_status();
    assert_eq!((status.code, status.reason.as_str()), (409, "Conflict"));
    let causes = status.details.unwrap().causes;
    let causes: Vec<_> = causes.iter().map(|cause| (&*cause.message, &*cause.field)).collect();
    assert_eq!(
        causes,
        [
            ("conflict with \"kubectl\" using example.com/v1", ".spec.a"),
            ("conflict with \"kubectl\" using example.com/v1", ".spec.l[name=\"n\"].v"),
            ("conflict with \"zz\"", ".spec.a"),
        ]
    );
}

/// SA-62.
#[test]
fn an_object_without_entries_belongs_to_its_past() {
    let mut world = World::new();
    world.live = Some(typed(&spec(&json!({"a": "x"})), "example.com/v1"));
    let error = world.apply("m", &spec(&json!({"a": "y"})), false).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Apply failed with 1 conflict: conflict with \"before-first-apply\" using example.com/v1: \
         .spec.a"
    );
}

/// SA-61: of several errors the first in the order of the steps.
#[test]
fn errors_in_the_order_of_the_steps() {
    let mut world = World::new();
    world.apply("m", &spec(&json!({"a": "x"})), false).unwrap();
    let managed = json!({"managedFields": [], "name": "n", "namespace": "d"});
    for (config, code, error) in [
        (json!({"metadata": managed, "spec": {"q": 1}}), 400, "metadata.managedFields must be nil"),
        (
            json!({"metadata": {"name": "n", "namespace": "d"}, "spec": {"q": 1}}),
            500,
            "failed to create typed patch object (d/n; example.com/v1, Kind=Foo): .spec.q: field \
             not declared in schema",
        ),
        (
            json!({"metadata": {"managedFields": "x", "name": "n"}}),
            500,
            "failed to create typed patch object (/n; example.com/v1, Kind=Foo): \
             .metadata.managedFields: expected list, got &{x}",
        ),
        (
            json!({"metadata": {"name": 5}}),
            500,
            "failed to create typed patch object (/; example.com/v1, Kind=Foo): .metadata.name: \
             expected string, got &value.valueUnstructured{Value:5}",
        ),
    ] {
        let refused = world.apply("m", &config, false).unwrap_err();
        assert_eq!((refused.to_status().code, refused.to_string().as_str()), (code, error));
    }
}

/// SA-33.
#[test]
fn entries_that_cannot_be_read() {
    let entry = |change: &Value| {
        let mut entry = json!({"manager": "m", "operation": "Apply", "apiVersion": "v1",
            "fieldsType": "FieldsV1"});
        entry.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        json!({"metadata": {"managedFields": [entry]}})
    };
    for (change, error) in [
        (json!({"operation": "Patch"}), "operation must be `Apply` or `Update`"),
        (json!({"apiVersion": ""}), "apiVersion must not be empty"),
        (json!({"fieldsType": ""}), "missing fieldsType in managed fields entry 0"),
        (json!({"fieldsType": "V2"}), "invalid fieldsType \"V2\" in managed fields entry 0"),
        (
            json!({"fieldsV1": {"f": {}}}),
            "error decoding versioned set from m: error decoding set: key \"f\" does not start \
             with a letter and a colon",
        ),
    ] {
        assert_eq!(ManagedFields::of(&entry(&change)).unwrap_err().to_string(), error);
    }
    assert_eq!(ManagedFields::of(&entry(&json!({}))).unwrap().entries().count(), 1);
}

/// SA-38: the two measured runs of sixteen writers, and the bucket that is lost.
#[test]
fn the_oldest_updaters_are_merged() {
    let write = |world: &mut World, prefix: &str, numbers: std::ops::Range<usize>| {
        for number in numbers {
            world.seconds = 0;
            let mut object = world.live.clone().unwrap_or_else(|| json!({}));
            object["spec"]["m"][format!("f{prefix}{number}")] = json!("x");
            world.update(&format!("{prefix}{number:02}"), &object);
        }
    };
    let names = |world: &World| -> Vec<String> {
        let entries = world.entries().into_iter();
        entries.map(|entry| entry.split(' ').next().unwrap().to_owned()).collect()
    };
    let mut world = World::new();
    write(&mut world, "u", 0..16);
    assert_eq!(
        names(&world),
        ["ancient-changes", "u07", "u08", "u09", "u10", "u11", "u12", "u13", "u14", "u15",]
    );

    let mut world = World::new();
    write(&mut world, "a", 0..16);
    assert_eq!(
        names(&world),
        ["a02", "a08", "a09", "a10", "a11", "a12", "a13", "a14", "a15", "ancient-changes",]
    );

    let mut world = World::new();
    write(&mut world, "a", 0..2);
    write(&mut world, "b", 0..9);
    assert_eq!(names(&world)[0], "ancient-changes");
    write(&mut world, "a", 2..3);
    assert_eq!(
        names(&world),
        ["a02", "b00", "b01", "b02", "b03", "b04", "b05", "b06", "b07", "b08",]
    );
}

/// SA-37.
#[test]
fn parts_become_the_whole_when_a_field_becomes_atomic() {
    let mut world = World::new();
    world.apply("m1", &spec(&json!({"l": [{"name": "a", "v": 1}]})), false).unwrap();
    world.apply("m2", &spec(&json!({"l": [{"name": "b", "v": 1}]})), false).unwrap();
    let atomic = crate::support::merge_schema(&json!({"type": "object", "properties": {
        "l": {"type": "array", "items": {"type": "object", "properties": {
            "name": {"type": "string"}, "v": {"type": "integer"}}}}}}));
    world.definition.0.insert("example.com/v1", atomic);
    let error = world.apply("m1", &spec(&json!({"l": []})), false).unwrap_err();
    assert_eq!(error.to_string(), "Apply failed with 1 conflict: conflict with \"m2\": .spec.l");
    world.apply("m1", &json!({}), false).unwrap();
    assert_eq!(world.entries(), [r#"m2 Apply 00:02 {"f:spec":{"f:l":{}}}"#]);
}

/// SA-85, SA-86.
#[test]
fn kubectl_has_no_conflicts_with_its_own_client_side_applies() {
    const NAME: &str = "kubectl.kubernetes.io/last-applied-configuration";
    let applied = typed(&spec(&json!({"a": "x", "t": [1]})), "example.com/v1");
    let mut live = applied.clone();
    live["metadata"]["annotations"][NAME] = json!(applied.to_string());
    for (manager, conflicts) in [("kubectl", false), ("other", true)] {
        let mut world = World::new();
        world.update("kubectl-client-side-apply", &live);
        let outcome = world.apply(manager, &spec(&json!({"a": "y"})), false);
        assert_eq!(outcome.is_err(), conflicts);
    }
    // A field that was changed since is a conflict.
    let mut changed = live.clone();
    changed["spec"]["t"] = json!([2]);
    let mut world = World::new();
    world.update("editor", &changed);
    let error = world.apply("kubectl", &spec(&json!({"a": "y", "t": [3]})), false).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Apply failed with 1 conflict: conflict with \"editor\" using example.com/v1: .spec.t"
    );
}

/// SA-91: an object that does not fit the version of an entry.
#[test]
fn entries_of_other_versions_need_a_conversion() {
    let mut world = World::new();
    world.apply("m", &spec(&json!({"a": "x"})), false).unwrap();
    let entry = json!({"metadata": {"managedFields": [{"manager": "o", "operation": "Update",
        "apiVersion": V2, "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:a": {}}}}]}});
    world.managed = ManagedFields::of(&entry).unwrap();
    let without_t = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    world.definition.0.insert(V2, crate::support::merge_schema(&without_t));
    let error = world.apply("m", &spec(&json!({"a": "x", "t": [1]})), false).unwrap_err();
    assert_eq!(
        error.to_string(),
        "failed to convert new object: .spec.t: field not declared in schema"
    );
}

/// SA-32.
#[test]
fn names_of_managers() {
    let long = "é".repeat(100);
    for (field_manager, user_agent, name) in [
        ("m", "kubectl/v1", "m"),
        ("", "kubectl/v1.36 (linux)", "kubectl"),
        ("", "", "unknown"),
        ("", "\u{7}/x", "unknown"),
        ("", &long, &"é".repeat(64)),
    ] {
        assert_eq!(manager_name(field_manager, user_agent), name);
    }
}

/// The apply of the same again leaves an object exactly as it is, and no other apply does (SA-76).
#[test]
fn the_same_apply_again_leaves_an_object_as_it_is() {
    let mut world = World::new();
    let config = spec(&json!({
        "a": "x", "m": {"k": "x"}, "s": ["a", "b"], "t": [1, 2], "o": {"p": 1}, "u": {"k": {"d": 1}},
        "l": [{"name": "a", "v": 1}, {"name": "c"}],
    }));
    world.update("cli", &spec(&json!({"l": [{"name": "b", "v": 1}], "u": {"other": {}}})));
    world.apply("m", &config, true).unwrap();
    world.apply("n", &spec(&json!({"l": [{"name": "c"}], "s": ["b"], "m": {}})), false).unwrap();
    let stored = world.stored();
    let is_left = |manager: &str, config: &Value| {
        let manager = world.manager(manager, "2026-01-01T01:00:00Z");
        let mut object = stored.clone();
        let applied = manager.apply(&mut object, &typed(config, V1), true);
        let is_left = applied.is_ok() && object == stored;
        // Then it is not even copied.
        assert!(!is_left || std::ptr::eq(&raw const *object, &raw const *stored));
        is_left
    };
    assert!(is_left("m", &config));
    assert!(!is_left("n", &config), "another manager");
    for (pointer, value) in [
        ("/spec/a", json!("y")),
        ("/spec/a", json!(1)),
        ("/spec/m", json!({"k": "x", "j": "x"})),
        ("/spec/m", json!({})),
        ("/spec/s", json!(["a"])),
        ("/spec/s", json!(["b", "a"])),
        ("/spec/s", json!(["a", "b", "b"])),
        ("/spec/t", json!([1])),
        ("/spec/l", json!([{"name": "c"}, {"name": "a", "v": 1}])),
        ("/spec/l", json!([{"name": "a", "v": 1}, {"name": "c", "v": 2}])),
        ("/spec/l", json!([{"name": "a", "v": 1}, {"name": "b", "v": 1}])),
        ("/spec/u", json!({"k": {"d": 1}, "other": {}})),
        ("/spec", json!({"a": "x"})),
    ] {
        let mut other = config.clone();
        *other.pointer_mut(pointer).unwrap() = value;
        assert!(!is_left("m", &other), "{other}");
    }
    let mut with_entries = config.clone();
    with_entries["metadata"] = json!({"managedFields": []});
    assert!(!is_left("m", &with_entries));
    with_entries["metadata"] = world.stored()["metadata"].clone();
    assert!(!is_left("m", &with_entries));
}
