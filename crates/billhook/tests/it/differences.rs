//! The differences between manifests and live objects, and their causes.

use std::collections::BTreeMap;

use billhook::{
    Cause, CrdVersion, CustomResourceDefinition, DecodeOptions, Dialect, Difference,
    FieldManagement, Time,
};
use billhook_testing::{resource, root_schema};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::definitions::version_with;

fn version() -> CrdVersion {
    version_with(
        &json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
            "replicas": {"type": "integer"},
            "mode": {"type": "string", "default": "fast"},
            "note": {"type": "string"},
            "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
            "ports": {"type": "array", "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"],
                "items": {"type": "object", "required": ["name"], "properties": {
                    "name": {"type": "string"},
                    "port": {"type": "integer"},
                    "protocol": {"type": "string", "default": "TCP"}}}}}}}}),
        Dialect::Kubernetes,
        false,
    )
}

fn object(spec: Value) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "x"}, "spec": spec})
}

fn owned(mut object: Value, entries: &[(&str, Value)]) -> Value {
    let entries = entries.iter().map(|(manager, fields)| {
        json!({"manager": manager, "operation": "Update", "apiVersion": "example.com/v1",
            "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": fields}})
    });
    object["metadata"]["managedFields"] = entries.collect();
    object
}

/// The differences, one a line.
fn differences(desired: &Value, live: &Value) -> Vec<String> {
    let found = version().differences(desired, live, &|manager| manager == "me").unwrap();
    let found = found.iter().map(|difference| {
        let text = |value: &Option<billhook::DeepValue>| {
            value.as_deref().map_or_else(|| "-".to_owned(), Value::to_string)
        };
        let (desired, live) = (text(&difference.desired), text(&difference.live));
        let cause = match &difference.cause {
            Cause::Server { kind, .. } => kind.label().to_owned(),
            other => other.to_string(),
        };
        format!("{} {live} -> {desired} {cause}", difference.path)
    });
    found.filter(|line| !line.starts_with(".metadata.managedFields")).collect()
}

#[test]
fn what_the_manifest_says_is_wanted() {
    assert_eq!(
        differences(&object(json!({"replicas": 2, "note": "x"})), &object(json!({"replicas": 1}))),
        [".spec.note - -> \"x\" real", ".spec.replicas 1 -> 2 real"]
    );
    let live = owned(object(json!({"replicas": 1})), &[("other", json!({"f:replicas": {}}))]);
    assert_eq!(differences(&object(json!({"replicas": 2})), &live), [".spec.replicas 1 -> 2 real"]);
}

#[test]
fn what_a_server_does_is_not_real() {
    let live = object(json!({"replicas": 1, "mode": "fast"}));
    assert_eq!(
        differences(&object(json!({"replicas": 1, "typo": 3, "note": null})), &live),
        [
            ".spec.mode \"fast\" -> - defaulted",
            ".spec.note - -> null null removed",
            ".spec.typo - -> 3 pruned",
        ]
    );
    // Neither side has it: nothing differs.
    assert_eq!(
        differences(&object(json!({"replicas": 1})), &object(json!({"replicas": 1.0}))),
        [""; 0]
    );
}

/// Objects are stored in v1, whose default is not one of v2 and which does not have `extra` (CX-10).
#[test]
fn what_another_stored_version_does_is_not_real() {
    let version = |name: &str, properties: Value| {
        json!({"name": name, "served": true, "storage": name == "v1", "schema": {"openAPIV3Schema": {
            "type": "object", "properties": {"spec": {"type": "object", "properties": properties}}}}})
    };
    let crd = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "foos.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": {"plural": "foos", "kind": "Foo"}, "versions": [
            version("v1", json!({"mode": {"type": "string", "default": "fast"}})),
            version("v2", json!({"mode": {"type": "string"}, "extra": {"type": "string"}})),
        ]},
    });
    let crd = CustomResourceDefinition::from_value(&crd).unwrap();
    let object = |spec: Value| json!({"apiVersion": "example.com/v2", "kind": "Foo", "metadata": {"name": "x"}, "spec": spec});
    let causes = |live: Value| {
        let desired = object(json!({"extra": "a"}));
        let found =
            crd.version("v2").unwrap().differences(&desired, &object(live), &|_| true).unwrap();
        found.iter().map(|it| (it.path.to_string(), it.cause.is_real())).collect::<Vec<_>>()
    };
    let expected =
        |is_real| [(".spec.extra".to_owned(), false), (".spec.mode".to_owned(), is_real)];
    assert_eq!(causes(json!({"mode": "fast"})), expected(false));
    assert_eq!(causes(json!({"mode": "slow"})), expected(true));
}

