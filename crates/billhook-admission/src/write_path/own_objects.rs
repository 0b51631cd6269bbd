//! The objects of a resource with rules of its own, as the chain knows them: what is made of one on
//! its way is read again, as its type.

use std::future::ready;
use std::sync::Arc;

use billhook::{DecodeOptions, type_meta};
use billhook_apimachinery::value::{DeepValue, deep_clone};
use billhook_apimachinery::{GroupVersionKind, not_registered_error, strict_decoding_error};
use billhook_apply::MergeSchema;
use billhook_policy::{BoxFuture, ObjectModel, ObjectModelError};
use serde_json::Value;

use super::strategy::Strategy;
use crate::object_model::{CustomResources, complete_type};

/// Objects that a strategy reads.
pub(super) struct OwnObjects {
    pub(super) model: CustomResources,
    pub(super) strategy: Arc<dyn Strategy>,
}

impl OwnObjects {
    fn read(&self, object: &mut Value, kind: &GroupVersionKind) -> Result<(), ObjectModelError> {
        if let Some(other) = self.strategy.of_equivalent(kind) {
            let read = other.read(object);
            return read.map(drop).map_err(|error| ObjectModelError::from(error.to_string()));
        }
        let Some(version) = self.model.own_version(kind) else { return Ok(()) };
        version
            .convert_value(object, &DecodeOptions::default())
            .map_err(|error| ObjectModelError::from(error.to_string()))?;
        self.model.apply_defaults(object, kind)?;
        let read = self.strategy.read(object);
        read.map(drop).map_err(|error| ObjectModelError::from(error.to_string()))
    }

    /// Checks that an object is of the expected type, or of another one that it exists in (DI-35, PO-75).
    fn check_type(&self, object: &Value, kind: &GroupVersionKind) -> Result<(), ObjectModelError> {
        let found = type_meta(object, &kind.kind).map_err(|error| error.to_string())?;
        let (api_version, found) = (found.api_version.clone(), GroupVersionKind::from(found));
        let is_known = found == *kind
            || self.model.own_version(&found).is_some()
            || self.strategy.of_equivalent(&found).is_some();
        if is_known {
            return Ok(());
        }
        let scheme = self.strategy.scheme();
        Err(not_registered_error(&found.kind, &api_version, scheme).into())
    }
}

impl ObjectModel for OwnObjects {
    fn convert<'a>(
        &'a self,
        object: &'a Value,
        to: &'a GroupVersionKind,
    ) -> BoxFuture<'a, Result<DeepValue, ObjectModelError>> {
        let mut converted = DeepValue::from(deep_clone(object));
        match self.strategy.convert(&mut converted, &to.api_version()) {
            true => Box::pin(ready(Ok(converted))),
            false => self.model.convert(object, to),
        }
    }

    fn apply_defaults(
        &self,
        object: &mut Value,
        kind: &GroupVersionKind,
    ) -> Result<(), ObjectModelError> {
        self.read(object, kind)
    }

    fn complete_type(
        &self,
        object: &mut Value,
        kind: &GroupVersionKind,
    ) -> Result<(), ObjectModelError> {
        complete_type(object, kind);
        self.check_type(object, kind)
    }

    fn merge_schema(&self, kind: &GroupVersionKind) -> Option<MergeSchema> {
        self.model.merge_schema(kind).or_else(|| self.strategy.merge_schema_of(kind))
    }

    fn shows_unset_time(&self) -> bool {
        self.model.definition().kubernetes().writes_unset_time()
    }

    fn check_readable(
        &self,
        object: &Value,
        kind: &GroupVersionKind,
    ) -> Result<(), ObjectModelError> {
        self.check_type(object, kind)?;
        let other = self.strategy.of_equivalent(kind);
        if other.is_none() && self.model.own_version(kind).is_none() {
            return Ok(());
        }
        let strategy = other.as_deref().unwrap_or(&*self.strategy);
        let read = strategy.read(&mut DeepValue::from(deep_clone(object)));
        match read.map_err(|error| error.to_string())?.as_slice() {
            [] => Ok(()),
            unknown => Err(strict_decoding_error(unknown.iter().map(String::as_str)).into()),
        }
    }
}
