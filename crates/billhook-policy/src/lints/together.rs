//! Advice about policies, bindings and parameters that stand together.

use std::collections::BTreeMap;

use billhook_apimachinery::label_selector::LabelSelector;
use billhook_apimachinery::split_api_version;
use billhook_apimachinery::value::DeepValue;
use serde_json::Value;

use super::lint::PolicyLint;
use crate::cluster::ObjectLabels;
use crate::document::{ParamKind, ParamRef, PolicyDocument, PolicyKind};

/// Returns advice about documents that stand together, with the objects that may be parameters:
/// bindings and policies that lack each other (PO-23), and bindings that lack parameters (PO-32).
pub fn lint_policies_together(
    documents: &[PolicyDocument],
    objects: &[DeepValue],
) -> Vec<PolicyLint> {
    let policies: Policies<'_> = documents.iter().filter_map(policy).collect();
    let bound: Vec<Key<'_>> = documents.iter().filter_map(binding).map(|it| it.0).collect();
    let lint = |document: &PolicyDocument| {
        let (code, path, message) = match (binding(document), policy(document)) {
            (Some((policy, params)), _) => match (policies.get(&policy), params) {
                (None, _) => without_policy(policy),
                (Some(Some(kind)), Some(params)) if !is_found(kind, params, objects) => {
                    without_params(kind, params)
                }
                _ => return None,
            },
            (None, Some((key, _))) if !bound.contains(&key) => (
                "policy-without-binding",
                "metadata.name",
                "no binding here names the policy: it has no effect".to_owned(),
            ),
            _ => return None,
        };
        let (kind, name) = (document.kind(), document.name().to_owned());
        Some(PolicyLint { code, kind, name, path: path.to_owned(), message })
    };
    documents.iter().filter_map(lint).collect()
}

/// The kind and the name of a policy.
type Key<'d> = (PolicyKind, &'d str);

/// The kinds of the parameters of policies.
type Policies<'d> = BTreeMap<Key<'d>, Option<&'d ParamKind>>;

/// A code, a path and a message.
type Found = (&'static str, &'static str, String);

fn policy(document: &PolicyDocument) -> Option<(Key<'_>, Option<&ParamKind>)> {
    let is_policy = matches!(document.kind(), PolicyKind::Validating | PolicyKind::Mutating);
    is_policy.then(|| ((document.kind(), document.name()), document.param_kind()))
}

/// The policy that a binding names, and the parameters.
fn binding(document: &PolicyDocument) -> Option<(Key<'_>, Option<&ParamRef>)> {
    match document {
        PolicyDocument::ValidatingBinding(binding) => {
            let spec = &binding.spec;
            Some(((PolicyKind::Validating, &spec.policy_name), spec.param_ref.as_ref()))
        }
        PolicyDocument::MutatingBinding(binding) => {
            let spec = &binding.spec;
            Some(((PolicyKind::Mutating, &spec.policy_name), spec.param_ref.as_ref()))
        }
        PolicyDocument::Validating(_) | PolicyDocument::Mutating(_) => None,
    }
}

fn without_policy((kind, policy): Key<'_>) -> Found {
    let message = format!("there is no {kind} `{policy}` here: the binding has no effect");
    ("binding-without-policy", "spec.policyName", message)
}

fn without_params(kind: &ParamKind, params: &ParamRef) -> Found {
    let kind = &kind.kind;
    let which = match params.name.as_str() {
        "" => format!("a {kind} that the selector selects"),
        name => format!("the {kind} `{name}`"),
    };
    let place = match params.namespace.as_str() {
        "" => String::new(),
        namespace => format!(" in namespace `{namespace}`"),
    };
    let effect = match params.parameter_not_found_action.as_deref() {
        Some("Deny") => "what the binding is for is denied, unless `failurePolicy` is `Ignore`",
        _ => "the binding has no effect",
    };
    let message = format!("{which} is missing here{place}: {effect}");
    ("params-not-found", "spec.paramRef", message)
}

/// Whether a reference finds an object of a kind. One that does not say its namespace may be in any.
fn is_found(kind: &ParamKind, params: &ParamRef, objects: &[DeepValue]) -> bool {
    let group = split_api_version(&kind.api_version).0;
    let selector = params.selector.as_ref().map(LabelSelector::parse);
    objects.iter().any(|object| {
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
        let namespace = text("/metadata/namespace").unwrap_or(&params.namespace);
        let is_wanted = match &selector {
            Some(Ok(selector)) if params.name.is_empty() => selector.matches(&ObjectLabels(object)),
            _ => text("/metadata/name") == Some(&params.name),
        };
        is_wanted
            && text("/kind") == Some(&kind.kind)
            && text("/apiVersion").is_some_and(|version| split_api_version(version).0 == group)
            && (params.namespace.is_empty() || params.namespace == namespace)
    })
}
