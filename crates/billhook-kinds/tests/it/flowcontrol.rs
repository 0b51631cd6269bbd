//! Flows and their priorities.

use serde_json::json;

use crate::support::Subject;

const GROUP: &str = "flowcontrol.apiserver.k8s.io/v1";

/// BK-488.
#[test]
fn schemas_say_which_requests() {
    let schema = json!({
        "metadata": {"name": "a"},
        "spec": {
            "matchingPrecedence": 1,
            "distinguisherMethod": {"type": "Odd"},
            "rules": [{
                "subjects": [{"kind": "User", "group": {"name": "g"}}],
                "resourceRules": [{"verbs": ["*", "get"], "apiGroups": ["*"], "resources": ["*"]}],
                "nonResourceRules": [{"verbs": ["odd"], "nonResourceURLs": ["/a*"]}],
            }],
        },
    });
    let errors = Subject::new(GROUP, "FlowSchema").errors(schema, None);
    assert_eq!(
        errors,
        [
            "spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have \
         matchingPrecedence 1",
            "spec.distinguisherMethod.type: Unsupported value: {\"Type\":\"Odd\"}: supported values: \
         \"ByNamespace\", \"ByUser\"",
            "spec.priorityLevelConfiguration.name: Required value: must reference a priority level",
            "spec.rules[0].subjects[0].user: Required value: user is required when subject kind is \
         'User'",
            "spec.rules[0].subjects[0].group: Forbidden: group is forbidden when subject kind is not \
         'Group'",
            "spec.rules[0].resourceRules[0].verbs: Invalid value: [\"*\",\"get\"]: if '*' is present, \
         must not specify other verbs",
            "spec.rules[0].resourceRules[0].namespaces: Required value: resource rules that are not \
         cluster scoped must supply at least one namespace",
            "spec.rules[0].nonResourceRules[0].verbs: Unsupported value: [\"odd\"]: supported values: \
         \"create\", \"delete\", \"deletecollection\", \"get\", \"list\", \"patch\", \"proxy\", \
         \"update\", \"watch\"",
            "spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid value: \"/a*\": wildcard \
         can only do suffix matching",
        ]
    );
}

/// BK-488.
#[test]
fn levels_have_defaults() {
    let level = json!({"spec": {
        "type": "Limited",
        "limited": {"limitResponse": {"type": "Queue", "queuing": {"queues": 16}}},
    }});
    let level = Subject::new(GROUP, "PriorityLevelConfiguration").read(level);
    assert_eq!(
        level.pointer("/spec/limited"),
        Some(&json!({
            "nominalConcurrencyShares": 30,
            "lendablePercent": 0,
            "limitResponse": {
                "type": "Queue",
                "queuing": {"queues": 16, "handSize": 8, "queueLengthLimit": 50},
            },
        }))
    );
}

/// BK-488.
#[test]
fn levels_are_exempt_or_limited() {
    let errors = |name: &str, spec| {
        let level = json!({"metadata": {"name": name}, "spec": spec});
        Subject::new(GROUP, "PriorityLevelConfiguration").errors(level, None)
    };
    let limited = |queuing| {
        let response = json!({"type": "Queue", "queuing": queuing});
        json!({"type": "Limited", "limited": {"limitResponse": response}})
    };
    assert!(errors("a", limited(json!({}))).is_empty());
    let exempt = "spec.type: Invalid value: \"Exempt\": must be 'Exempt' if and only if `name` is \
                  'exempt'";
    assert_eq!(errors("a", json!({"type": "Exempt"})), [exempt]);
    let at = "spec.limited.limitResponse.queuing.handSize: Invalid value";
    let too_large = format!("{at}: 9: should not be greater than queues (8)");
    assert_eq!(errors("a", limited(json!({"queues": 8, "handSize": 9}))), [too_large]);
    let too_random = format!(
        "{at}: 16: required entropy bits of deckSize 64 and handSize 16 should not be greater than \
         60"
    );
    assert_eq!(errors("a", limited(json!({"handSize": 16}))), [too_random]);
}

/// BK-488.
#[test]
fn some_objects_have_fixed_specs() {
    let schema = |name: &str, precedence: i64| {
        json!({
            "metadata": {"name": name},
            "spec": {"priorityLevelConfiguration": {"name": name}, "matchingPrecedence": precedence},
        })
    };
    let level =
        |name: &str, spec: serde_json::Value| json!({"metadata": {"name": name}, "spec": spec});
    let exempt =
        |shares: i64| json!({"type": "Exempt", "exempt": {"nominalConcurrencyShares": shares}});
    let limited = |shares: i64| {
        let response = json!({"type": "Reject"});
        json!({"type": "Limited", "limited": {"nominalConcurrencyShares": shares, "limitResponse": response}})
    };
    for (kind, object, wanted) in [
        ("FlowSchema", schema("a", 5), ""),
        ("FlowSchema", schema("exempt", 1), "spec of 'exempt' must equal the fixed value"),
        ("FlowSchema", schema("catch-all", 9), "spec of 'catch-all' must equal the fixed value"),
        ("PriorityLevelConfiguration", level("exempt", exempt(7)), ""),
        (
            "PriorityLevelConfiguration",
            level("exempt", limited(5)),
            "spec of 'exempt' except the 'spec.exempt' field must equal the fixed value",
        ),
        ("PriorityLevelConfiguration", level("catch-all", limited(5)), ""),
        (
            "PriorityLevelConfiguration",
            level("catch-all", limited(6)),
            "spec of 'catch-all' must equal the fixed value",
        ),
    ] {
        let errors = Subject::new(GROUP, kind).errors(object, None);
        let first = errors.first().map(String::as_str).unwrap_or_default();
        assert!(first.ends_with(wanted) && first.is_empty() == wanted.is_empty(), "{errors:?}");
        assert!(first.is_empty() || first.starts_with("spec: Invalid value: {"), "{first}");
    }
}
