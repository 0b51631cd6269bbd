//! The names that the expressions of one policy may refer to, its variables among them (PO-11).

use billhook_apimachinery::KubernetesVersion;
use billhook_cel::{Environment, Libraries, Program};

use super::environment::{Role, Setting, compile, environment};
use super::variables::Variables;
use crate::document::{PolicyKind, PolicyParts};

impl PolicyParts<'_> {
    /// Returns the role of its variables.
    pub(crate) fn variable_role(&self) -> Role {
        match self.kind {
            PolicyKind::Mutating => Role::MutationVariable,
            _ => Role::Variable,
        }
    }

    /// Returns whether `variables` is declared: a validating policy without any has no such name.
    pub(crate) fn declares_variables(&self) -> bool {
        self.kind == PolicyKind::Mutating || !self.variables.is_empty()
    }

    /// Returns the setting of its expressions on a server of a version.
    pub(crate) fn setting(&self, kubernetes: KubernetesVersion) -> Setting {
        Setting { has_params: self.param_kind.is_some(), kubernetes }
    }
}

/// The names that the expressions of a policy may refer to.
pub(crate) struct Scope {
    setting: Setting,
    variable_role: Role,
    declares_variables: bool,
    pub(crate) variables: Variables,
}

impl Scope {
    /// The scope of a policy whose variables are still to be added.
    pub(crate) fn new(policy: PolicyParts<'_>, kubernetes: KubernetesVersion) -> Self {
        Scope {
            setting: policy.setting(kubernetes),
            variable_role: policy.variable_role(),
            declares_variables: policy.declares_variables(),
            variables: Variables::default(),
        }
    }

    fn environment(&self, role: Role, libraries: Libraries, expression: &str) -> Environment {
        let environment = environment(role, self.setting, libraries);
        match self.declares_variables {
            true => self.variables.declare_for(expression, environment),
            false => environment,
        }
    }

    /// Adds a variable; fails with the detail of the server's error if it does not compile.
    pub(crate) fn add(
        &mut self,
        name: &str,
        libraries: Libraries,
        expression: &str,
    ) -> Result<(), String> {
        let program = self.compile(self.variable_role, libraries, expression);
        let result = program.as_ref().map(|_| ()).map_err(String::clone);
        self.variables.add(name, program);
        result
    }

    /// Compiles an expression of a role; the detail of the server's error if it cannot be (PO-12).
    pub(crate) fn compile(
        &self,
        role: Role,
        libraries: Libraries,
        expression: &str,
    ) -> Result<Program, String> {
        compile(&self.environment(role, libraries, expression), role, expression)
    }
}
