//! Who converts custom resources whose definition leaves that to a webhook (DI-39, RP-81).

use std::future::ready;

use billhook_apimachinery::message_error;
use billhook_apimachinery::value::DeepValue;
use billhook_policy::BoxFuture;
use serde_json::Value;

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