#[test]
fn elements_are_found_by_their_keys() {
    let desired = json!({"tags": ["b", "a"], "ports": [{"name": "a", "port": 1}, {"name": "b"}]});
    let live = json!({"tags": ["a", "b", "c"], "ports": [
        {"name": "b", "protocol": "TCP"}, {"name": "a", "port": 2, "protocol": "TCP"},
        {"name": "c"}]});
    assert_eq!(
        differences(&object(desired), &object(live)),
        [
            ".spec.ports[name=\"a\"].port 2 -> 1 real",
            ".spec.ports[name=\"a\"].protocol \"TCP\" -> - defaulted",
            ".spec.ports[name=\"b\"].protocol \"TCP\" -> - defaulted",
            ".spec.ports[name=\"c\"] {\"name\":\"c\",\"protocol\":\"TCP\"} -> - real",
            ".spec.tags[=\"c\"] \"c\" -> - real",
        ]
    );
}

/// An apply leaves to others what they own, too (SA-73).
#[test]
fn what_others_own_is_theirs() {
    let live = object(json!({"replicas": 3, "note": "x", "mode": "slow", "tags": ["a"]}));
    let live = owned(
        live,
        &[
            ("me", json!({"f:note": {}, "f:mode": {}})),
            ("scaler", json!({"f:replicas": {}, "f:mode": {}})),
            ("tuner", json!({"f:mode": {}})),
        ],
    );
    assert_eq!(
        differences(&object(json!({})), &live),
        [
            ".spec.mode \"slow\" -> \"fast\" set by scaler, tuner",
            ".spec.note \"x\" -> - real",
            ".spec.replicas 3 -> - set by scaler",
            ".spec.tags [\"a\"] -> - set by the server or by admission: no manager owns it",
        ]
    );
}

/// Fields that admission and the server set have no owner (SA-50), and stay when the manifest is applied.
/// Without managed fields the owners are not known.
#[test]
fn fields_without_owners_are_the_servers() {
    let untracked = object(json!({"note": "x", "mode": "slow"}));
    let real = [".spec.mode \"slow\" -> \"fast\" real", ".spec.note \"x\" -> - real"];
    assert_eq!(differences(&object(json!({})), &untracked), real);
    let live = owned(untracked, &[("me", json!({"f:replicas": {}}))]);
    let unowned = real
        .map(|line| line.replace("real", "set by the server or by admission: no manager owns it"));
    assert_eq!(differences(&object(json!({})), &live), unowned);
    // What the manifest says is wanted.
    let desired = object(json!({"note": "y"}));
    assert!(differences(&desired, &live)[1].ends_with("\"x\" -> \"y\" real"));
}

/// Fields that servers and clients write for themselves are not real differences.
#[test]
fn server_state() {
    let mut live = object(json!({}));
    live["metadata"]["uid"] = json!("u");
    live["metadata"]["generation"] = json!(3);
    live["metadata"]["namespace"] = json!("n");
    live["metadata"]["annotations"] =
        json!({"kubectl.kubernetes.io/last-applied-configuration": "{}"});
    live["metadata"]["annotations"]["deprecated.daemonset.template.generation"] = json!("2");
    assert_eq!(
        differences(&object(json!({})), &live),
        [
            ".metadata.annotations.deprecated.daemonset.template.generation \"2\" -> - server metadata",
            ".metadata.annotations.kubectl.kubernetes.io/last-applied-configuration \"{}\" -> - server metadata",
            ".metadata.generation 3 -> - server metadata",
            ".metadata.namespace \"n\" -> - server metadata",
            ".metadata.uid \"u\" -> - server metadata",
        ]
    );
    live["metadata"]["annotations"]["a"] = json!("b");
    let found = differences(&object(json!({})), &live);
    assert_eq!(found[0], ".metadata.annotations {\"a\":\"b\"} -> - real");
    version().remove_server_state(&mut live);
    assert_eq!(live["metadata"], json!({"name": "x", "namespace": "n", "annotations": {"a": "b"}}));
}

