//! Advice about one policy.

use billhook::webhook::MatchCondition;
use billhook::{CustomResourceDefinition, FieldPath};
use billhook_apimachinery::KubernetesVersion;
use billhook_cel::Value;

use super::PolicyLint;
use crate::document::{
    MutatingAdmissionPolicy, MutatingPolicySpec, PolicyDocument, PolicyValidation,
    ValidatingAdmissionPolicy, ValidatingPolicySpec,
};
use crate::expression::expression_path;
use crate::program::{BUDGET, CALL_LIMIT, Evaluated, Pass, Role};
use crate::set::Validating;
use crate::typed::{PolicyTypes, TypedKind, TypedPolicy};

/// From what cost on an expression is near its limit.
const NEAR_LIMIT: u64 = CALL_LIMIT / 5 * 4;
/// Greater costs are reported as more than this.
const TOLD: u64 = 100 * CALL_LIMIT;

impl PolicyDocument {
    /// Returns advice about the document alone.
    pub fn lints(&self) -> Vec<PolicyLint> {
        let definitions: [CustomResourceDefinition; 0] = [];
        self.lints_for(KubernetesVersion::default(), definitions.as_slice())
    }

    /// Returns advice about the document alone for a version of the server, with what the types of
    /// the objects say about its expressions.
    pub fn lints_for<T: PolicyTypes + ?Sized>(
        &self,
        kubernetes: KubernetesVersion,
        types: &T,
    ) -> Vec<PolicyLint> {
        let mut lints = Vec::new();
        match self {
            PolicyDocument::Validating(policy) => {
                if policy.spec.failure_policy.as_deref() == Some("Ignore") {
                    let message = "with `Ignore`, an error in an expression lets the request \
                                   through unchecked";
                    let path = "spec.failurePolicy".to_owned();
                    lints.push(self.lint("ignored-failures", path, message.to_owned()));
                }
                let typed = TypedPolicy::new(policy.spec.parts(), kubernetes, types);
                self.lint_validations(policy, kubernetes, &typed, &mut lints);
                self.lint_costs(validating_expressions(&policy.spec), &typed, &mut lints);
            }
            PolicyDocument::Mutating(policy) => {
                self.lint_mutations(policy, &mut lints);
                let typed = TypedPolicy::new(policy.spec.parts(), kubernetes, types);
                self.lint_costs(mutating_expressions(&policy.spec), &typed, &mut lints);
            }
            PolicyDocument::ValidatingBinding(_) | PolicyDocument::MutatingBinding(_) => {}
        }
        lints
    }

    fn lint(&self, code: &'static str, path: String, message: String) -> PolicyLint {
        PolicyLint { code, kind: self.kind(), name: self.name().to_owned(), path, message }
    }

    /// Finds validations that never fail.
    fn lint_validations(
        &self,
        policy: &ValidatingAdmissionPolicy,
        kubernetes: KubernetesVersion,
        typed: &TypedPolicy,
        lints: &mut Vec<PolicyLint>,
    ) {
        let compiled = Validating::new(String::new(), &policy.spec, Vec::new(), kubernetes);
        for (index, PolicyValidation { expression, .. }) in
            policy.spec.validations.iter().enumerate()
        {
            let message = if is_constant(&compiled, index) {
                "the validation is true whatever the request: it never fails"
            } else if is_decided(typed, expression) {
                "the validation is true of all objects that the schema allows: it never fails"
            } else {
                continue;
            };
            let path = Role::Validation.path(index).to_string();
            lints.push(self.lint("never-fails", path, message.to_owned()));
        }
    }

    /// Finds mutations that add something each time they run.
    fn lint_mutations(&self, policy: &MutatingAdmissionPolicy, lints: &mut Vec<PolicyLint>) {
        if policy.spec.reinvocation_policy != "IfNeeded" {
            return;
        }
        for (index, mutation) in policy.spec.mutations.iter().enumerate() {
            let patch = mutation.json_patch.as_ref().map_or("", |it| it.expression.as_str());
            if patch.contains("/-") {
                let path = Role::JsonPatch.path(index).to_string();
                let message = "a mutation with `IfNeeded` runs twice, and this one seems to append \
                               to a list each time";
                lints.push(self.lint("appends-twice", path, message.to_owned()));
            }
        }
    }

