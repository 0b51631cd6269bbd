//! What the chain needs to know of the objects it carries: other versions of them and their
//! defaults (DI-31 to DI-39, RP-60, RP-61, RP-80).

use billhook_apimachinery::value::DeepValue;
use serde_json::Value;

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