#[test]
fn objects_that_do_not_fit() {
    let error = |desired: &Value, live: &Value| {
        version().differences(desired, live, &|_| false).unwrap_err().to_string()
    };
    let (good, bad) = (object(json!({})), object(json!({"replicas": "x"})));
    let text = "expected numeric (int or float), got string";
    assert_eq!(error(&bad, &good), format!("the manifest: .spec.replicas: {text}"));
    assert_eq!(error(&good, &bad), format!("the live object: .spec.replicas: {text}"));
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// A server stores what it made of a manifest: the two do not really differ, and nothing
    /// differs between what it made and what is stored.
    #[test]
    fn nothing_differs_from_what_a_server_makes(schema in root_schema(), input in resource()) {
        let version = version_with(&schema, Dialect::Kubernetes, false);
        let body = billhook::to_json(&input);
        let Ok(decoded) = version.decode(body.as_bytes(), &DecodeOptions::default()) else {
            return Ok(());
        };
        let found = version.differences(&input, decoded.object(), &|_| true);
        let Ok(found) = found else { return Ok(()) };
        prop_assert!(found.iter().all(|difference| !difference.cause.is_real()), "{:?}", found);
        let found = version.differences(decoded.object(), decoded.object(), &|_| true).unwrap();
        prop_assert_eq!(found, []);
    }

    /// An apply changes what really differs, and leaves to others what is theirs.
    #[test]
    fn an_apply_changes_what_really_differs(
        others in configuration(), mine in configuration(), next in configuration(),
    ) {
        let (version, now) = (version(), Time::from_unix(0));
        let apply = |manager, configuration, live| {
            FieldManagement::new(&version, manager, now).apply(configuration, live, true).unwrap()
        };
        let live = apply("other", &others, None);
        let live = apply("me", &mine, Some(&live));
        let applied = apply("me", &next, Some(&live));
        let differences = |live: &Value| -> BTreeMap<String, Difference> {
            let found = version.differences(&next, live, &|manager| manager == "me").unwrap();
            found.into_iter().map(|it| (it.path.to_string(), it)).collect()
        };
        let (before, after) = (differences(&live), differences(&applied));
        for (path, Difference { cause, live, .. }) in &before {
            let stays = after.get(path).is_some_and(|after| after.live == *live);
            match cause {
                Cause::Real => prop_assert!(!stays, "{path}"),
                Cause::Managers(_) | Cause::Unowned => prop_assert!(stays, "{path}"),
                _ => {}
            }
        }
        prop_assert!(after.values().all(|it| !it.cause.is_real()), "{:?}", after);
    }
}

/// Configurations whose fields have few values, and no defaults, which would come back.
fn configuration() -> impl Strategy<Value = Value> {
    use prop::option::of;
    let port = (of(1..3_i64), of("UDP|SCTP"));
    let ports = prop::collection::btree_map("[ab]", port, 1..3).prop_map(|ports| {
        let port = |(name, (port, protocol)): (String, (Option<i64>, Option<String>))| {
            let all = [("name", Some(json!(name))), ("port", port.map(Value::from))];
            let all = all.into_iter().chain([("protocol", protocol.map(Value::from))]);
            all.filter_map(|(name, value)| Some((name, value?))).collect::<BTreeMap<_, _>>()
        };
        json!(ports.into_iter().map(port).collect::<Vec<_>>())
    });
    let tags = prop::collection::btree_set("[ab]", 1..3).prop_map(|tags| json!(tags));
    (0..2_i64, of("slow|still"), of("[xy]"), of(tags), of(ports)).prop_map(
        |(replicas, mode, note, tags, ports)| {
            let all = [
                ("replicas", Some(replicas.into())),
                ("mode", mode.map(Value::from)),
                ("note", note.map(Value::from)),
                ("tags", tags),
                ("ports", ports),
            ];
            let all = all.into_iter().filter_map(|(name, value)| Some((name, value?)));
            object(all.map(|(name, value)| (name.to_owned(), value)).collect())
        },
    )
}
