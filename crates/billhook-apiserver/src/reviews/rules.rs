//! All that a user may do, where it is known without asking.

use billhook_apimachinery::{Status, UserInfo};
use billhook_kinds::PolicyRule;
use serde_json::{Value, json};

use crate::shared::Shared;

/// Returns the status of a review of a user's rules in a namespace.
pub(super) fn of(server: &Shared, user: &UserInfo, namespace: &str) -> Result<Value, Status> {
    let permissions = &server.permissions;
    if namespace.is_empty() {
        return Err(Status::bad_request("no namespace on request"));
    }
    if permissions.allows_everything() {
        return Ok(json!({
            "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
            "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
        }));
    }
    if !permissions.is_by_roles() {
        let why = "the authorizer of this server answers questions and lists no rules";
        return Ok(json!({"incomplete": true, "evaluationError": why}));
    }
    let rules = permissions.roles.rules_of(user, namespace);
    let (of_paths, of_resources): (Vec<_>, Vec<_>) =
        rules.iter().partition(|rule| rule.resources.is_empty());
    let of_resources = of_resources.into_iter().map(|rule| {
        let PolicyRule { verbs, api_groups, resources, resource_names, .. } = rule;
        json!({"verbs": verbs, "apiGroups": api_groups, "resources": resources,
            "resourceNames": resource_names})
    });
    let of_paths = of_paths
        .into_iter()
        .map(|rule| json!({"verbs": rule.verbs, "nonResourceURLs": rule.non_resource_urls}));
    Ok(json!({
        "resourceRules": of_resources.collect::<Vec<_>>(),
        "nonResourceRules": of_paths.collect::<Vec<_>>(),
    }))
}