    /// Finds expressions that a large object can make fail (PO-48).
    fn lint_costs<'e>(
        &self,
        expressions: impl Iterator<Item = (Role, FieldPath, &'e str)>,
        typed: &TypedPolicy,
        lints: &mut Vec<PolicyLint>,
    ) {
        for (role, path, expression) in expressions {
            let bounded = typed.kinds.iter().filter(|typed| !typed.is_built_in);
            let costs = bounded.filter_map(|typed| {
                let program = typed.compile(role, expression).ok()?;
                Some((typed.forecast(&program).cost, typed.kind.in_errors()))
            });
            let Some((cost, kind)) = costs.max().filter(|(cost, _)| *cost >= NEAR_LIMIT) else {
                continue;
            };
            let cost = match cost {
                ..TOLD => format!("up to {cost}"),
                _ => format!("more than {TOLD}"),
            };
            let message = format!(
                "for the largest object that the schema of {kind} allows, the expression may cost \
                 {cost}, and beyond {CALL_LIMIT} it fails: set `maxItems`, `maxProperties` and \
                 `maxLength` in the schema, or do less here"
            );
            lints.push(self.lint("costly-expression", path.to_string(), message));
        }
    }
}

/// Returns the expressions of a validating policy.
fn validating_expressions(
    spec: &ValidatingPolicySpec,
) -> impl Iterator<Item = (Role, FieldPath, &str)> {
    let variables = of(Role::Variable, spec.variables.iter().map(|it| &it.expression));
    let validations = of(Role::Validation, spec.validations.iter().map(|it| &it.expression));
    let messages = spec.validations.iter().map(|it| &it.message_expression);
    let annotations = spec.audit_annotations.iter().map(|it| &it.value_expression);
    let messages = of(Role::Message, messages);
    let rest = validations.chain(messages).chain(of(Role::Annotation, annotations));
    conditions(&spec.match_conditions).chain(variables).chain(rest)
}

/// Returns the expressions of a mutating policy.
fn mutating_expressions(
    spec: &MutatingPolicySpec,
) -> impl Iterator<Item = (Role, FieldPath, &str)> {
    let variables = of(Role::MutationVariable, spec.variables.iter().map(|it| &it.expression));
    let mutations = spec.mutations.iter().enumerate().flat_map(|(index, mutation)| {
        let forms = [
            (Role::ApplyConfiguration, mutation.apply_configuration_expression()),
            (Role::JsonPatch, mutation.json_patch_expression()),
        ];
        forms.into_iter().filter_map(move |(role, form)| Some((role, role.path(index), form?)))
    });
    conditions(&spec.match_conditions).chain(variables).chain(mutations)
}

fn of<'e>(
    role: Role,
    expressions: impl Iterator<Item = &'e String>,
) -> impl Iterator<Item = (Role, FieldPath, &'e str)> {
    expressions.enumerate().map(move |(index, text)| (role, role.path(index), text.as_str()))
}

/// Returns match conditions, which may refer to less than validations.
fn conditions(list: &[MatchCondition]) -> impl Iterator<Item = (Role, FieldPath, &str)> {
    list.iter().enumerate().map(|(index, condition)| {
        let path = expression_path("matchConditions", index, "expression");
        (Role::Validation, path, condition.expression.as_str())
    })
}

/// Returns whether a validation is true without anything of the request.
fn is_constant(policy: &Validating, index: usize) -> bool {
    let program = policy.validations.get(index).map(|validation| &validation.program);
    let Some(Ok(program)) = program else { return false };
    let variables = &policy.head.variables;
    let known = [("variables", variables.deferred())];
    let evaluated =
        Pass::new(variables, &known).evaluate(program, (Role::Validation, index), BUDGET);
    matches!(evaluated, Ok(Evaluated { result: Ok(Value::Bool(true)), .. }))
}

/// Returns whether an expression is true of all objects that the schemas allow.
fn is_decided(typed: &TypedPolicy, expression: &str) -> bool {
    let is_true = |typed: &TypedKind| {
        let program = typed.compile(Role::Validation, expression);
        program.is_ok_and(|program| typed.forecast(&program).result == Some(true))
    };
    typed.is_complete && !typed.kinds.is_empty() && typed.kinds.iter().all(is_true)
}
