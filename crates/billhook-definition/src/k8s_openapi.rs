//! Conversions from the types of `k8s-openapi`.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1 as apiextensions;

use crate::{Definition, DefinitionError};

impl Definition {
    /// Reads a definition of `kube` or `k8s-openapi` as it would be sent to a server.
    ///
    /// In a unit test of types that derive `kube::CustomResource`:
    ///
    /// ```
    /// use billhook_definition::Definition;
    /// # use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1;
    /// # struct Backup;
    /// # impl Backup {
    /// #     fn crd() -> v1::CustomResourceDefinition {
    /// #         v1::CustomResourceDefinition::default()
    /// #     }
    /// # }
    ///
    /// let validation = Definition::from_kube(&Backup::crd())?.validate_create();
    /// assert_eq!(
    ///     validation.errors()[0].to_string(),
    ///     "metadata.name: Required value: name or generateName is required",
    /// );
    /// # Ok::<(), billhook_definition::DefinitionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When a part of the definition cannot be read, such as a schema.
    pub fn from_kube(
        crd: &apiextensions::CustomResourceDefinition,
    ) -> Result<Self, DefinitionError> {
        // Only a map with keys that are not strings could fail, and there is none.
        Self::from_value(&serde_json::to_value(crd).unwrap_or_default())
    }
}
