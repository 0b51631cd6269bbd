//! Priorities.

use serde_json::json;

use crate::support::Subject;

/// BK-482.
#[test]
fn high_priorities_and_names_belong_to_the_system() {
    let errors = |name: &str, value: i64| {
        let class = json!({"metadata": {"name": name}, "value": value});
        Subject::new("scheduling.k8s.io/v1", "PriorityClass").errors(class, None)
    };
    assert!(errors("a", 1_000_000_000).is_empty());
    assert!(errors("system-node-critical", 2_000_001_000).is_empty());
    let too_high = "value: Forbidden: maximum allowed value of a user defined priority is \
                    1000000000";
    assert_eq!(errors("a", 1_000_000_001), [too_high]);
    let reserved = "metadata.name: Forbidden: priority class names with 'system-' prefix are \
                    reserved for system use only. error: system-x is not a known system priority \
                    class";
    assert_eq!(errors("system-x", 2_000_000_001), [reserved]);
}

/// BK-482: a change is checked for what must stay, and for nothing else.
#[test]
fn a_class_does_not_change() {
    let class = |value: i64, policy: &str| json!({"metadata": {"name": "a"}, "value": value, "preemptionPolicy": policy});
    let subject = Subject::new("scheduling.k8s.io/v1", "PriorityClass");
    let errors = subject.errors(class(6, "Odd"), Some(class(5, "Never")));
    assert_eq!(
        errors,
        [
            "value: Forbidden: may not be changed in an update.",
            "preemptionPolicy: Invalid value: \"Odd\": field is immutable",
        ]
    );
}
