//! Volumes and claims.

use serde_json::{Value, json};

use crate::support::Subject;

fn subject(kind: &str) -> Subject {
    Subject::new("v1", kind)
}

fn claim(size: &str) -> Value {
    json!({
        "metadata": {"name": "a"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": size}},
        },
    })
}

fn with(mut object: Value, place: &str, value: Value) -> Value {
    *object.pointer_mut(place).unwrap() = value;
    object
}

/// BK-431: what a claim is filled from stands in both fields, or in none.
#[test]
fn sources_of_claims_are_joined() {
    let prepared = |spec| subject("PersistentVolumeClaim").prepared(json!({"spec": spec}), None);
    let source = json!({"apiGroup": null, "kind": "PersistentVolumeClaim", "name": "b"});
    let joined = prepared(json!({"dataSource": source.clone()}));
    assert_eq!(joined.pointer("/spec/dataSourceRef"), Some(&source));
    let joined = prepared(json!({"dataSourceRef": source.clone()}));
    assert_eq!(joined.pointer("/spec/dataSource"), Some(&source));
    let odd = json!({"apiGroup": "x.io", "kind": "Odd", "name": "b"});
    assert_eq!(prepared(json!({"dataSource": odd})).pointer("/spec/dataSource"), None);
    let other = json!({"kind": "PersistentVolumeClaim", "name": "b", "namespace": "n"});
    let dropped = prepared(json!({"dataSourceRef": other}));
    assert_eq!(dropped.pointer("/spec/dataSourceRef"), None);
}

/// BK-432: a claim shows how it would change, as the server does.
#[test]
fn claims_do_not_change() {
    let new = with(claim("1Gi"), "/spec/accessModes", json!(["ReadWriteMany"]));
    let errors = subject("PersistentVolumeClaim").errors(new, Some(claim("1Gi")));
    assert_eq!(
        errors,
        [concat!(
            "spec: Forbidden: spec is immutable after creation except resources.requests and ",
            "volumeAttributesClassName for bound claims\n",
            "@@ -1,6 +1,6 @@\n",
            " {\n",
            "  \"AccessModes\": [\n",
            "-  \"ReadWriteOnce\"\n",
            "+  \"ReadWriteMany\"\n",
            "  ],\n",
            "  \"Selector\": null,\n",
            "  \"Resources\": {\n",
        )]
    );
}

/// BK-432: bound claims may ask for more, and for less as long as they do not have it.
#[test]
fn bound_claims_grow() {
    let bound = |size: &str| {
        let mut claim = claim(size);
        claim["status"] = json!({"phase": "Bound", "capacity": {"storage": "1Gi"}});
        claim
    };
    let errors =
        |size: &str| subject("PersistentVolumeClaim").errors(bound(size), Some(bound("4Gi")));
    assert!(errors("8Gi").is_empty());
    assert!(errors("2Gi").is_empty());
    let less = "spec.resources.requests.storage: Forbidden: field can not be less than \
                status.capacity";
    assert_eq!(errors("1Gi"), [less]);
    let mut named = bound("4Gi");
    named["spec"]["volumeName"] = json!("v");
    assert!(subject("PersistentVolumeClaim").errors(named, Some(bound("4Gi"))).is_empty());
}

/// BK-433: the time of the last change of phase is the server's, unless the client says another.
#[test]
fn volumes_note_changes_of_phase() {
    let volume = |status| json!({"spec": {"hostPath": {"path": "/x"}}, "status": status});
    let created = subject("PersistentVolume").prepared(volume(json!({"phase": "Odd"})), None);
    let now = json!("2026-11-22T12:00:00Z");
    let time = "/status/lastPhaseTransitionTime";
    assert_eq!(created.pointer("/status/phase"), Some(&json!("Pending")));
    assert_eq!(created.pointer(time), Some(&now));
    let before = json!("2024-01-01T00:00:00Z");
    let old = volume(json!({"phase": "Pending", "lastPhaseTransitionTime": before}));
    let written = |phase: &str, time: &str| {
        let status = json!({"phase": phase, "lastPhaseTransitionTime": time});
        subject("PersistentVolume").subresource("status").prepared(volume(status), Some(&old))
    };
    let (early, late) = ("2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z");
    assert_eq!(written("Bound", early).pointer(time), Some(&now));
    assert_eq!(written("Pending", early).pointer(time), Some(&before));
    assert_eq!(written("Bound", late).pointer(time), Some(&json!(late)));
}

