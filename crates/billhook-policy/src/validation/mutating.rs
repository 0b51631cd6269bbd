//! Validation of mutating policies (PO-15).

use billhook::webhook::not_supported;
use billhook_apimachinery::{FieldError, FieldPath, KubernetesVersion};
use billhook_cel::Libraries;

use super::common::{Stored, conditions, head, spec, variables};
use crate::document::{MutatingAdmissionPolicy, Mutation, MutationExpression};
use crate::program::{Role, Setting, Variables, compile, environment};

/// The operations that have an object.
const OPERATIONS: [&str; 4] = ["*", "CONNECT", "CREATE", "UPDATE"];
const PATCH_TYPES: [&str; 2] = ["ApplyConfiguration", "JSONPatch"];

pub(super) fn validate(
    policy: &MutatingAdmissionPolicy,
    stored: Option<&MutatingAdmissionPolicy>,
    kubernetes: KubernetesVersion,
) -> Vec<FieldError> {
    let spec_of = &policy.spec;
    let setting = Setting { has_params: spec_of.param_kind.is_some(), kubernetes };
    let known = stored.map(stored_expressions).unwrap_or_default();
    let constraints = spec_of.match_constraints.as_ref();
    let mut errors =
        head(spec_of.failure_policy.as_deref(), spec_of.param_kind.as_ref(), constraints);
    let rules = constraints.map(|constraints| constraints.resource_rules.as_slice());
    operations(rules.unwrap_or_default(), spec("matchConstraints"), &mut errors);
    let is_same = stored.is_some_and(|stored| {
        stored.spec.match_conditions == spec_of.match_conditions
            && stored.spec.param_kind == spec_of.param_kind
    });
    if !is_same {
        errors.extend(conditions(&spec_of.match_conditions, setting, &known));
    }
    let (variables, found) = variables(&spec_of.variables, Role::MutationVariable, setting);
    errors.extend(found);
    let path = spec("mutations");
    if spec_of.mutations.is_empty() {
        let detail = "mutations must contain at least one item";
        errors.push(FieldError::required(path.clone(), detail));
    }
    let mut checks = Checks { setting, known, variables, errors: &mut errors };
    for (index, mutation) in spec_of.mutations.iter().enumerate() {
        checks.mutation(mutation, &path.clone().index(index));
    }
    let path = spec("reinvocationPolicy");
    match spec_of.reinvocation_policy.as_str() {
        "" => errors.push(FieldError::required(path, "")),
        "IfNeeded" | "Never" => {}
        other => errors.push(not_supported(path, other, &["IfNeeded", "Never"])),
    }
    errors
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
fn stored_expressions(policy: &MutatingAdmissionPolicy) -> Stored<'_> {
    let mut stored = Stored::of_conditions(&policy.spec.match_conditions);
    for applied in policy.spec.mutations.iter().filter_map(|it| it.apply_configuration.as_ref()) {
        stored.add(Role::ApplyConfiguration, &applied.expression);
    }
    stored
}

struct Checks<'c> {
    setting: Setting,
    known: Stored<'c>,
    variables: Variables,
    errors: &'c mut Vec<FieldError>,
}

impl Checks<'_> {
    fn mutation(&mut self, mutation: &Mutation, path: &FieldPath) {
        let apply = ("applyConfiguration", &mutation.apply_configuration);
        let patch = ("jsonPatch", &mutation.json_patch);
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
        chosen: (&str, &Option<MutationExpression>),
        other: (&str, &Option<MutationExpression>),
        path: &FieldPath,
    ) {
        let type_ = &mutation.patch_type;
        let at = |name: &str| path.clone().name(name);
        match chosen {
            (name, None) => {
                let detail = format!("must be specified when patchType is {type_}");
                self.errors.push(FieldError::required(at(name), &detail));
            }
            (name, Some(MutationExpression { expression })) => {
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
        let libraries = match role {
            Role::ApplyConfiguration => self.known.libraries(Some(role), expression),
            _ => Libraries::Compatible,
        };
        let environment = self.variables.declare(environment(role, self.setting, libraries));
        if let Err(detail) = compile(&environment, role, trimmed) {
            self.errors.push(FieldError::invalid(path, trimmed, &detail));
        }
    }
}
