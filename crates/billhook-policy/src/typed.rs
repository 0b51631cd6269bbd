//! The expressions of a policy, typed by the schemas of the objects that it is for (PO-91, PO-92).

use std::collections::{BTreeMap, BTreeSet};

use billhook::CustomResourceDefinition;
use billhook::webhook::{ApiResource, MatchResources, Rule};
use billhook_apimachinery::{GroupVersionKind, GroupVersionResource, KubernetesVersion};
use billhook_cel::schema::{SchemaType, object_type};
use billhook_cel::{CompileError, Environment, Forecast, Libraries, Program, Type};

use crate::document::{ParamKind, PolicyParts, Variable};
use crate::program::{Role, Setting, Variables, environment};

/// The name under which expressions find the variables of their policy.
const VARIABLES: &str = "variables";
/// After so many kinds of one rule no more are looked for (PO-91).
const MAX_KINDS: usize = 10;
/// How many variables a policy has at most whose expressions are checked: each is with all before it.
const MAX_VARIABLES: usize = 1_000;

/// The types of objects. New methods will have defaults.
pub trait PolicyTypes {
    /// Returns the kind of the objects of a resource, if it is served.
    fn kind(&self, resource: &GroupVersionResource) -> Option<GroupVersionKind>;

    /// Returns the type of the objects of a kind, if there is a schema.
    fn schema(&self, kind: &GroupVersionKind) -> Option<SchemaType>;

    /// Returns whether a kind is built in: bounds in its schema cannot be set.
    fn is_built_in(&self, _kind: &GroupVersionKind) -> bool {
        false
    }
}

impl PolicyTypes for [CustomResourceDefinition] {
    fn kind(&self, resource: &GroupVersionResource) -> Option<GroupVersionKind> {
        let versions = self.iter().flat_map(|definition| definition.versions());
        let resources = versions.map(|version| ApiResource::of_version(&version));
        resources.into_iter().find(|known| known.resource == *resource).map(|known| known.kind)
    }

    fn schema(&self, kind: &GroupVersionKind) -> Option<SchemaType> {
        let is_wanted = |definition: &&CustomResourceDefinition| {
            definition.group() == kind.group && definition.kind() == kind.kind
        };
        self.iter().find(is_wanted)?.version(&kind.version)?.expression_type()
    }
}

/// The kinds of objects that a policy is for and that have schemas.
pub(crate) struct TypedPolicy {
    pub(crate) kinds: Vec<TypedKind>,
    /// Whether it is for no others.
    pub(crate) is_complete: bool,
}

