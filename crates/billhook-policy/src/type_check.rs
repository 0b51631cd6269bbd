//! Type checking of validating policies: the expressions against the schemas of the objects that
//! the policy is for (PO-90 to PO-92).

use std::collections::BTreeSet;

use billhook::CustomResourceDefinition;
use billhook::webhook::{ApiResource, Rule};
use billhook_apimachinery::{GroupVersionKind, GroupVersionResource, KubernetesVersion};
use billhook_cel::schema::SchemaType;
use billhook_cel::{Environment, Libraries, Program, Type};

use crate::document::{
    ExpressionWarning, ParamKind, TypeChecking, ValidatingAdmissionPolicy, Variable,
};
use crate::program::{Role, Setting, Variables, environment};

/// After so many kinds of one rule no more are looked for (PO-91).
const MAX_KINDS: usize = 10;

/// The types of objects. New methods will have defaults.
pub trait PolicyTypes {
    /// Returns the kind of the objects of a resource, if it is served.
    fn kind(&self, resource: &GroupVersionResource) -> Option<GroupVersionKind>;

    /// Returns the type of the objects of a kind, if there is a schema.
    fn schema(&self, kind: &GroupVersionKind) -> Option<SchemaType>;
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

impl ValidatingAdmissionPolicy {
    /// Checks the expressions of the validations against the types of the objects that the policy
    /// is for.
    ///
    /// ```
    /// use billhook::CustomResourceDefinition;
    /// use billhook_policy::PolicyDocument;
    /// # let definition = CustomResourceDefinition::from_value(&serde_json::json!({
    /// #   "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    /// #   "spec": {"group": "example.com", "scope": "Namespaced",
    /// #     "names": {"plural": "widgets", "kind": "Widget"},
    /// #     "versions": [{"name": "v1", "served": true, "storage": true, "schema":
    /// #       {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object",
    /// #         "properties": {"size": {"type": "integer"}}}}}}}]}}))?;
    /// let document = PolicyDocument::from_yaml("
    /// apiVersion: admissionregistration.k8s.io/v1
    /// kind: ValidatingAdmissionPolicy
    /// metadata: {name: size}
    /// spec:
    ///   matchConstraints:
    ///     resourceRules:
    ///     - {operations: [CREATE], apiGroups: [example.com], apiVersions: [v1], resources: [widgets]}
    ///   validations:
    ///   - expression: object.spec.sise < 5
    /// ")?;
    /// let PolicyDocument::Validating(policy) = document else { unreachable!() };
    /// let found = policy.type_check([definition].as_slice());
    /// assert_eq!(found.expression_warnings[0].field_ref, "spec.validations[0].expression");
    /// let warning = "example.com/v1, Kind=Widget: ERROR: <input>:1:12: undefined field 'sise'";
    /// assert!(found.expression_warnings[0].warning.starts_with(warning));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn type_check<T: PolicyTypes + ?Sized>(&self, types: &T) -> TypeChecking {
        let params = self.spec.param_kind.as_ref().map(|kind| params_type(kind, types));
        let kinds = self.kinds(types);
        let environments: Vec<(String, Environments)> = kinds
            .iter()
            .filter_map(|kind| {
                let object = types.schema(kind)?.to_type();
                Some((
                    kind.in_errors(),
                    Environments::new(&object, params.as_ref(), &self.spec.variables),
                ))
            })
            .collect();
        let mut found = TypeChecking::default();
        let mut check = |role: Role, expression: &str, path: String| {
            let problems = environments.iter().filter_map(|(kind, environments)| {
                let error = environments.of(role).compile(expression).err()?;
                Some(format!("{kind}: {error}\n"))
            });
            let problems: Vec<String> = problems.collect();
            if !problems.is_empty() {
                let warning = problems.join("\n");
                found.expression_warnings.push(ExpressionWarning { field_ref: path, warning });
            }
        };
        for (index, validation) in self.spec.validations.iter().enumerate() {
            let path = format!("spec.validations[{index}]");
            check(Role::Validation, &validation.expression, format!("{path}.expression"));
            if !validation.message_expression.is_empty() {
                let path = format!("{path}.messageExpression");
                check(Role::Message, &validation.message_expression, path);
            }
        }
        found
    }

    /// Returns the kinds that are checked, sorted (PO-91).
    fn kinds<T: PolicyTypes + ?Sized>(&self, types: &T) -> BTreeSet<GroupVersionKind> {
        let mut kinds = BTreeSet::new();
        let rules = self.spec.match_constraints.iter().flat_map(|it| &it.resource_rules);
        for named in rules {
            let mut count = 0;
            for kind in resources(&named.rule).iter().filter_map(|resource| types.kind(resource)) {
                kinds.insert(kind);
                count += 1;
                if count == MAX_KINDS {
                    return kinds;
                }
            }
        }
        kinds
    }
}

/// The resources that a rule names without `*`, sorted.
fn resources(rule: &Rule) -> BTreeSet<GroupVersionResource> {
    let has_wildcard = |names: &[String]| names.iter().any(|name| name == "*");
    if has_wildcard(&rule.api_groups) || has_wildcard(&rule.api_versions) {
        return BTreeSet::new();
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
    resources
}

fn params_type<T: PolicyTypes + ?Sized>(kind: &ParamKind, types: &T) -> Type {
    types.schema(&kind.to_kind()).map_or(Type::Dyn, |schema| schema.to_type())
}

/// The declarations for one kind.
struct Environments {
    validation: Environment,
    message: Environment,
}

impl Environments {
    fn new(object: &Type, params: Option<&Type>, list: &[Variable]) -> Self {
        let kubernetes = KubernetesVersion::default();
        let setting = Setting { has_params: params.is_some(), kubernetes };
        let typed = |role: Role| {
            let environment = environment(role, setting, Libraries::Full)
                .variable("object", object.clone())
                .variable("oldObject", object.clone());
            match params {
                Some(params) => environment.variable("params", params.clone()),
                None => environment,
            }
        };
        let mut variables = Variables::default();
        for Variable { name, expression } in list {
            let environment = variables.declare(typed(Role::Variable));
            let program = environment.compile(expression);
            variables.declare_as(name, program.as_ref().map_or(&Type::Dyn, Program::result_type));
        }
        let declared = |role: Role| match list.is_empty() {
            true => typed(role),
            false => variables.declare(typed(role)),
        };
        Environments { validation: declared(Role::Validation), message: declared(Role::Message) }
    }

    fn of(&self, role: Role) -> &Environment {
        match role {
            Role::Message => &self.message,
            _ => &self.validation,
        }
    }
}
