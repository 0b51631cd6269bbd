//! Differences between manifests of built-in kinds and live objects, and reads of stored objects.

use billhook::{CrdVersion, DecodeOptions, KubernetesVersion};
use billhook_kinds::Kind;
use serde_json::{Value, json};

use crate::write::created;

fn version(api_version: &str, kind: &str) -> CrdVersion {
    let kind = Kind::named(api_version, kind).unwrap();
    let definition = kind.compile(KubernetesVersion::default()).unwrap().unwrap();
    definition.served(kind.version).unwrap()
}

fn version_of(object: &Value) -> CrdVersion {
    version(object["apiVersion"].as_str().unwrap(), object["kind"].as_str().unwrap())
}

/// The differences that are not those of metadata, one a line.
fn differences(desired: &Value, live: &Value) -> Vec<String> {
    let found = version_of(desired).differences(desired, live, &|manager| manager == "me");
    let lines = found.unwrap().into_iter().map(|it| format!("{} {}", it.path, it.cause));
    lines.filter(|line| !line.starts_with(".metadata.m")).collect()
}

fn daemon_set() -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "a", "namespace": "b"},
        "spec": {
            "selector": {"matchLabels": {"app": "a"}},
            "template": {
                "metadata": {"labels": {"app": "a"}},
                "spec": {"containers": [{"name": "c", "image": "i"}]},
            },
        },
    })
}

/// BK-02: what a kind prints even if it is empty is there in a read, too, and differs from nothing. Only
/// custom resources always have a generation (RP-51).
#[test]
fn reads_keep_what_is_always_printed() {
    let metadata = json!({"name": "a"});
    for (api_version, kind, fields) in [
        ("rbac.authorization.k8s.io/v1", "ClusterRole", json!({"rules": null})),
        (
            "discovery.k8s.io/v1",
            "EndpointSlice",
            json!({"addressType": "IPv4", "endpoints": null, "ports": null}),
        ),
        ("v1", "Secret", json!({"type": "Opaque"})),
    ] {
        let mut live = fields.clone();
        live["apiVersion"] = api_version.into();
        live["kind"] = kind.into();
        live["metadata"] = metadata.clone();
        let mut read = live.clone();
        version_of(&live).decode_storage_value(&mut read, &DecodeOptions::default()).unwrap();
        assert_eq!(read, live);
        assert_eq!(differences(&live, &live), [""; 0]);
        let desired = json!({"apiVersion": api_version, "kind": kind, "metadata": metadata,
            "addressType": fields.get("addressType")});
        let real: Vec<String> = differences(&desired, &live);
        assert!(real.iter().all(|line| !line.ends_with("real")), "{real:?}");
    }
}

/// BK-02: nulls that are printed as such are not listed.
#[test]
fn nulls_that_are_printed_are_no_changes() {
    let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": {"name": "a"}, "rules": null, "aggregationRule": null});
    let options = DecodeOptions::default().report(true);
    let mut decoded = role.clone();
    let (_, changes) = version_of(&role).decode_value(&mut decoded, &options).unwrap();
    let changes: Vec<String> = changes.iter().map(|it| it.path().to_string()).collect();
    assert_eq!(changes, ["aggregationRule"]);
    assert_eq!(decoded["rules"], Value::Null);
}

/// BK-304: the number of templates is the server's.
#[test]
fn the_number_of_templates_is_the_servers() {
    let (desired, live) = (daemon_set(), created(&daemon_set()));
    let place = "/metadata/annotations/deprecated.daemonset.template.generation";
    assert_eq!(live.pointer(place), Some(&json!("1")));
    let found = differences(&desired, &live);
    assert!(found.iter().all(|line| !line.ends_with("real")), "{found:?}");
    let of_annotations: Vec<&String> =
        found.iter().filter(|line| line.starts_with(".metadata.annotations")).collect();
    let expected = ".metadata.annotations.deprecated.daemonset.template.generation server metadata";
    assert_eq!(of_annotations, [expected]);

    let version = version_of(&live);
    let mut neat = live;
    version.remove_server_state(&mut neat);
    neat["metadata"].as_object_mut().unwrap().remove("generation");
    assert_eq!(*version.neat(&neat).unwrap(), desired);
}

/// BK-06: defaults in a list without keys are shown with their value.
#[test]
fn defaults_in_lists_without_keys() {
    let policy = |port: Value| {
        json!({
            "apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy",
            "metadata": {"name": "a", "namespace": "b"},
            "spec": {"podSelector": {}, "policyTypes": ["Ingress"], "ingress": [{"ports": [port]}]},
        })
    };
    let (desired, live) =
        (policy(json!({"port": 80})), policy(json!({"port": 80, "protocol": "TCP"})));
    let found = version_of(&desired).differences(&desired, &live, &|_| true).unwrap();
    let [found] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(found.path.to_string(), ".spec.ingress[0].ports[0].protocol");
    assert_eq!(found.live.as_deref(), Some(&json!("TCP")));
    assert_eq!(found.desired, None);
}

/// BK-251: the texts of a Secret are in its data.
#[test]
fn texts_of_secrets_are_put_into_their_data() {
    let metadata = json!({"name": "a", "namespace": "b"});
    let desired = json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata,
        "data": {"user": "YQ=="}, "stringData": {"password": "b"}, "type": "Opaque"});
    let live = json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata,
        "data": {"password": "Yg==", "user": "YQ=="}, "type": "Opaque"});
    assert_eq!(
        differences(&desired, &live),
        [
            ".data.password normalized: comes from `stringData`",
            ".stringData normalized: put into `data`",
        ]
    );
    let mut other = live;
    other["data"]["password"] = "Yw==".into();
    assert_eq!(
        differences(&desired, &other),
        [".data.password real", ".stringData normalized: put into `data`"]
    );
}