/// The types in the expressions of a policy if the object is of a kind.
pub(crate) struct TypedKind {
    pub(crate) kind: GroupVersionKind,
    pub(crate) is_built_in: bool,
    /// The names that all expressions may refer to, except for messages.
    names: Environment,
    names_of_messages: Environment,
    /// The schemas of names.
    schemas: Vec<(&'static str, SchemaType)>,
}

impl TypedPolicy {
    pub(crate) fn new<T: PolicyTypes + ?Sized>(
        policy: PolicyParts<'_>,
        kubernetes: KubernetesVersion,
        types: &T,
    ) -> Self {
        if policy.variables.len() > MAX_VARIABLES {
            return TypedPolicy { kinds: Vec::new(), is_complete: false };
        }
        let (kinds, mut is_complete) = kinds(policy.constraints, types);
        let (role, setting) = (policy.variable_role(), policy.setting(kubernetes));
        let params = policy.param_kind.map(|kind| params_type(kind, types));
        let typed = |kind: GroupVersionKind| {
            let object = types.schema(&kind)?.with_object_meta();
            let mut schemas = vec![("object", object.clone()), ("oldObject", object)];
            schemas.extend(params.clone().map(|params| ("params", params)));
            let is_built_in = types.is_built_in(&kind);
            let mut typed = TypedKind::new((kind, is_built_in), role, setting, schemas);
            if policy.declares_variables() {
                typed.declare(policy.variables);
            }
            Some(typed)
        };
        let count = kinds.len();
        let kinds: Vec<TypedKind> = kinds.into_iter().filter_map(typed).collect();
        is_complete &= kinds.len() == count;
        TypedPolicy { kinds, is_complete }
    }
}

impl TypedKind {
    fn new(
        (kind, is_built_in): (GroupVersionKind, bool),
        role: Role,
        setting: Setting,
        schemas: Vec<(&'static str, SchemaType)>,
    ) -> Self {
        let names = |role: Role| {
            let environment = environment(role, setting, Libraries::Full);
            schemas.iter().fold(environment, |environment, (name, schema)| {
                environment.variable(name, schema.to_type())
            })
        };
        let (names, names_of_messages) = (names(role), names(Role::Message));
        TypedKind { kind, is_built_in, names, names_of_messages, schemas }
    }

    /// Declares variables in order; one that does not compile may be anything.
    fn declare(&mut self, list: &[Variable]) {
        let mut variables = Variables::default();
        let mut known = BTreeMap::new();
        self.names = variables.declare(self.names.clone());
        for Variable { name, expression } in list {
            let program = self.names.compile(expression);
            variables.declare_as(name, program.as_ref().map_or(&Type::Dyn, Program::result_type));
            self.names = variables.declare(self.names.clone());
            let value = program.ok().and_then(|program| self.forecast(&program).value);
            // Of several with a name the last one counts everywhere (PO-11).
            match value.filter(|_| list.iter().filter(|it| it.name == *name).count() == 1) {
                Some(value) => known.insert(name.as_str(), value),
                None => known.remove(name.as_str()),
            };
            self.schemas.retain(|(name, _)| *name != VARIABLES);
            self.schemas.push((VARIABLES, object_type(VARIABLES, known.clone())));
        }
        self.names_of_messages = variables.declare(self.names_of_messages.clone());
    }

    /// Compiles an expression of a role; its result may have any type.
    pub(crate) fn compile(&self, role: Role, expression: &str) -> Result<Program, CompileError> {
        match role {
            Role::Message => self.names_of_messages.compile(expression),
            _ => self.names.compile(expression),
        }
    }

    /// Forecasts an expression.
    pub(crate) fn forecast(&self, program: &Program) -> Forecast {
        let schemas: Vec<_> = self.schemas.iter().map(|(name, schema)| (*name, schema)).collect();
        program.forecast(&schemas)
    }
}

fn params_type<T: PolicyTypes + ?Sized>(kind: &ParamKind, types: &T) -> SchemaType {
    types.schema(&kind.to_kind()).map_or(SchemaType::ANY, SchemaType::with_object_meta)
}

/// Returns the kinds that are checked, sorted (PO-91), and whether constraints select no others.
fn kinds<T: PolicyTypes + ?Sized>(
    constraints: Option<&MatchResources>,
    types: &T,
) -> (BTreeSet<GroupVersionKind>, bool) {
    let (mut kinds, mut is_complete) = (BTreeSet::new(), true);
    for named in constraints.into_iter().flat_map(|it| &it.resource_rules) {
        let mut count = 0;
        let (resources, are_all) = resources(&named.rule);
        is_complete &= are_all;
        for resource in resources {
            let Some(kind) = types.kind(&resource) else {
                is_complete = false;
                continue;
            };
            kinds.insert(kind);
            count += 1;
            if count == MAX_KINDS {
                return (kinds, false);
            }
        }
    }
    (kinds, is_complete)
}

/// The resources that a rule names without `*`, sorted, and whether those are all.
fn resources(rule: &Rule) -> (BTreeSet<GroupVersionResource>, bool) {
    let has_wildcard = |names: &[String]| names.iter().any(|name| name == "*");
    if has_wildcard(&rule.api_groups) || has_wildcard(&rule.api_versions) {
        return (BTreeSet::new(), false);
    }
    let plain: Vec<&String> =
        rule.resources.iter().filter(|name| !name.contains(['*', '/'])).collect();
    let mut resources = BTreeSet::new();
    for group in &rule.api_groups {
        for version in &rule.api_versions {
            let of_version = plain.iter().map(|name| {
                GroupVersionResource::new(group.as_str(), version.as_str(), name.as_str())
            });
            resources.extend(of_version);
        }
    }
    (resources, plain.len() == rule.resources.len())
}
