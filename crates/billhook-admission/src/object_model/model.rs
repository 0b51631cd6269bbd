//! The chain's knowledge of the objects it carries: other versions of them and their defaults
//! (DI-31 to DI-39, RP-60, RP-61, RP-80).

use billhook_apimachinery::value::DeepValue;
use serde_json::Value;

use billhook_apimachinery::{GroupVersionKind, message_error};

message_error! {
    /// An object that cannot be converted or given its defaults.
    pub struct ObjectModelError;
}

/// Knows the objects of a chain. New methods will have defaults.
pub trait ObjectModel: Send + Sync {
    /// Returns the object in another version, with its `apiVersion` and `kind` (DI-37).
    fn convert(&self, object: &Value, to: &GroupVersionKind)
    -> Result<DeepValue, ObjectModelError>;

    /// Sets the defaults of a version in an object of that version (DI-32).
    fn apply_defaults(
        &self,
        object: &mut Value,
        kind: &GroupVersionKind,
    ) -> Result<(), ObjectModelError>;
}

message_error! {
    /// An object that a [`Converter`] cannot convert.
    pub struct ConverterError;
}

/// Converts custom resources whose definition leaves that to a webhook (DI-39, RP-81). As with a
/// webhook, the result must be the same object, and of its metadata only labels and annotations
/// count. New methods will have defaults.
pub trait Converter: Send + Sync {
    /// Returns the object in another version, given as `group/version`.
    fn convert(&self, object: &Value, api_version: &str) -> Result<Value, ConverterError>;
}

impl<F> Converter for F
where
    F: Fn(&Value, &str) -> Result<Value, ConverterError> + Send + Sync,
{
    fn convert(&self, object: &Value, api_version: &str) -> Result<Value, ConverterError> {
        self(object, api_version)
    }
}

/// Objects of which nothing is known: they exist in one version only and have no defaults.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnknownObjects;

impl ObjectModel for UnknownObjects {
    fn convert(&self, _: &Value, to: &GroupVersionKind) -> Result<DeepValue, ObjectModelError> {
        Err(format!("no conversion to {} {} is known", to.api_version(), to.kind).into())
    }

    fn apply_defaults(&self, _: &mut Value, _: &GroupVersionKind) -> Result<(), ObjectModelError> {
        Ok(())
    }
}
