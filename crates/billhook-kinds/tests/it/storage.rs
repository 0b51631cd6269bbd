//! Classes and drivers of storage.

use billhook_apimachinery::KubernetesVersion;
use serde_json::{Value, json};

use crate::support::Subject;

fn subject(kind: &str) -> Subject {
    Subject::new("storage.k8s.io/v1", kind)
}

fn class(topologies: &Value) -> Value {
    json!({"metadata": {"name": "a"}, "provisioner": "x.io/p", "allowedTopologies": topologies})
}

/// BK-434: terms are sets of values by key; one without requirements repeats what is there anyway.
#[test]
fn topologies_do_not_repeat() {
    let term = |key: &str, values: &[&str]| json!({"matchLabelExpressions": [{"key": key, "values": values}]});
    let errors = |topologies| subject("StorageClass").errors(class(&topologies), None);
    let (first, second) = (term("z", &["a", "b"]), term("z", &["b", "a"]));
    assert!(errors(json!([first.clone(), term("z", &["a"])])).is_empty());
    let repeated = "allowedTopologies[1].matchLabelExpressions: Duplicate value: \"\"";
    assert_eq!(errors(json!([first, second])), [repeated]);
    let empty = "allowedTopologies[0].matchLabelExpressions: Duplicate value: \"\"";
    assert_eq!(errors(json!([{}])), [empty]);
}

/// BK-434: an empty policy is stored as it is.
#[test]
fn classes_have_defaults() {
    let read = subject("StorageClass").read(json!({"provisioner": "p"}));
    assert_eq!(read.get("reclaimPolicy"), Some(&json!("Delete")));
    assert_eq!(read.get("volumeBindingMode"), Some(&json!("Immediate")));
    let class = json!({"metadata": {"name": "a"}, "provisioner": "p", "reclaimPolicy": ""});
    assert!(subject("StorageClass").errors(class, None).is_empty());
}

/// BK-435: drivers are asked to take tokens from secrets when their tokens change.
#[test]
fn drivers_are_warned_of_tokens() {
    let driver = |seconds: i64, info: bool| {
        let tokens = json!([{"audience": "a", "expirationSeconds": seconds}]);
        json!({"spec": {"tokenRequests": tokens, "podInfoOnMount": info}})
    };
    let warnings = |driver, old| subject("CSIDriver").warnings(driver, old);
    assert_eq!(warnings(driver(700, true), None).len(), 1);
    assert_eq!(warnings(driver(700, true), Some(driver(700, false))).len(), 0);
    assert_eq!(warnings(driver(701, true), Some(driver(700, true))).len(), 1);
    let older = subject("CSIDriver").on(KubernetesVersion::V1_34);
    assert_eq!(older.warnings(driver(700, true), None).len(), 0);
}

/// BK-435: newer servers let the number of volumes change, which they leave out of the error.
#[test]
fn drivers_of_a_node_stay() {
    let node = |id: &str, count: i64| {
        let driver = json!({"name": "d", "nodeID": id, "allocatable": {"count": count}});
        json!({"metadata": {"name": "a"}, "spec": {"drivers": [driver]}})
    };
    let subject = || subject("CSINode");
    assert!(subject().errors(node("n", 2), Some(node("n", 1))).is_empty());
    let error = |allocatable: &str| {
        format!(
            "spec.drivers: Invalid value: {{\"Name\":\"d\",\"NodeID\":\"o\",\"TopologyKeys\":null,\
             \"Allocatable\":{allocatable}}}: field is immutable"
        )
    };
    assert_eq!(subject().errors(node("o", 1), Some(node("n", 1))), [error("null")]);
    let older = subject().on(KubernetesVersion::V1_34);
    assert_eq!(older.errors(node("o", 2), Some(node("n", 1))), [error("{\"Count\":2}")]);
}

/// BK-435.
#[test]
fn attachments_have_one_source() {
    let attachment =
        |source| json!({"spec": {"attacher": "x.io", "nodeName": "n", "source": source}});
    let errors = |source| subject("VolumeAttachment").errors(attachment(source), None);
    assert!(errors(json!({"persistentVolumeName": "v"})).is_empty());
    let detail = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
    assert_eq!(errors(json!({})), [format!("spec.source: Required value: {detail}")]);
    let both = json!({"persistentVolumeName": "v", "inlineVolumeSpec": {}});
    assert_eq!(errors(both), [format!("spec.source: Forbidden: {detail}")]);
}

/// BK-435.
#[test]
fn attachments_of_inline_volumes() {
    let attachment = |volume| {
        let source = json!({"inlineVolumeSpec": volume});
        json!({"metadata": {"name": "a"}, "spec": {"attacher": "a.b", "nodeName": "n", "source": source}})
    };
    let csi = json!({"driver": "a.b", "volumeHandle": "h"});
    let whole = json!({"accessModes": ["ReadWriteOnce"], "csi": csi});
    let subject = Subject::new("storage.k8s.io/v1", "VolumeAttachment");
    assert_eq!(subject.errors(attachment(whole), None), [""; 0]);
    let odd = json!({
        "capacity": {"storage": "1"}, "claimRef": {"name": "c"}, "storageClassName": "s",
        "hostPath": {"path": "/a"}, "nodeAffinity": {},
    });
    let at = "spec.source.inlineVolumeSpec";
    let refused = "Forbidden: may not be specified in the context of inline volumes";
    assert_eq!(
        subject.errors(attachment(odd), None),
        [
            format!("{at}.claimRef: {refused}"),
            format!("{at}.capacity: {refused}"),
            format!("{at}.nodeAffinity: {refused}"),
            format!("{at}.storageClassName: {refused}"),
            format!(
                "{at}.csi: Required value: has to be specified in the context of inline volumes"
            ),
            format!("{at}.accessModes: Required value"),
        ]
    );
}
