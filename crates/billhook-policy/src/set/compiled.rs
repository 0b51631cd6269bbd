//! Policies and bindings, ready to evaluate.

use billhook::webhook::{MatchCondition, RequestMatcher, RequestVariables};
use billhook_apimachinery::KubernetesVersion;
use billhook_cel::{Libraries, Program};

use crate::document::{
    MatchResources, MutatingBindingSpec, MutatingPolicySpec, ParamKind, PolicyKind, PolicyParts,
    ValidatingBindingSpec, ValidatingPolicySpec, Variable,
};
use crate::params::ParamSource;
use crate::program::{NAMESPACE, Role, Scope, Variables};

/// A program, or the text of the compiler.
pub(crate) type Compiled = Result<Program, String>;

/// The parts that policies of both kinds have.
pub(crate) struct Head {
    pub(crate) kind: PolicyKind,
    pub(crate) name: String,
    pub(crate) matcher: RequestMatcher,
    has_constraints: bool,
    pub(crate) failure_policy: FailurePolicy,
    pub(crate) param_kind: Option<ParamKind>,
    pub(crate) conditions: Vec<MatchCondition>,
    pub(crate) variables: Variables,
    pub(crate) asks: Asks,
    pub(crate) bindings: Vec<Binding>,
}

/// Whether expressions refer to variables whose values take time to make.
#[derive(Clone, Copy)]
pub(crate) struct Asks {
    pub(crate) namespace: bool,
    pub(crate) request: bool,
    pub(crate) authorizer: bool,
}

/// The effect of errors.
pub(crate) enum FailurePolicy {
    Fail,
    Ignore,
    /// It fails, and a configuration error says that it is unknown (PO-55).
    Unknown(String),
}

/// A binding of a policy.
pub(crate) struct Binding {
    pub(crate) name: String,
    /// All requests of the policy if absent.
    pub(crate) matcher: Option<RequestMatcher>,
    pub(crate) params: Option<ParamSource>,
    pub(crate) actions: Vec<String>,
}

/// A validating policy.
pub(crate) struct Validating {
    pub(crate) head: Head,
    pub(crate) validations: Vec<Validation>,
    pub(crate) annotations: Vec<Annotation>,
}

pub(crate) struct Validation {
    pub(crate) expression: String,
    pub(crate) program: Compiled,
    pub(crate) message: String,
    pub(crate) message_program: Option<Compiled>,
    pub(crate) reason: Option<String>,
}

pub(crate) struct Annotation {
    pub(crate) key: String,
    pub(crate) expression: String,
    pub(crate) program: Compiled,
}

/// A mutating policy.
pub(crate) struct Mutating {
    pub(crate) head: Head,
    pub(crate) mutations: Vec<Mutation>,
    pub(crate) is_reinvoked: bool,
}

pub(crate) struct Mutation {
    pub(crate) role: Role,
    pub(crate) expression: String,
    pub(crate) program: Compiled,
}

impl Binding {
    pub(crate) fn validating(name: String, spec: ValidatingBindingSpec) -> Self {
        Binding {
            name,
            matcher: spec.match_resources.as_ref().map(RequestMatcher::new),
            params: spec.param_ref.as_ref().map(ParamSource::new),
            actions: spec.validation_actions,
        }
    }

    pub(crate) fn mutating(name: String, spec: &MutatingBindingSpec) -> Self {
        Binding {
            name,
            matcher: spec.match_resources.as_ref().map(RequestMatcher::new),
            params: spec.param_ref.as_ref().map(ParamSource::new),
            actions: Vec::new(),
        }
    }
}

impl FailurePolicy {
    fn new(written: Option<&str>) -> Self {
        match written {
            None | Some("Fail") => FailurePolicy::Fail,
            Some("Ignore") => FailurePolicy::Ignore,
            Some(other) => FailurePolicy::Unknown(other.to_owned()),
        }
    }
}

impl Head {
    fn new(
        name: String,
        policy: PolicyParts<'_>,
        variables: Variables,
        asks: Asks,
        bindings: Vec<Binding>,
    ) -> Self {
        let everything = MatchResources::default();
        Head {
            kind: policy.kind,
            name,
            matcher: RequestMatcher::new(policy.constraints.unwrap_or(&everything)),
            has_constraints: policy.constraints.is_some(),
            failure_policy: FailurePolicy::new(policy.failure_policy),
            param_kind: policy.param_kind.cloned(),
            conditions: policy.conditions.to_vec(),
            variables,
            asks,
            bindings,
        }
    }

