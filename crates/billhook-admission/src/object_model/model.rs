//! What the chain needs to know of the objects it carries: other versions of them and their
//! defaults (DI-31 to DI-39, RP-60, RP-61, RP-80).

use std::sync::Arc;

use billhook_apimachinery::value::{DeepValue, deep_clone, grow};
use serde_json::Value;

use super::conversion;
use billhook::CustomResourceDefinition;
use billhook::type_meta;
use billhook_apimachinery::GroupVersionKind;

/// Knows the objects of a chain.
pub trait ObjectModel: Send + Sync {
    /// The object in another version. The result must say so in `apiVersion` and `kind` (DI-37).
    fn convert(&self, object: &Value, to: &GroupVersionKind) -> Result<DeepValue, String>;

    /// Sets the defaults of a version in an object of it (DI-32).
    fn default(&self, object: &mut Value, kind: &GroupVersionKind) -> Result<(), String>;
}

/// Converts custom resources whose definition leaves that to a webhook (DI-39, RP-81). As with a
/// webhook, the result must be the same object, and of its metadata only labels and annotations
/// count.
pub trait Converter: Send + Sync {
    /// The object in another version, given as `group/version`.
    fn convert(&self, object: &Value, api_version: &str) -> Result<Value, String>;
}

impl<F> Converter for F
where
    F: Fn(&Value, &str) -> Result<Value, String> + Send + Sync,
{
    fn convert(&self, object: &Value, api_version: &str) -> Result<Value, String> {
        self(object, api_version)
    }
}

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
    fn convert(&self, object: &Value, to: &GroupVersionKind) -> Result<DeepValue, String> {
        let api_version = to.api_version();
        let is_known =
            to.group == self.definition.group() && self.definition.version(&to.version).is_some();
        if !is_known {
            return Err(format!(
                "request to convert CR to an invalid group/version: {api_version}"
            ));
        }
        if let Some(converter) = &self.converter {
            return conversion::convert(&**converter, object, to);
        }
        if self.definition.is_converted_by_webhook() {
            return Err(format!(
                "the conversion webhook of {} cannot be called, and there is no other converter",
                self.definition.name()
            ));
        }
        let mut converted = DeepValue::from(deep_clone(object));
        if let Value::Object(members) = &mut *converted {
            members.insert("apiVersion".to_owned(), api_version.into());
        }
        Ok(converted)
    }

    fn default(&self, object: &mut Value, kind: &GroupVersionKind) -> Result<(), String> {
        let is_own = kind.group == self.definition.group() && kind.kind == self.definition.kind();
        match self.definition.version(&kind.version).filter(|_| is_own) {
            Some(version) => version.apply_defaults(object).map_err(|error| error.to_string()),
            None => Ok(()),
        }
    }
}

/// Objects of which nothing is known: they exist in one version only and have no defaults.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnknownObjects;

impl ObjectModel for UnknownObjects {
    fn convert(&self, _: &Value, to: &GroupVersionKind) -> Result<DeepValue, String> {
        Err(format!("no conversion to {} {} is known", to.api_version(), to.kind))
    }

    fn default(&self, _: &mut Value, _: &GroupVersionKind) -> Result<(), String> {
        Ok(())
    }
}

/// The object behind a patch (DI-31, DI-35): any tree that still says it is of the same kind.
pub(crate) fn check_patched(object: &Value, kind: &GroupVersionKind) -> Result<(), String> {
    let found = type_meta(object, &kind.kind).map_err(|error| error.to_string())?;
    let expected = kind.api_version();
    if found.api_version != expected || found.kind != kind.kind {
        return Err(format!(
            "the patch changed the object from {expected} {} to {} {}",
            kind.kind, found.api_version, found.kind
        ));
    }
    Ok(())
}

/// Whether two objects are the same to the server (DI-33): null equals the empty list and the
/// empty map.
pub(crate) fn semantically_equal(left: &Value, right: &Value) -> bool {
    let is_empty = |value: &Value| match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    };
    match (left, right) {
        (Value::Null, other) | (other, Value::Null) => other.is_null() || is_empty(other),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && grow(|| left.iter().zip(right).all(|(l, r)| semantically_equal(l, r)))
        }
        (Value::Object(left), Value::Object(right)) => {
            let same = |(key, left): (&String, &Value)| {
                right.get(key).is_some_and(|right| semantically_equal(left, right))
            };
            left.len() == right.len() && grow(|| left.iter().all(same))
        }
        (left, right) => billhook_apimachinery::value::deep_eq(left, right),
    }
}
