//! The rules of roles, and the subjects of bindings (BK-650, BK-652).

use billhook::webhook::{AuthorizationRequest, AuthorizationTarget, ResourceTarget};
use billhook_apimachinery::UserInfo;
use billhook_kinds::{PolicyRule, RoleBinding};
use serde_json::{Value, json};

fn rules(rules: &Value) -> Vec<PolicyRule> {
    PolicyRule::read_all(&json!({ "rules": rules }))
}

fn request(verb: &str, target: AuthorizationTarget) -> AuthorizationRequest {
    let mut request = AuthorizationRequest::default();
    request.verb = verb.to_owned();
    request.target = target;
    request
}

/// BK-650: the rules and the answers of a recorded server.
#[test]
fn rules_allow_what_they_name() {
    let rules = rules(&json!([
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]},
        {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["one"], "verbs": ["*"]},
        {"apiGroups": ["apps"], "resources": ["*/scale"], "verbs": ["get"]},
        {"nonResourceURLs": ["/zz/*", "/version"], "verbs": ["get"]},
    ]));
    let is_allowed = |request: &AuthorizationRequest| rules.iter().any(|it| it.allows(request));
    for (verb, group, resource, subresource, name, expected) in [
        ("list", "", "pods", "", "", true),
        ("get", "", "pods", "", "none", true),
        ("watch", "", "pods", "", "", false),
        ("get", "", "pods", "log", "none", false),
        ("create", "", "pods", "", "", false),
        ("get", "", "configmaps", "", "one", true),
        ("get", "", "configmaps", "", "two", false),
        ("list", "", "configmaps", "", "", false),
        ("list", "", "configmaps", "", "one", true),
        ("patch", "", "configmaps", "", "one", true),
        ("deletecollection", "", "configmaps", "", "", false),
        ("get", "apps", "deployments", "scale", "d", true),
        ("get", "apps", "deployments", "", "d", false),
    ] {
        let mut target = ResourceTarget::new(group, resource);
        target.subresource = subresource.to_owned();
        target.name = name.to_owned();
        let asked = request(verb, AuthorizationTarget::Resource(target));
        assert_eq!(is_allowed(&asked), expected, "{verb} {resource}/{subresource} {name}");
    }
    for (path, expected) in [("/zz/a", true), ("/zy", false), ("/version", true), ("/v", false)] {
        let asked = request("get", AuthorizationTarget::Path(path.to_owned()));
        assert_eq!(is_allowed(&asked), expected, "{path}");
    }
}

/// BK-652: the answer of a recorded server to a role whose rules its writer does not hold.
#[test]
fn rights_that_are_not_held_are_listed_as_a_server_lists_them() {
    let held = rules(&json!([
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]},
    ]));
    let wanted = rules(&json!([
        {"apiGroups": [""], "resources": ["pods", "secrets"], "verbs": ["get", "delete"]},
        {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["*"]},
    ]));
    let missing = PolicyRule::not_held(&wanted, &held);
    let missing: Vec<String> = missing.unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(
        missing,
        [
            r#"{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}"#,
            r#"{APIGroups:[""], Resources:["secrets"], Verbs:["get" "delete"]}"#,
            r#"{APIGroups:["apps"], Resources:["deployments"], Verbs:["*"]}"#,
        ]
    );
}

/// BK-652: names narrow a rule, and only a rule without names or with them covers it.
#[test]
fn rules_cover_narrower_ones() {
    let of = |names: &[&str], verb: &str| {
        PolicyRule::read(&json!({"apiGroups": [""], "resources": ["secrets"],
            "resourceNames": names, "verbs": [verb]}))
    };
    for (held, wanted, expected) in [
        (of(&[], "get"), of(&["a"], "get"), true),
        (of(&["a"], "get"), of(&[], "get"), false),
        (of(&["a", "b"], "get"), of(&["a"], "get"), true),
        (of(&["b"], "get"), of(&["a"], "get"), false),
        (of(&[], "*"), of(&[], "get"), true),
        (of(&[], "get"), of(&[], "*"), false),
    ] {
        assert_eq!(held.covers(&wanted), expected, "{held} {wanted}");
    }
}

/// BK-650.
#[test]
fn bindings_bind_their_subjects() {
    let binding = RoleBinding::read(&json!({
        "metadata": {"name": "b", "namespace": "ns"},
        "roleRef": {"kind": "Role", "name": "r"},
        "subjects": [
            {"kind": "User", "name": "u"},
            {"kind": "Group", "name": "g"},
            {"kind": "ServiceAccount", "name": "sa", "namespace": "ns"},
            {"kind": "ServiceAccount", "name": "nowhere"},
        ],
    }));
    let account = "system:serviceaccount";
    for (user, expected) in [
        (UserInfo::named("u"), true),
        (UserInfo::named("x").group("g"), true),
        (UserInfo::named("g"), false),
        (UserInfo::named(format!("{account}:ns:sa")), true),
        (UserInfo::named(format!("{account}:other:sa")), false),
        (UserInfo::named(format!("{account}::nowhere")), false),
    ] {
        assert_eq!(binding.binds(&user), expected, "{user:?}");
    }
}
