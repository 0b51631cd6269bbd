//! Advice about policies: a server accepts them, although they are likely to be wrong.

use std::collections::BTreeSet;
use std::fmt;

use billhook_apimachinery::KubernetesVersion;
use billhook_cel::{Libraries, Value};

use crate::document::{PolicyDocument, PolicyKind, ValidatingAdmissionPolicy};
use crate::program::{CALL_LIMIT, Role, Setting, compile, environment};

/// A piece of advice about a policy or a binding; prints as its message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PolicyLint {
    /// The code, which is stable: `binding-without-policy`.
    pub code: &'static str,
    /// The kind of the document.
    pub kind: PolicyKind,
    /// The name of the document.
    pub name: String,
    /// The path of the field.
    pub path: String,
    /// The message.
    pub message: String,
}

impl fmt::Display for PolicyLint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl PolicyDocument {
    /// Returns advice about the document alone.
    pub fn lints(&self) -> Vec<PolicyLint> {
        let lint = |code, path: String, message: String| PolicyLint {
            code,
            kind: self.kind(),
            name: self.name().to_owned(),
            path,
            message,
        };
        let mut lints = Vec::new();
        if let PolicyDocument::Validating(policy) = self {
            if policy.spec.failure_policy.as_deref() == Some("Ignore") {
                let message = "with `Ignore`, an error in an expression lets the request through \
                               unchecked";
                let path = "spec.failurePolicy".to_owned();
                lints.push(lint("ignored-failures", path, message.to_owned()));
            }
            for index in constant_validations(policy) {
                let path = format!("spec.validations[{index}].expression");
                let message = "the validation is true whatever the request: it never fails";
                lints.push(lint("never-fails", path, message.to_owned()));
            }
        }
        if let PolicyDocument::Mutating(policy) = self
            && policy.spec.reinvocation_policy == "IfNeeded"
        {
            for (index, mutation) in policy.spec.mutations.iter().enumerate() {
                let patch = mutation.json_patch.as_ref().map_or("", |it| it.expression.as_str());
                if patch.contains("/-") {
                    let path = format!("spec.mutations[{index}].jsonPatch.expression");
                    let message = "a mutation with `IfNeeded` runs twice, and this one seems to \
                                   append to a list each time";
                    lints.push(lint("appends-twice", path, message.to_owned()));
                }
            }
        }
        lints
    }
}

/// Returns the positions of validations that use nothing of the request and are true.
fn constant_validations(policy: &ValidatingAdmissionPolicy) -> Vec<usize> {
    let setting = Setting { has_params: true, kubernetes: KubernetesVersion::default() };
    let environment = environment(Role::Validation, setting, Libraries::Full);
    let names = ["object", "oldObject", "request", "params", "namespaceObject", "authorizer"];
    let is_constant = |expression: &str| {
        let Ok(program) = compile(&environment, Role::Validation, expression) else { return false };
        let uses = names.iter().chain(&["authorizer.requestResource"]);
        let is_free = !uses.into_iter().any(|name| program.uses(name));
        is_free && matches!(program.evaluate(&[], CALL_LIMIT).result, Ok(Value::Bool(true)))
    };
    let validations = policy.spec.validations.iter().enumerate();
    let constant = validations.filter(|(_, validation)| is_constant(&validation.expression));
    constant.map(|(index, _)| index).collect()
}

/// Returns advice about documents that stand together: bindings and policies that lack each other
/// (PO-23).
pub fn lint_policies_together(documents: &[PolicyDocument]) -> Vec<PolicyLint> {
    let of = |kind: PolicyKind| {
        let names = documents.iter().filter(move |document| document.kind() == kind);
        names.map(PolicyDocument::name).collect::<BTreeSet<&str>>()
    };
    let policy_of = |document: &PolicyDocument| match document {
        PolicyDocument::ValidatingBinding(binding) => {
            Some((PolicyKind::Validating, binding.spec.policy_name.clone()))
        }
        PolicyDocument::MutatingBinding(binding) => {
            Some((PolicyKind::Mutating, binding.spec.policy_name.clone()))
        }
        _ => None,
    };
    let bound: BTreeSet<(PolicyKind, String)> = documents.iter().filter_map(policy_of).collect();
    let mut lints = Vec::new();
    for document in documents {
        let (code, path, message) = match policy_of(document) {
            Some((kind, policy)) if !of(kind).contains(policy.as_str()) => (
                "binding-without-policy",
                "spec.policyName",
                format!("there is no {kind} `{policy}` here: the binding has no effect"),
            ),
            Some(_) => continue,
            None if bound.contains(&(document.kind(), document.name().to_owned())) => continue,
            None => (
                "policy-without-binding",
                "metadata.name",
                "no binding here names the policy: it has no effect".to_owned(),
            ),
        };
        lints.push(PolicyLint {
            code,
            kind: document.kind(),
            name: document.name().to_owned(),
            path: path.to_owned(),
            message,
        });
    }
    lints
}
