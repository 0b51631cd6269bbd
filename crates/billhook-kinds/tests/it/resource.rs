//! Claims and slices of devices.

use serde_json::json;

use crate::support::Subject;

/// BK-488.
#[test]
fn requests_are_for_one_device() {
    let devices = json!({"requests": [
        {"name": "a", "exactly": {"deviceClassName": "c", "tolerations": [{"key": "k"}]}},
        {"name": "b", "firstAvailable": [
            {"name": "s", "deviceClassName": "c", "allocationMode": "All"},
        ]},
    ]});
    let claim = json!({"spec": {"devices": devices.clone()}});
    let claim = Subject::new("resource.k8s.io/v1", "ResourceClaim").read(claim);
    let place = "/spec/devices/requests/0/exactly";
    assert_eq!(claim.pointer(&format!("{place}/allocationMode")), Some(&json!("ExactCount")));
    assert_eq!(claim.pointer(&format!("{place}/count")), Some(&json!(1)));
    assert_eq!(claim.pointer(&format!("{place}/tolerations/0/operator")), Some(&json!("Equal")));
    let alternative = claim.pointer("/spec/devices/requests/1/firstAvailable/0").unwrap();
    assert_eq!(alternative.get("count"), None);
    let template = json!({"spec": {"spec": {"devices": devices}}});
    let template = Subject::new("resource.k8s.io/v1", "ResourceClaimTemplate").read(template);
    assert_eq!(template.pointer("/spec/spec"), claim.pointer("/spec"));
}

/// BK-488.
#[test]
fn taints_of_devices_have_a_time() {
    let slice = json!({"spec": {"devices": [
        {"name": "a", "taints": [
            {"key": "k", "effect": "NoExecute"},
            {"key": "l", "effect": "NoExecute", "timeAdded": "2024-01-01T00:00:00Z"},
        ]},
    ]}});
    let slice = Subject::new("resource.k8s.io/v1", "ResourceSlice").prepared(slice, None);
    let taints = slice.pointer("/spec/devices/0/taints").unwrap();
    assert_eq!(taints.pointer("/0/timeAdded"), Some(&json!("2026-11-22T12:00:00Z")));
    assert_eq!(taints.pointer("/1/timeAdded"), Some(&json!("2024-01-01T00:00:00Z")));
}
