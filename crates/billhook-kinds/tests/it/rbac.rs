//! Roles and bindings.

use serde_json::json;

use crate::support::Subject;

const GROUP: &str = "rbac.authorization.k8s.io/v1";

/// BK-400: a rule for URLs is looked at no further.
#[test]
fn rules_are_for_resources_or_for_urls() {
    let rules = json!([
        {"verbs": [], "nonResourceURLs": ["/x"], "resources": ["pods"]},
        {"verbs": ["get"], "resources": ["pods"]},
    ]);
    let errors = |kind: &str| {
        let role = json!({"metadata": {"name": "a"}, "rules": rules.clone()});
        Subject::new(GROUP, kind).errors(role, None)
    };
    let common = [
        "rules[0].verbs: Required value: verbs must contain at least one value",
        "rules[0].nonResourceURLs: Invalid value: [\"/x\"]: rules cannot apply to both regular \
         resources and non-resource URLs",
        "rules[1].apiGroups: Required value: resource rules must supply at least one api group",
    ];
    assert_eq!(errors("ClusterRole"), common);
    let [verbs, both, groups] = common;
    let namespaced = "rules[0].nonResourceURLs: Invalid value: [\"/x\"]: namespaced rules cannot \
                      apply to non-resource URLs";
    assert_eq!(errors("Role"), [verbs, namespaced, both, groups]);
}

/// BK-400.
#[test]
fn an_aggregation_names_roles() {
    let role = json!({"metadata": {"name": "a"}, "aggregationRule": {}});
    let errors = Subject::new(GROUP, "ClusterRole").errors(role, None);
    let expected = "aggregationRule.clusterRoleSelectors: Required value: at least one \
                    clusterRoleSelector required if aggregationRule is non-nil";
    assert_eq!(errors, [expected]);
    let selector = json!({"matchLabels": {"-": "a"}});
    let role = json!({"aggregationRule": {"clusterRoleSelectors": [selector]}});
    let errors = Subject::new(GROUP, "ClusterRole").errors(role, None);
    let expected =
        "aggregationRule.clusterRoleSelectors[0]: Invalid value: null: invalid label selector.";
    assert_eq!(errors[1], expected, "the selector that was not made is shown");
}

/// BK-401.
#[test]
fn the_group_of_roles_and_users_is_the_default() {
    let binding = json!({
        "roleRef": {"kind": "Role", "name": "r"},
        "subjects": [{"kind": "User", "name": "u"}, {"kind": "ServiceAccount", "name": "s"}],
    });
    let read = Subject::new(GROUP, "RoleBinding").read(binding);
    let group = json!("rbac.authorization.k8s.io");
    assert_eq!(read.pointer("/roleRef/apiGroup"), Some(&group));
    assert_eq!(read.pointer("/subjects/0/apiGroup"), Some(&group));
    assert_eq!(read.pointer("/subjects/1/apiGroup"), None);
}

/// BK-401, BK-791: the role of a binding stays; it is shown with the names of the server.
#[test]
fn the_role_of_a_binding_does_not_change() {
    let binding = |kind: &str, name: &str| json!({"metadata": {"name": "a"}, "roleRef": {"kind": kind, "name": name}});
    let subject = Subject::new(GROUP, "ClusterRoleBinding");
    let errors = subject.errors(binding("Role", "b"), Some(binding("ClusterRole", "a")));
    assert_eq!(
        errors,
        [
            "roleRef.kind: Unsupported value: \"Role\": supported values: \"ClusterRole\"",
            "roleRef: Invalid value: {\"APIGroup\":\"rbac.authorization.k8s.io\",\"Kind\":\"Role\",\
         \"Name\":\"b\"}: cannot change roleRef",
        ]
    );
}

/// BK-401: only a binding of a namespace knows where a service account without namespace is.
#[test]
fn accounts_of_the_cluster_have_namespaces() {
    let binding = json!({
        "metadata": {"name": "a"},
        "roleRef": {"kind": "ClusterRole", "name": "r"},
        "subjects": [{"kind": "ServiceAccount", "name": "s", "apiGroup": "x"}, {"kind": "Q"}],
    });
    let errors = |kind| Subject::new(GROUP, kind).errors(binding.clone(), None);
    let expected = [
        "subjects[0].apiGroup: Unsupported value: \"x\": supported values: \"\"",
        "subjects[0].namespace: Required value",
        "subjects[1].name: Required value",
        "subjects[1].kind: Unsupported value: \"Q\": supported values: \"ServiceAccount\", \
         \"User\", \"Group\"",
    ];
    assert_eq!(errors("ClusterRoleBinding"), expected);
    let [group, _, name, kind] = expected;
    assert_eq!(errors("RoleBinding"), [group, name, kind]);
}

/// BK-722.
#[test]
fn a_row_lists_subjects_by_kind() {
    let binding = json!({
        "metadata": {"name": "a", "creationTimestamp": "2026-11-22T11:00:00Z"},
        "roleRef": {"kind": "Role", "name": "r"},
        "subjects": [
            {"kind": "User", "name": "u"},
            {"kind": "ServiceAccount", "name": "s", "namespace": "n"},
            {"kind": "User", "name": "v"},
        ],
    });
    let cells = Subject::new(GROUP, "RoleBinding").cells(binding);
    assert_eq!(json!(cells), json!(["a", "Role/r", "60m", "u, v", "", "n/s"]));
}
