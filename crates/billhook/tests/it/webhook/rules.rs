//! Which requests a rule is for (WM-30 to WM-39).

use billhook::webhook::{Dimension, EquivalentResources, MatchContext, Operation, TraceStep};
use serde_json::{Value, json};

use crate::webhook::support::{decide, hook, namespaces, plain_outcome, request};

fn rule(resources: &[&str]) -> Value {
    let versions = ["v1"];
    json!({"operations": ["*"], "apiGroups": [""], "apiVersions": versions, "resources": resources})
}

/// WM-34, WM-35, WM-36.
#[test]
fn resources_and_subresources() {
    let requests = ["pods", "pods/status", "pods/exec", "nodes", "nodes/status", "pods/a/b"];
    for (element, expected) in [
        ("pods", [true, false, false, false, false, false]),
        ("pods/status", [false, true, false, false, false, false]),
        ("pods/*", [true, true, true, false, false, true]),
        ("*", [true, false, false, true, false, false]),
        ("*/*", [true, true, true, true, true, true]),
        ("*/status", [false, true, false, false, true, false]),
        ("pods/", [true, false, false, false, false, false]),
        ("pods/a/b", [false, false, false, false, false, false]),
        ("p*", [false; 6]),
        ("", [false; 6]),
    ] {
        let hook = hook(&json!({"rules": [rule(&[element])]}));
        for (target, expected) in requests.iter().zip(expected) {
            let request = request(Operation::Create, &format!("/v1/{target}"), "default");
            let called = plain_outcome(&hook, &request) == "called";
            assert_eq!(called, expected, "{element} for {target}");
        }
    }
}

/// A subresource never has a slash, but the rest of an element is compared as a whole (WM-36).
#[test]
fn the_rest_behind_the_first_slash_is_one_name() {
    let hook = hook(&json!({"rules": [rule(&["pods/a/b"])]}));
    let request = request(Operation::Create, "/v1/pods", "default").subresource("a/b");
    assert_eq!(plain_outcome(&hook, &request), "called");
}

/// WM-32, WM-33.
#[test]
fn operations_groups_and_versions() {
    let check = |fields: Value, operation, target: &str, expected: bool| {
        let mut rule = rule(&["*"]);
        for (name, value) in fields.as_object().unwrap() {
            rule[name] = value.clone();
        }
        let request = request(operation, target, "default");
        let called = plain_outcome(&hook(&json!({"rules": [rule]})), &request) == "called";
        assert_eq!(called, expected, "{fields} for {operation} {target}");
    };
    for operation in Operation::ALL {
        check(json!({}), operation, "/v1/pods", true);
        for listed in Operation::ALL {
            let fields = json!({"operations": [listed.name()]});
            check(fields, operation, "/v1/pods", operation == listed);
        }
    }
    let create = Operation::Create;
    check(json!({"operations": ["CREATE", "UPDATE"]}), Operation::Update, "/v1/pods", true);
    check(json!({"operations": ["create"]}), create, "/v1/pods", false);
    check(json!({"operations": []}), create, "/v1/pods", false);
    check(json!({"apiGroups": [""]}), create, "apps/v1/pods", false);
    check(json!({"apiGroups": ["*"]}), create, "apps/v1/pods", true);
    check(json!({"apiGroups": ["*"]}), create, "/v1/pods", true);
    check(json!({"apiGroups": ["b", "apps", "a"]}), create, "apps/v1/pods", true);
    check(json!({"apiGroups": ["*.example.com"]}), create, "a.example.com/v1/pods", false);
    check(json!({"apiVersions": ["*"]}), create, "/v2beta1/pods", true);
    check(json!({"apiVersions": ["v2", "v1"]}), create, "/v1/pods", true);
    check(json!({"apiVersions": ["v1*"]}), create, "/v1beta1/pods", false);
    check(json!({"apiVersions": []}), create, "/v1/pods", false);
    check(json!({"resources": []}), create, "/v1/pods", false);
}

