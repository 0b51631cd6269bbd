//! The chain's knowledge of the objects it carries: other versions of them and their defaults
//! (DI-31 to DI-39, RP-60, RP-61, RP-80).

use std::future::ready;

use billhook::apply::MergeSchema;
use billhook_apimachinery::value::DeepValue;
use billhook_apimachinery::{GroupVersionKind, message_error};
use serde_json::Value;

use crate::futures::BoxFuture;

message_error! {
    /// An object that cannot be converted or given its defaults.
    pub struct ObjectModelError;
}

/// Knows the objects of a chain. By itself it knows nothing of them: they exist in one version only
/// and have no defaults. New methods will have defaults.
pub trait ObjectModel: Send + Sync {
    /// Returns the object in another version, with its `apiVersion` and `kind` (DI-37).
    fn convert<'a>(
        &'a self,
        object: &'a Value,
        to: &'a GroupVersionKind,
    ) -> BoxFuture<'a, Result<DeepValue, ObjectModelError>> {
        let _ = object;
        let error = format!("no conversion to {} {} is known", to.api_version(), to.kind);
        Box::pin(ready(Err(error.into())))
    }

    /// Sets the defaults of a version in an object of that version (DI-32).
    fn apply_defaults(
        &self,
        object: &mut Value,
        kind: &GroupVersionKind,
    ) -> Result<(), ObjectModelError> {
        let _ = (object, kind);
        Ok(())
    }

    /// Returns how objects of a kind are merged, for mutating policies; none if it has no known
    /// type (PO-66).
    fn merge_schema(&self, kind: &GroupVersionKind) -> Option<MergeSchema> {
        let _ = kind;
        None
    }

    /// Whether webhooks see null where an object has no creation time, as they do in the types of
    /// older servers themselves (AR-17, KV-01).
    fn shows_unset_time(&self) -> bool {
        false
    }

    /// Checks that an object that a policy changed can be read as one of a kind (PO-75).
    ///
    /// # Errors
    ///
    /// If it cannot.
    fn check_readable(
        &self,
        object: &Value,
        kind: &GroupVersionKind,
    ) -> Result<(), ObjectModelError> {
        let _ = (object, kind);
        Ok(())
    }
}

message_error! {
    /// An object that a [`Converter`] cannot convert.
    pub struct ConverterError;
}

/// Converts custom resources whose definition leaves that to a webhook (DI-39, RP-81). As with a
/// webhook, the results must be the same objects, and of their metadata only labels and annotations
/// count. New methods will have defaults.
///
/// A function that returns an object in another version, given as `group/version`, is a converter
/// that never waits:
///
/// ```
/// use std::sync::Arc;
///
/// use billhook_admission::{Converter, ConverterError};
/// use serde_json::Value;
///
/// let rename = |object: &Value, api_version: &str| -> Result<Value, ConverterError> {
///     let mut object = object.clone();
///     object["apiVersion"] = api_version.into();
///     Ok(object)
/// };
/// let converter: Arc<dyn Converter> = Arc::new(rename);
/// ```
pub trait Converter: Send + Sync {
    /// Returns objects in another version, given as `group/version`, in the same order.
    fn convert<'a>(
        &'a self,
        objects: &'a [&'a Value],
        api_version: &'a str,
    ) -> BoxFuture<'a, Result<Vec<DeepValue>, ConverterError>>;
}

impl<F> Converter for F
where
    F: Fn(&Value, &str) -> Result<Value, ConverterError> + Send + Sync,
{
    fn convert<'a>(
        &'a self,
        objects: &'a [&'a Value],
        api_version: &'a str,
    ) -> BoxFuture<'a, Result<Vec<DeepValue>, ConverterError>> {
        let convert = |object: &&Value| self(object, api_version).map(DeepValue::from);
        Box::pin(ready(objects.iter().map(convert).collect()))
    }
}

/// Objects of which nothing is known: they exist in one version only and have no defaults.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct UnknownObjects;

impl ObjectModel for UnknownObjects {}
