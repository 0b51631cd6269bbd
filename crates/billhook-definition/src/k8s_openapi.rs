//! Conversions from the types of `k8s-openapi`.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1 as apiextensions;

use crate::{Definition, DefinitionError};

/// The definition as it would be sent to a server, to be validated.
///
/// ```
/// use billhook_definition::Definition;
/// use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1;
///
/// let crd = v1::CustomResourceDefinition::default();
/// let validation = Definition::try_from(&crd)?.validate_create();
/// assert_eq!(
///     validation.errors()[0].to_string(),
///     "metadata.name: Required value: name or generateName is required",
/// );
/// # Ok::<(), billhook_definition::DefinitionError>(())
/// ```
impl TryFrom<&apiextensions::CustomResourceDefinition> for Definition {
    type Error = DefinitionError;

    fn try_from(crd: &apiextensions::CustomResourceDefinition) -> Result<Self, DefinitionError> {
        // Only a map with keys that are not strings could fail, and there is none.
        Self::from_value(&serde_json::to_value(crd).unwrap_or_default())
    }
}