/// BK-433.
#[test]
fn volumes_have_one_source() {
    let errors = |sources: Value| {
        let mut spec = json!({"capacity": {"storage": "1"}, "accessModes": ["ReadWriteOnce"]});
        if let (Value::Object(spec), Value::Object(sources)) = (&mut spec, sources) {
            spec.extend(sources);
        }
        subject("PersistentVolume").errors(json!({"spec": spec}), None)
    };
    assert!(errors(json!({"hostPath": {"path": "/x"}})).is_empty());
    assert_eq!(errors(json!({})), ["spec: Required value: must specify a volume type"]);
    let two = json!({"nfs": {"server": "s", "path": "x"}, "csi": {}});
    assert_eq!(
        errors(two),
        [
            "spec.nfs.path: Invalid value: \"x\": must be an absolute path",
            "spec.csi: Forbidden: may not specify more than 1 volume type",
        ]
    );
    let local = "spec.nodeAffinity: Required value: Local volume requires node affinity";
    assert_eq!(errors(json!({"local": {"path": "/x"}})), [local]);
}

/// BK-433, BK-106.
#[test]
fn volumes_are_on_nodes_with_labels() {
    let errors = |requirement: Value| {
        let terms = json!([{"matchExpressions": [requirement]}]);
        let spec = json!({
            "capacity": {"storage": "1"},
            "accessModes": ["ReadWriteOnce"],
            "local": {"path": "/x"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": terms}},
        });
        let errors = subject("PersistentVolume").errors(json!({"spec": spec}), None);
        let path = "spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].";
        errors.iter().map(|error| error.replace(path, "")).collect::<Vec<_>>()
    };
    assert!(errors(json!({"key": "a", "operator": "Exists"})).is_empty());
    let missing = "values: Required value: must be specified when `operator` is 'In' or 'NotIn'";
    assert_eq!(errors(json!({"key": "a", "operator": "In"})), [missing]);
    let single = "values: Required value: must be specified single value when `operator` is 'Lt' \
                  or 'Gt'";
    assert_eq!(errors(json!({"key": "a", "operator": "Gt", "values": ["1", "2"]})), [single]);
    let label = errors(json!({"key": "a", "operator": "In", "values": ["a", "b c"]}));
    assert!(matches!(&*label, [error] if error.starts_with("values[1]: Invalid value: \"b c\"")));
}

/// BK-722.
#[test]
fn a_row_shows_what_a_bound_claim_has() {
    let unknown = "<unknown>";
    let mut claim = claim("1Gi");
    let status = json!({"accessModes": ["ReadOnlyMany", "ReadWriteOnce"],
        "capacity": {"storage": "2Gi"}});
    claim["status"] = status;
    let row = json!(["a", "Pending", "", "", "", "", "<unset>", unknown, "Filesystem"]);
    assert_eq!(json!(subject("PersistentVolumeClaim").cells(claim.clone())), row);
    claim["spec"]["volumeName"] = json!("v");
    let row = json!(["a", "Pending", "v", "2Gi", "RWO,ROX", "", "<unset>", unknown, "Filesystem"]);
    assert_eq!(json!(subject("PersistentVolumeClaim").cells(claim)), row);
}

/// BK-433.
#[test]
fn endpoints_of_volumes_are_in_namespaces() {
    for (namespace, wanted) in [
        (Value::Null, String::new()),
        ("a".into(), String::new()),
        (
            "a.b".into(),
            "spec.glusterfs.endpointsNamespace: Invalid value: \"a.b\": if the endpointnamespace is set, \
             it must be a valid namespace name"
                .to_owned(),
        ),
    ] {
        let source = json!({"endpoints": "e", "path": "p", "endpointsNamespace": namespace});
        let spec = json!({
            "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1"}, "glusterfs": source,
        });
        let volume = json!({"metadata": {"name": "a"}, "spec": spec});
        assert_eq!(subject("PersistentVolume").errors(volume, None).join("; "), wanted);
    }
}