    pub(crate) fn fails_closed(&self) -> bool {
        !matches!(self.failure_policy, FailurePolicy::Ignore)
    }

    /// Returns the kind and the name of the policy.
    pub(crate) fn identity(&self) -> (PolicyKind, &str) {
        (self.kind, &self.name)
    }

    /// PO-27
    pub(crate) fn check_constraints(&self) -> Result<(), String> {
        match self.has_constraints {
            true => Ok(()),
            false => Err("policy contained no match constraints, a required field".to_owned()),
        }
    }
}

impl Asks {
    fn of<'p>(programs: impl Iterator<Item = &'p Compiled>) -> Self {
        let mut asks = Asks { namespace: false, request: false, authorizer: false };
        for program in programs.flatten() {
            asks.namespace |= program.uses(NAMESPACE);
            asks.request |= program.uses("request");
            asks.authorizer |= RequestVariables::ask_authorizer(program);
        }
        asks
    }
}

/// Compiles the variables of a policy in order.
fn scope(policy: PolicyParts<'_>, kubernetes: KubernetesVersion) -> Scope {
    let mut scope = Scope::new(policy, kubernetes);
    for Variable { name, expression } in policy.variables {
        // The programs tell of the errors.
        let _ = scope.add(name, Libraries::Full, expression);
    }
    scope
}

impl Validating {
    pub(crate) fn new(
        name: String,
        spec: &ValidatingPolicySpec,
        bindings: Vec<Binding>,
        kubernetes: KubernetesVersion,
    ) -> Self {
        let scope = scope(spec.parts(), kubernetes);
        let program =
            |role: Role, expression: &str| scope.compile(role, Libraries::Full, expression);
        let validations = spec.validations.iter().map(|it| Validation {
            expression: it.expression.clone(),
            program: program(Role::Validation, &it.expression),
            message: it.message.clone(),
            message_program: (!it.message_expression.is_empty())
                .then(|| program(Role::Message, &it.message_expression)),
            reason: it.reason.clone(),
        });
        let validations: Vec<Validation> = validations.collect();
        let annotations = spec.audit_annotations.iter().map(|it| Annotation {
            key: it.key.clone(),
            expression: it.value_expression.clone(),
            program: program(Role::Annotation, &it.value_expression),
        });
        let annotations: Vec<Annotation> = annotations.collect();
        let of_messages = validations.iter().filter_map(|it| it.message_program.as_ref());
        let programs = (validations.iter().map(|it| &it.program))
            .chain(of_messages)
            .chain(annotations.iter().map(|it| &it.program));
        let asks = Asks::of(programs.chain(scope.variables.programs()));
        let head = Head::new(name, spec.parts(), scope.variables, asks, bindings);
        Validating { head, validations, annotations }
    }
}

impl Mutating {
    pub(crate) fn new(
        name: String,
        spec: &MutatingPolicySpec,
        bindings: Vec<Binding>,
        kubernetes: KubernetesVersion,
    ) -> Self {
        let scope = scope(spec.parts(), kubernetes);
        let mutation = |mutation: &crate::document::Mutation| {
            let (role, expression) = match mutation.patch_type.as_str() {
                "JSONPatch" => (Role::JsonPatch, mutation.json_patch_expression()),
                _ => (Role::ApplyConfiguration, mutation.apply_configuration_expression()),
            };
            let expression = expression.unwrap_or_default().to_owned();
            let program = scope.compile(role, Libraries::Full, &expression);
            Mutation { role, expression, program }
        };
        let mutations: Vec<Mutation> = spec.mutations.iter().map(mutation).collect();
        let programs = mutations.iter().map(|it| &it.program);
        let asks = Asks::of(programs.chain(scope.variables.programs()));
        let head = Head::new(name, spec.parts(), scope.variables, asks, bindings);
        let is_reinvoked = spec.reinvocation_policy == "IfNeeded";
        Mutating { head, mutations, is_reinvoked }
    }
}
