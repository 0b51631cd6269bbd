//! Validation of mutating policies (PO-15).

use billhook::webhook::not_supported;
use billhook_apimachinery::{FieldError, FieldPath, KubernetesVersion};

use super::common::{Checks, Stored, one_of, spec};
use crate::document::{MutatingPolicySpec, Mutation};
use crate::program::Role;

/// The operations that have an object.
const OPERATIONS: [&str; 4] = ["*", "CONNECT", "CREATE", "UPDATE"];
const PATCH_TYPES: [&str; 2] = ["ApplyConfiguration", "JSONPatch"];

pub(super) fn validate(
    policy: &MutatingPolicySpec,
    stored: Option<&MutatingPolicySpec>,
    kubernetes: KubernetesVersion,
) -> Vec<FieldError> {
    let (parts, known) = (policy.parts(), stored.map(stored_expressions));
    let mut checks = Checks::new(parts, known.unwrap_or_default(), kubernetes);
    checks.head(parts);
    let rules = parts.constraints.map(|constraints| constraints.resource_rules.as_slice());
    operations(rules.unwrap_or_default(), spec("matchConstraints"), &mut checks.errors);
    checks.names(parts, stored.map(MutatingPolicySpec::parts));
    let path = spec("mutations");
    if policy.mutations.is_empty() {
        let detail = "mutations must contain at least one item";
        checks.errors.push(FieldError::required(path.clone(), detail));
    }
    for (index, mutation) in policy.mutations.iter().enumerate() {
        checks.mutation(mutation, &path.clone().index(index));
    }
    let reinvocation = Some(policy.reinvocation_policy.as_str()).filter(|it| !it.is_empty());
    let path = spec("reinvocationPolicy");
    one_of(path, reinvocation, &["IfNeeded", "Never"], &mut checks.errors);
    checks.errors
}

/// The operations of rules, all at one path.
pub(super) fn operations(
    rules: &[billhook::webhook::NamedRule],
    path: FieldPath,
    errors: &mut Vec<FieldError>,
) {
    let path = path.name("resourceRules").name("operations");
    let operations = rules.iter().flat_map(|named| &named.rule.operations);
    let unknown = operations.filter(|operation| !OPERATIONS.contains(&operation.as_str()));
    errors.extend(unknown.map(|operation| not_supported(path.clone(), operation, &OPERATIONS)));
}

/// The expressions that may use all libraries: those of JSON patches are always new (PO-13).
fn stored_expressions(policy: &MutatingPolicySpec) -> Stored<'_> {
    let mut stored = Stored::of_conditions(&policy.match_conditions);
    for applied in policy.mutations.iter().filter_map(|it| it.apply_configuration.as_ref()) {
        stored.add(Role::ApplyConfiguration, &applied.expression);
    }
    stored
}

impl Checks<'_> {
    fn mutation(&mut self, mutation: &Mutation, path: &FieldPath) {
        let apply = ("applyConfiguration", mutation.apply_configuration_expression());
        let patch = ("jsonPatch", mutation.json_patch_expression());
        match mutation.patch_type.as_str() {
            "ApplyConfiguration" => {
                self.forms(mutation, Role::ApplyConfiguration, apply, patch, path);
            }
            "JSONPatch" => self.forms(mutation, Role::JsonPatch, patch, apply, path),
            "" => self.errors.push(FieldError::required(path.clone().name("patchType"), "")),
            other => {
                let path = path.clone().name("patchType");
                self.errors.push(not_supported(path, other, &PATCH_TYPES));
            }
        }
    }

    /// The form that was chosen, and the other one, which must not be there.
    fn forms(
        &mut self,
        mutation: &Mutation,
        role: Role,
        chosen: (&str, Option<&str>),
        other: (&str, Option<&str>),
        path: &FieldPath,
    ) {
        let type_ = &mutation.patch_type;
        let at = |name: &str| path.clone().name(name);
        match chosen {
            (name, None) => {
                let detail = format!("must be specified when patchType is {type_}");
                self.errors.push(FieldError::required(at(name), &detail));
            }
            (name, Some(expression)) => {
                self.expression(role, expression, at(name).name("expression"));
            }
        }
        if let (name, Some(_)) = other {
            let detail = format!("must not be specified when patchType is {type_}");
            self.errors.push(FieldError::invalid(at(name), format!("{{{name}}}"), &detail));
        }
    }

    fn expression(&mut self, role: Role, expression: &str, path: FieldPath) {
        let trimmed = expression.trim();
        if trimmed.is_empty() {
            self.errors.push(FieldError::required(path, ""));
            return;
        }
        self.compile(role, expression, trimmed, path);
    }
}
