//! The roles that the requests of a run needed, with their bindings.

use billhook::to_yaml;
use billhook_apiserver::UsedPermissions;
use billhook_kinds::PolicyRule;
use serde_json::{Value, json};

const API_VERSION: &str = "rbac.authorization.k8s.io/v1";

/// Returns the documents of the least roles, by user.
pub(super) fn of(used: &[UsedPermissions]) -> String {
    let mut documents = Vec::new();
    for used in used {
        let name = name_of(&used.user);
        if !used.cluster.is_empty() {
            add(&mut documents, used, &name, "", &used.cluster);
        }
        for (namespace, rules) in &used.namespaces {
            add(&mut documents, used, &name, namespace, rules);
        }
    }
    let texts: Vec<String> = documents.iter().map(to_yaml).collect();
    texts.join("---\n")
}

/// Adds a role and its binding.
fn add(
    documents: &mut Vec<Value>,
    used: &UsedPermissions,
    name: &str,
    namespace: &str,
    rules: &[PolicyRule],
) {
    let (kind, metadata) = match namespace {
        "" => ("ClusterRole", json!({"name": name})),
        namespace => ("Role", json!({"name": name, "namespace": namespace})),
    };
    let rules: Vec<Value> = rules.iter().map(PolicyRule::to_value).collect();
    documents.push(
        json!({"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "rules": rules}),
    );
    documents.push(json!({
        "apiVersion": API_VERSION, "kind": format!("{kind}Binding"), "metadata": metadata,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name},
        "subjects": [subject(&used.user)],
    }));
}

fn subject(user: &str) -> Value {
    let account = user.strip_prefix("system:serviceaccount:");
    match account.and_then(|account| account.split_once(':')) {
        Some((namespace, name)) => {
            json!({"kind": "ServiceAccount", "namespace": namespace, "name": name})
        }
        None => json!({"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": user}),
    }
}

/// The name of the roles of a user: its own, without what may not stand in a path.
fn name_of(user: &str) -> String {
    let name = user.replace(['/', '%'], "-");
    if matches!(name.as_str(), "" | "." | "..") { "user".to_owned() } else { name }
}
