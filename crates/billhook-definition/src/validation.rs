//! The outcome of checking a definition.

use billhook_apimachinery::{FieldError, Status, Verdict};
use billhook_cel::RuleCost;

/// The outcome of validating a definition that is created or updated.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DefinitionValidation {
    pub(crate) errors: Vec<FieldError>,
    pub(crate) warnings: Vec<String>,
    pub(crate) rule_costs: Vec<RuleCost>,
    pub(crate) name: String,
}

impl DefinitionValidation {
    /// Returns whether the definition is valid.
    pub fn verdict(&self) -> Verdict {
        Verdict::of(&self.errors)
    }

    /// Returns the errors, in the server's order; members of maps in the order of their keys.
    pub fn errors(&self) -> &[FieldError] {
        &self.errors
    }

    /// Returns the server's warnings: formats that it does not know, one for each occurrence
    /// (CV-90).
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Returns what each rule may cost at most, in units of the language, in the order of versions and
    /// within each from the bottom up; of a schema with other errors, nothing (CE-25). Above
    /// [`RuleCost::LIMIT`] there is an error, too.
    ///
    /// ```
    /// use billhook_definition::{Definition, RuleCost};
    /// use serde_json::json;
    ///
    /// let rule = json!({"rule": "self.startsWith('a')"});
    /// let name = json!({"type": "string", "maxLength": 1000, "x-kubernetes-validations": [rule]});
    /// let schema = json!({"type": "object", "properties": {"name": name}});
    /// let definition = Definition::new(
    ///     json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    ///         "metadata": {"name": "foos.example.com"}, "spec": {
    ///             "group": "example.com", "scope": "Cluster", "names": {"plural": "foos", "kind": "Foo"},
    ///             "versions": [{"name": "v1", "served": true, "storage": true,
    ///                 "schema": {"openAPIV3Schema": schema}}]}}),
    ///     Default::default(),
    /// )?;
    /// let validation = definition.validate_create();
    /// let [rule] = validation.rule_costs() else { return Err("not one rule".into()) };
    /// assert!(rule.path.to_string().ends_with("properties[name].x-kubernetes-validations[0]"));
    /// assert!(rule.cost > 0 && rule.cost < RuleCost::LIMIT);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn rule_costs(&self) -> &[RuleCost] {
        &self.rule_costs
    }

    /// Returns the status that the client gets, with code 422 and reason Invalid; none if nothing
    /// is wrong (VV-64).
    pub fn status(&self) -> Option<Status> {
        let (group, kind) = ("apiextensions.k8s.io", "CustomResourceDefinition");
        (!self.errors.is_empty()).then(|| Status::invalid(group, kind, &self.name, &self.errors))
    }

    /// Returns the message of [`DefinitionValidation::status`].
    pub fn status_message(&self) -> Option<String> {
        self.status().map(|status| status.message)
    }
}
