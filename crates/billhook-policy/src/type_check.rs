//! Type checking of validating policies: the expressions against the schemas of the objects that
//! the policy is for (PO-90 to PO-92).

use billhook_apimachinery::KubernetesVersion;

use crate::document::{ExpressionWarning, TypeChecking, ValidatingAdmissionPolicy};
use crate::program::Role;
use crate::typed::{PolicyTypes, TypedPolicy};

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
        self.type_check_for(KubernetesVersion::default(), types)
    }

    /// Checks like [`ValidatingAdmissionPolicy::type_check`], with the functions that a version of
    /// the server has (KV-30).
    pub fn type_check_for<T: PolicyTypes + ?Sized>(
        &self,
        kubernetes: KubernetesVersion,
        types: &T,
    ) -> TypeChecking {
        let TypedPolicy { kinds, .. } = TypedPolicy::new(self.spec.parts(), kubernetes, types);
        let mut found = TypeChecking::default();
        let mut check = |role: Role, index: usize, expression: &str| {
            let problems = kinds.iter().filter_map(|typed| {
                let error = typed.compile(role, expression).err()?;
                Some(format!("{}: {error}\n", typed.kind.in_errors()))
            });
            let problems: Vec<String> = problems.collect();
            if !problems.is_empty() {
                let (field_ref, warning) = (role.path(index).to_string(), problems.join("\n"));
                found.expression_warnings.push(ExpressionWarning { field_ref, warning });
            }
        };
        for (index, validation) in self.spec.validations.iter().enumerate() {
            check(Role::Validation, index, &validation.expression);
            if !validation.message_expression.is_empty() {
                check(Role::Message, index, &validation.message_expression);
            }
        }
        found
    }
}