/// WM-37, WM-38.
#[test]
fn scope() {
    let targets = [
        ("/v1/pods", "default"),
        ("/v1/pods/exec", "default"),
        ("/v1/nodes", ""),
        ("/v1/namespaces", "a"),
        ("/v1/namespaces/finalize", "a"),
        ("example.com/v1/namespaces", "a"),
        ("/v2/namespaces", "a"),
    ];
    for (scope, expected) in [
        (Value::Null, [true; 7]),
        (json!("*"), [true; 7]),
        (json!("Namespaced"), [true, true, false, false, false, true, true]),
        (json!("Cluster"), [false, false, true, true, true, false, false]),
        (json!("namespaced"), [false; 7]),
        (json!(""), [false; 7]),
    ] {
        let rule = json!({"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"],
            "resources": ["*/*"], "scope": scope});
        let hook = hook(&json!({"rules": [rule]}));
        for ((target, namespace), expected) in targets.iter().zip(expected) {
            let request = request(Operation::Create, target, namespace);
            let called = plain_outcome(&hook, &request) == "called";
            assert_eq!(called, expected, "{scope} for {target}");
        }
    }
}

/// The table under WM-39.
#[test]
fn whole_rules() {
    let rule = |operations: &[&str],
                groups: &[&str],
                versions: &[&str],
                resources: &[&str],
                scope| {
        json!({"rules": [{"operations": operations, "apiGroups": groups, "apiVersions": versions,
            "resources": resources, "scope": scope}]})
    };
    let apps = rule(
        &["CREATE", "UPDATE"],
        &["apps"],
        &["v1", "v1beta1"],
        &["deployments", "replicasets"],
        "Namespaced",
    );
    let all = |scope| rule(&["CREATE"], &["*"], &["*"], &["*"], scope);
    let status = rule(&["UPDATE"], &["*"], &["*"], &["*/status"], "*");
    for (fields, operation, target, namespace, expected) in [
        (&apps, Operation::Create, "apps/v1/replicasets", "n", true),
        (&apps, Operation::Create, "apps/v1beta2/replicasets", "n", false),
        (&apps, Operation::Update, "apps/v1/deployments/scale", "n", false),
        (&all("*"), Operation::Create, "example.com/v1/things", "", true),
        (&status, Operation::Update, "/v1/pods/status", "n", true),
        (&all("Cluster"), Operation::Create, "/v1/namespaces", "n", true),
        (&all("Namespaced"), Operation::Create, "/v1/namespaces", "n", false),
        (&json!({"rules": []}), Operation::Create, "/v1/pods", "n", false),
        (&json!({}), Operation::Create, "/v1/pods", "n", false),
    ] {
        let request = request(operation, target, namespace);
        let called = plain_outcome(&hook(fields), &request) == "called";
        assert_eq!(called, expected, "{fields} for {operation} {target}");
    }
}

/// The first rule that matches decides; each one before it names the first part that does not fit
/// (WM-30, WM-95).
#[test]
fn traces_name_the_first_part_that_does_not_fit() {
    let rule = |scope, operation, group, version, resource| {
        json!({"operations": [operation], "apiGroups": [group], "apiVersions": [version],
            "resources": [resource], "scope": scope})
    };
    let hook = hook(&json!({"rules": [
        rule("Cluster", "DELETE", "apps", "v2", "nodes"),
        rule("*", "DELETE", "apps", "v2", "nodes"),
        rule("*", "CREATE", "apps", "v2", "nodes"),
        rule("*", "CREATE", "", "v2", "nodes"),
        rule("*", "CREATE", "", "v1", "nodes"),
        rule("*", "CREATE", "", "v1", "pods"),
        rule("*", "CREATE", "", "v1", "*"),
    ]}));
    let (namespaces, registry) = (namespaces(&[]), EquivalentResources::new());
    let context = MatchContext::new(&namespaces, &registry);
    let trace = decide(&hook, &request(Operation::Create, "/v1/pods", "n"), &context);
    let failed: Vec<_> = trace
        .steps()
        .iter()
        .filter_map(|step| match step {
            TraceStep::Rule { index, failed, .. } => {
                Some((*index, failed.as_ref().map(|failed| failed.dimension)))
            }
            _ => None,
        })
        .collect();
    assert_eq!(
        failed,
        [
            (0, Some(Dimension::Scope)),
            (1, Some(Dimension::Operation)),
            (2, Some(Dimension::Group)),
            (3, Some(Dimension::Version)),
            (4, Some(Dimension::Resource)),
            (5, None),
        ]
    );
}
