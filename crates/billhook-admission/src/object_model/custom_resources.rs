//! The objects of a definition (DI-39, RP-60, RP-61, RP-80).

use std::sync::Arc;

use billhook::CustomResourceDefinition;
use billhook_apimachinery::GroupVersionKind;
use billhook_apimachinery::value::{DeepValue, deep_clone};
use serde_json::Value;

use super::conversion;
use super::model::{Converter, ObjectModel, ObjectModelError};

/// The objects of a definition: converted by its strategy, defaulted by its schemas.
#[derive(Clone)]
pub struct CustomResources {
    definition: CustomResourceDefinition,
    converter: Option<Arc<dyn Converter>>,
}

impl CustomResources {
    /// The objects of a definition. With the conversion strategy None only `apiVersion` changes;
    /// with the strategy Webhook there must be a [`CustomResources::converter`].
    pub fn new(definition: CustomResourceDefinition) -> Self {
        CustomResources { definition, converter: None }
    }

    /// The objects of a definition that are converted by something else.
    #[must_use]
    pub fn converter(mut self, converter: Arc<dyn Converter>) -> Self {
        self.converter = Some(converter);
        self
    }
}

impl ObjectModel for CustomResources {
    fn convert(
        &self,
        object: &Value,
        to: &GroupVersionKind,
    ) -> Result<DeepValue, ObjectModelError> {
        let api_version = to.api_version();
        let is_known =
            to.group == self.definition.group() && self.definition.version(&to.version).is_some();
        if !is_known {
            return Err(format!(
                "request to convert CR to an invalid group/version: {api_version}"
            )
            .into());
        }
        if let Some(converter) = &self.converter {
            let wording = self.definition.kubernetes().wording();
            return Ok(conversion::convert(&**converter, object, to, wording)?);
        }
        if self.definition.is_converted_by_webhook() {
            return Err(format!(
                "the conversion webhook of {} cannot be called, and there is no other converter",
                self.definition.name()
            )
            .into());
        }
        let mut converted = DeepValue::from(deep_clone(object));
        if let Value::Object(members) = &mut *converted {
            members.insert("apiVersion".to_owned(), api_version.into());
        }
        Ok(converted)
    }

    fn apply_defaults(
        &self,
        object: &mut Value,
        kind: &GroupVersionKind,
    ) -> Result<(), ObjectModelError> {
        let is_own = kind.group == self.definition.group() && kind.kind == self.definition.kind();
        match self.definition.version(&kind.version).filter(|_| is_own) {
            Some(version) => {
                version.apply_defaults(object, &mut ()).map_err(|error| error.to_string().into())
            }
            None => Ok(()),
        }
    }
}
