//! The engine's knowledge of the objects of requests: other versions of them, their defaults and types
//! (DI-31 to DI-39, PO-66, RP-60, RP-61, RP-80).

use std::future::ready;
use std::pin::Pin;

use billhook_apimachinery::value::DeepValue;
use billhook_apimachinery::{GroupVersionKind, message_error};
use billhook_apply::MergeSchema;
use serde_json::Value;

/// A boxed future, as trait objects need it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

message_error! {
    /// An object that cannot be converted, read or given its defaults.
    pub struct ObjectModelError;
}

/// Knows the objects of requests. By itself it knows nothing of them: they exist in one version only
/// and have no defaults. New methods will have defaults.
pub trait ObjectModel: Send + Sync {
    /// Returns the object in another version, with its `apiVersion` and `kind` (DI-37).
    fn convert<'a>(
        &'a self,
        object: &'a Value,
        to: &'a GroupVersionKind,
    ) -> BoxFuture<'a, Result<DeepValue, ObjectModelError>> {
        let _ = object;
        Box::pin(ready(Err(unknown_conversion(to))))
    }

    /// Sets the defaults of a version in an object of that version (DI-32).
    ///
    /// # Errors
    ///
    /// If the object cannot be read.
    fn apply_defaults(
        &self,
        object: &mut Value,
        kind: &GroupVersionKind,
    ) -> Result<(), ObjectModelError> {
        let _ = (object, kind);
        Ok(())
    }

    /// Names the type of an object that a webhook has patched, where decoding assumes it because the server
    /// has a type for objects of the kind (DI-31).
    ///
    /// # Errors
    ///
    /// If the object is of a type that the server does not know (DI-35).
    fn complete_type(
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

    /// Returns whether webhooks see null where an object has no creation time, as they do in the types of
    /// older servers themselves (AR-17, KV-01).
    fn shows_unset_time(&self) -> bool {
        false
    }

    /// Checks that an object that a policy changed can be read as one of a kind, strictly (PO-75).
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

/// Returns the error about a kind that an object does not exist in.
pub(crate) fn unknown_conversion(to: &GroupVersionKind) -> ObjectModelError {
    format!("no conversion to {} {} is known", to.api_version(), to.kind).into()
}

/// Objects of which nothing is known: they exist in one version only and have no defaults.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnknownObjects;

impl ObjectModel for UnknownObjects {}
