//! The objects of a definition (DI-39, RP-60, RP-61, RP-80).

use std::sync::Arc;

use billhook::CustomResourceDefinition;
use billhook_apimachinery::print::quote;
use billhook_apimachinery::value::{DeepValue, deep_clone};
use billhook_apimachinery::{GroupVersionKind, TypeMeta};
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

impl CustomResources {
    /// Checks the versions of a conversion, whatever the strategy (CX-02).
    fn check_versions(
        &self,
        object: &Value,
        to: &GroupVersionKind,
    ) -> Result<(), ObjectModelError> {
        let text = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default();
        let from = TypeMeta::new(text("apiVersion"), text("kind")).unwrap_or_default();
        let (from_version, to_version) = (from.api_version.as_str(), to.api_version());
        if from.group != to.group {
            let TypeMeta { group, version, kind, .. } = &from;
            return Err(format!(
                "{group}/{version}, Kind={kind} is unstructured and is not suitable for \
                 converting to {}",
                quote(&to_version)
            )
            .into());
        }
        let is_listed = |group: &str, version: &str| {
            group == self.definition.group() && self.definition.version(version).is_some()
        };
        let (direction, unknown) = match () {
            () if !is_listed(&to.group, &to.version) => ("to", to_version.as_str()),
            () if !is_listed(&from.group, &from.version) => ("from", from_version),
            () => return Ok(()),
        };
        Err(format!("request to convert CR {direction} an invalid group/version: {unknown}").into())
    }
}

impl ObjectModel for CustomResources {
    fn convert(
        &self,
        object: &Value,
        to: &GroupVersionKind,
    ) -> Result<DeepValue, ObjectModelError> {
        let api_version = to.api_version();
        self.check_versions(object, to)?;
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
