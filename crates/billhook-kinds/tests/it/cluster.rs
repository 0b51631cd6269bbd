//! Nodes, quotas and ranges of limits.

use billhook_apimachinery::KubernetesVersion;
use serde_json::{Value, json};

use crate::support::Subject;

fn subject(kind: &str) -> Subject {
    Subject::new("v1", kind)
}

/// BK-483: the path of taints is the server's.
#[test]
fn taints_do_not_repeat() {
    let taint = json!({"key": "a", "effect": "NoSchedule"});
    let node = json!({"spec": {"taints": [taint, taint]}});
    let errors = subject("Node").errors(node, None);
    assert_eq!(
        errors,
        ["metadata.taints[1]: Duplicate value: {\"Key\":\"a\",\"Value\":\"\",\"Effect\":\
         \"NoSchedule\",\"TimeAdded\":null}: taints must be unique by key and effect pair",]
    );
}

/// BK-483.
#[test]
fn ranges_of_pods_are_joined() {
    let read = |spec: Value| {
        let node = subject("Node").read(json!({"spec": spec}));
        node.get("spec").cloned().unwrap()
    };
    let joined = json!({"podCIDR": "10.0.0.0/24", "podCIDRs": ["10.0.0.0/24"]});
    assert_eq!(read(json!({"podCIDR": "10.0.0.0/24"})), joined);
    assert_eq!(read(json!({"podCIDRs": ["10.0.0.0/24"]})), joined);
    let both = json!({"podCIDR": "10.0.0.0/24", "podCIDRs": ["10.1.0.0/24", "fd00::/64"]});
    assert_eq!(read(both), joined);
}

/// BK-30, BK-483: the ranges of pods are strict from 1.36 on, unless they are stored.
#[test]
fn ranges_of_pods_are_strict() {
    let node = |range: &str| {
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"},
            "spec": {"podCIDR": range}})
    };
    for (range, detail) in [
        ("10.1.0.0", "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"),
        ("010.1.0.0/24", "must not have leading 0s in IP or prefix length"),
        ("10.1.0.0/08", "must not have leading 0s in IP or prefix length"),
        ("::ffff:10.1.0.0/120", "must not have an IPv4-mapped IPv6 address"),
        ("10.1.0.1/24", "must not have bits set beyond the prefix length"),
    ] {
        let errors = subject("Node").errors(node(range), None);
        let first = format!("spec.podCIDRs[0]: Invalid value: \"{range}\": {detail}");
        assert_eq!(errors.first(), Some(&first));
        assert_eq!(subject("Node").errors(node(range), Some(node(range))), [""; 0]);
        let older = subject("Node").on(KubernetesVersion::V1_35).errors(node(range), None);
        assert_eq!(older.len(), usize::from(range == "10.1.0.0"), "{range}");
    }
}

/// BK-486: missing amounts follow from those that are there.
#[test]
fn limits_of_containers_have_defaults() {
    let limit =
        json!({"type": "Container", "max": {"cpu": "2"}, "min": {"cpu": "1", "memory": "1"}});
    let range = subject("LimitRange").read(json!({"spec": {"limits": [limit]}}));
    let of = |name: &str| range.pointer(&format!("/spec/limits/0/{name}")).cloned().unwrap();
    assert_eq!(of("default"), json!({"cpu": "2"}));
    assert_eq!(of("defaultRequest"), json!({"cpu": "2", "memory": "1"}));
}

/// BK-486: errors about defaults show the amount that they do not fit.
#[test]
fn limits_fit_one_another() {
    let limit = json!({
        "type": "x.io/t",
        "max": {"cpu": "2"},
        "min": {"cpu": "1"},
        "default": {"cpu": "3"},
        "defaultRequest": {"cpu": "500m"},
        "maxLimitRequestRatio": {"cpu": "4"},
    });
    let errors = subject("LimitRange").errors(json!({"spec": {"limits": [limit]}}), None);
    let at = "spec.limits[0]";
    assert_eq!(
        errors,
        [
            format!(
                "{at}.defaultRequest[cpu]: Invalid value: \"500m\": min value 1 is greater than \
             default request value 500m"
            ),
            format!(
                "{at}.default[cpu]: Invalid value: \"2\": default value 3 is greater than max value 2"
            ),
            format!(
                "{at}.maxLimitRequestRatio[cpu]: Invalid value: \"4\": ratio 4 is greater than \
             max/min = 2.000000"
            ),
        ]
    );
}

/// BK-485.
#[test]
fn scopes_fit_resources() {
    let quota = |hard: Value, scopes: &[&str]| json!({"metadata": {"name": "a"}, "spec": {"hard": hard, "scopes": scopes}});
    let errors = |hard, scopes: &[&str]| subject("ResourceQuota").errors(quota(hard, scopes), None);
    assert!(errors(json!({"pods": "1", "requests.cpu": "1"}), &["Terminating"]).is_empty());
    let at = "spec.scopes: Invalid value";
    assert_eq!(
        errors(json!({"secrets": "1"}), &["Terminating"]),
        [format!("{at}: [\"Terminating\"]: unsupported scope applied to resource")]
    );
    assert_eq!(
        errors(json!({}), &["BestEffort", "NotBestEffort"]),
        [format!("{at}: [\"BestEffort\",\"NotBestEffort\"]: conflicting scopes")]
    );
    let amount = "spec.hard[pods]: Invalid value: \"1500m\": must be an integer";
    assert_eq!(errors(json!({"pods": "1.5"}), &[]), [amount]);
}

/// BK-485.
#[test]
fn quotas_warn_of_limits_below_requests() {
    let quota = json!({"spec": {"hard": {"requests.cpu": "2", "limits.cpu": "1500m"}}});
    let warning = "ResourceQuota requests.cpu (2) should be less than limits.cpu (1500m)";
    assert_eq!(subject("ResourceQuota").warnings(quota, None), [warning]);
}

/// BK-722.
#[test]
fn a_row_shows_the_state_of_a_node() {
    let labels = json!({"node-role.kubernetes.io/b": "", "kubernetes.io/role": "a"});
    let node = json!({
        "metadata": {"name": "a", "labels": labels},
        "spec": {"unschedulable": true},
        "status": {
            "conditions": [{"type": "Ready", "status": "True"}],
            "addresses": [{"type": "InternalIP", "address": "1.1.1.1"}],
            "nodeInfo": {"kernelVersion": "6", "architecture": "arm64"},
        },
    });
    let unknown = "<unknown>";
    assert_eq!(
        json!(subject("Node").cells(node)),
        json!([
            "a",
            "Ready,SchedulingDisabled",
            "a,b",
            unknown,
            "",
            "1.1.1.1",
            "<none>",
            unknown,
            "6 (arm64)",
            unknown,
        ])
    );
}
