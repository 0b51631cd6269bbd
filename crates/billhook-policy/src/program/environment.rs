//! The names that expressions may refer to, and the types they must evaluate to (PO-12, PO-45).

use billhook::FieldPath;
use billhook::webhook::RequestVariables;
use billhook_apimachinery::KubernetesVersion;
use billhook_cel::{Environment, Libraries, Program, Type};

use crate::expression::expression_path;

/// The role of an expression in a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    /// `validations[].expression`
    Validation,
    /// `validations[].messageExpression`
    Message,
    /// `auditAnnotations[].valueExpression`
    Annotation,
    /// `variables[].expression` of a validating policy
    Variable,
    /// `variables[].expression` of a mutating policy
    MutationVariable,
    /// `mutations[].applyConfiguration.expression`
    ApplyConfiguration,
    /// `mutations[].jsonPatch.expression`
    JsonPatch,
}

impl Role {
    fn asks_authorizer(self) -> bool {
        self != Role::Message
    }

    fn mutates(self) -> bool {
        matches!(self, Role::MutationVariable | Role::ApplyConfiguration | Role::JsonPatch)
    }

    /// Returns the path of an expression by the position of what it belongs to.
    pub(crate) fn path(self, index: usize) -> FieldPath {
        let (list, field) = match self {
            Role::Validation => ("validations", "expression"),
            Role::Message => ("validations", "messageExpression"),
            Role::Annotation => ("auditAnnotations", "valueExpression"),
            Role::Variable | Role::MutationVariable => ("variables", "expression"),
            Role::ApplyConfiguration => ("mutations", "applyConfiguration.expression"),
            Role::JsonPatch => ("mutations", "jsonPatch.expression"),
        };
        expression_path(list, index, field)
    }

    /// Returns what an expression of the role must evaluate to, if it is not that.
    fn unmet(self, found: &Type) -> Option<&'static str> {
        let (is_met, wanted) = match self {
            Role::Variable | Role::MutationVariable => (true, ""),
            Role::Validation => (*found == Type::Bool, "bool"),
            Role::Message => (*found == Type::String, "string"),
            Role::Annotation => {
                let is_met = matches!(found, Type::String | Type::Null);
                (is_met, "one of [string null_type]")
            }
            Role::ApplyConfiguration => (is_object(found, "Object"), "Object"),
            Role::JsonPatch => {
                let is_met = matches!(found, Type::List(of) if is_object(of, "JSONPatch"));
                (is_met, "list(JSONPatch)")
            }
        };
        (!is_met).then_some(wanted)
    }
}

fn is_object(found: &Type, name: &str) -> bool {
    matches!(found, Type::Object(object) if *object.name == *name)
}

/// The setting that all expressions of a policy share.
#[derive(Clone, Copy)]
pub(crate) struct Setting {
    pub(crate) has_params: bool,
    /// The version of the server, which decides the functions (KV-30).
    pub(crate) kubernetes: KubernetesVersion,
}

/// Returns what an expression of a role may refer to, except for `variables`.
pub(crate) fn environment(role: Role, setting: Setting, libraries: Libraries) -> Environment {
    let Setting { has_params, kubernetes } = setting;
    let environment = RequestVariables::environment(has_params);
    let mut environment = environment.kubernetes(kubernetes).libraries(libraries);
    if role.asks_authorizer() {
        environment = RequestVariables::declare_authorizer(environment);
    }
    if role.mutates() { environment.mutations() } else { environment }
}

/// Compiles an expression of a role; the detail of the server's error if it cannot be (PO-12).
pub(crate) fn compile(
    environment: &Environment,
    role: Role,
    expression: &str,
) -> Result<Program, String> {
    let program = environment.compile(expression).map_err(|error| error.detail())?;
    let found = program.result_type();
    match role.unmet(found) {
        Some(wanted) => Err(format!("must evaluate to {wanted} but got {}", found.declared_name())),
        None => Ok(program),
    }
}
