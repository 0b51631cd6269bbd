//! Controllers that are switched on by name, and rules that are read from documents.

use billhook_control_plane::controllers::Selection;
use billhook_control_plane::simulation::Rule;
use serde_json::json;

fn names(selection: &Selection) -> Vec<&'static str> {
    selection.controllers().iter().map(|controller| controller.name()).collect()
}

/// Groups and names add up; a minus takes away.
#[test]
fn names_select_controllers() {
    let all = Selection::parse(["all"]).unwrap();
    assert!(all.has_nodes() && all.collects_garbage() && all.has_namespace_controller());
    assert!(all.publishes_certificate() && all.approves_certificates() && all.signs_certificates());
    let some = Selection::parse(["gc", "namespaces", "replicaset-controller"]).unwrap();
    // The server collects; a controller writes the events about it.
    assert_eq!(names(&some), ["garbage-collector-controller", "replicaset-controller"]);
    assert!(some.collects_garbage() && some.ends_namespaces());
    assert!(!some.has_namespace_controller() && !some.has_nodes());
    let without = Selection::parse(["*", "-nodes", "-gc", "-deployment-controller"]).unwrap();
    assert!(!without.has_nodes() && !without.collects_garbage());
    assert!(!names(&without).contains(&"deployment-controller"));
    assert!(Selection::parse([]).unwrap().is_empty());
    // Preemption is on request (CP-101).
    assert!(!all.preempts_pods());
    assert!(Selection::parse(["all", "preemption"]).unwrap().preempts_pods());
    let scheduled = Selection::parse(["workloads", "preemption"]).unwrap();
    assert!(scheduled.preempts_pods() && scheduled.has_nodes());
    let kept = Selection::parse(["nodes", "preemption", "-preemption"]).unwrap();
    assert!(!kept.preempts_pods() && kept.has_nodes());
}

/// A name that is unknown is refused.
#[test]
fn unknown_names_are_refused() {
    let known = "there are all, gc, namespaces, nodes, preemption, workloads, and those of kube-controller-manager";
    for (names, name, near) in [
        (["gc", "-deployments"], "deployments", ", such as deployment-controller"),
        (
            ["certificate", "gc"],
            "certificate",
            ", such as \
            certificatesigningrequest-approving-controller or \
            certificatesigningrequest-cleaner-controller or \
            certificatesigningrequest-signing-controller",
        ),
        (
            ["persistentvolume-", "gc"],
            "persistentvolume-",
            ", such as persistentvolume-binder-controller \
            or persistentvolume-protection-controller",
        ),
        (["scheduler", "gc"], "scheduler", ""),
        (["", "gc"], "", ""),
    ] {
        let error = Selection::parse(names).unwrap_err();
        assert_eq!(error.to_string(), format!("no controller is named {name:?}: {known}{near}"));
    }
}

/// CP-115: each mistake in a rule has its text.
#[test]
fn mistakes_in_rules_are_refused() {
    for (written, expected) in [
        (json!([]), "not an object"),
        (json!({"pods": "a", "exits": 1}), "unknown member \"exits\""),
        (json!({"exit": 1}), "pods is missing: a pattern of names"),
        (json!({"pods": "a", "exit": "1"}), "exit is an exit code"),
        (json!({"pods": "a", "stayPending": false}), "stayPending is true or absent"),
        (json!({"pods": "a", "start": true, "after": 3}), "after is a time such as 3s or 500ms"),
        (json!({"pods": "a", "exit": 1, "times": -1}), "times is a whole number"),
        (json!({"pods": "a", "exit": 1, "container": 1}), "container is a pattern of names"),
    ] {
        assert_eq!(Rule::from_value(&written).unwrap_err().to_string(), expected, "{written}");
    }
    let error = |written| Rule::from_value(&written).unwrap_err().to_string();
    let none = error(json!({"pods": "a"}));
    assert!(none.starts_with("a rule has one of areEvicted, arePulled"), "{none}");
    let two = error(json!({"pods": "a", "start": true, "exit": 1}));
    assert_eq!(two, "exit and start need a rule each");
}
