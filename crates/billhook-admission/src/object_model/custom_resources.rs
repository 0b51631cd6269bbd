//! The objects of a definition (DI-39, RP-60, RP-61, RP-80).

use std::future::ready;
use std::sync::Arc;
use std::time::Instant;

use billhook::{CrdVersion, CustomResourceDefinition};
use billhook_apimachinery::print::quote;
use billhook_apimachinery::record::Record;
use billhook_apimachinery::value::DeepValue;
use billhook_apimachinery::{GroupVersionKind, Status, TypeMeta, split_api_version};
use billhook_apply::MergeSchema;
use billhook_policy::{BoxFuture, ObjectModel, ObjectModelError};
use serde_json::Value;

use super::conversion::{Conversion, Failed, has_only_type, with_api_version};
use super::converter::Converter;
use super::patched::complete_type;
use super::source::{Source, WebhookSource};
use crate::observe::{ConversionEnd, ConversionOutcome, Observer};
use crate::review::WebhookCaller;

/// The objects of a definition: converted by its strategy, defaulted by its schemas.
#[derive(Clone)]
pub struct CustomResources {
    definition: CustomResourceDefinition,
    converter: Option<Arc<dyn Converter>>,
    caller: Option<Arc<dyn WebhookCaller>>,
    observer: Option<Arc<dyn Observer>>,
    /// The type of the objects, if they are stored as it prints them, so that reading them changes
    /// nothing.
    record: Option<&'static Record>,
}

impl CustomResources {
    /// The objects of a definition. With the conversion strategy None only `apiVersion` changes;
    /// with the strategy Webhook there must be a [`CustomResources::caller`] that reaches the
    /// webhook, or a [`CustomResources::converter`] in its place.
    pub fn new(definition: CustomResourceDefinition) -> Self {
        CustomResources { definition, converter: None, caller: None, observer: None, record: None }
    }

    /// The objects of a fixed type, if there is one.
    #[must_use]
    pub(crate) fn typed(mut self, record: Option<&'static Record>) -> Self {
        self.record = record;
        self
    }

    /// Returns the type of the objects, if it is fixed.
    pub(crate) fn record(&self) -> Option<&'static Record> {
        self.record
    }

    /// The objects of a definition that are converted by something else.
    #[must_use]
    pub fn converter(mut self, converter: Arc<dyn Converter>) -> Self {
        self.converter = Some(converter);
        self
    }

    /// The objects of a definition whose conversion webhook a caller reaches.
    #[must_use]
    pub fn caller(mut self, caller: Arc<dyn WebhookCaller>) -> Self {
        self.caller = Some(caller);
        self
    }

    /// The objects of a definition whose conversions an observer sees.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = Some(observer);
        self
    }

    pub(crate) fn definition(&self) -> &CustomResourceDefinition {
        &self.definition
    }

    /// Returns a list of objects in another version. A webhook gets all objects that it has to
    /// convert in one review (CX-22, CX-44).
    ///
    /// # Errors
    ///
    /// If one of the objects cannot be converted.
    pub async fn convert_list(
        &self,
        list: &Value,
        to: &GroupVersionKind,
    ) -> Result<DeepValue, ObjectModelError> {
        self.check_versions(list, to)?;
        let items = list.get("items").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for (index, item) in items.iter().enumerate() {
            let found = item.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
            let (group, version) = split_api_version(found);
            if !self.is_listed(group, version) {
                return Err(format!(
                    "request to convert CR list failed, list index {index} has invalid \
                     group/version: {found}"
                )
                .into());
            }
        }
        if let Some(source) = self.source()? {
            let conversion = self.conversion(&source, to);
            return self.observed(list, to, conversion.of_list(list)).await;
        }
        let api_version = to.api_version();
        let mut converted = with_api_version(list, &api_version);
        if let Some(Value::Array(items)) = converted.get_mut("items") {
            for item in items.iter_mut().filter_map(Value::as_object_mut) {
                item.insert("apiVersion".to_owned(), api_version.as_str().into());
            }
        }
        Ok(converted)
    }

    /// Whether a conversion never waits for anything, as with the strategy None.
    pub(crate) fn is_immediate(&self) -> bool {
        self.converter.is_none() && !self.definition.is_converted_by_webhook()
    }

    /// Converts an object if no webhook has to be asked.
    pub(crate) fn convert_now(
        &self,
        object: &Value,
        to: &GroupVersionKind,
    ) -> Option<Result<DeepValue, ObjectModelError>> {
        match self.begin(object, to) {
            Ok(Begun::Done(converted)) => Some(Ok(converted)),
            Ok(Begun::By(_)) => None,
            Err(error) => Some(Err(error)),
        }
    }

    /// Fails if the conversion webhook can never be called (CX-33).
    pub(crate) fn check_conversion(&self) -> Result<(), Status> {
        let (Some(webhook), Some(caller), None) =
            (self.definition.conversion_webhook(), &self.caller, &self.converter)
        else {
            return Ok(());
        };
        let Some(config) = &webhook.client_config else { return Ok(()) };
        let checked = caller.check_conversion(config);
        checked.map_err(|_| Status::internal_error("error resolving resource"))
    }

    /// The converter of the objects; none with the strategy None.
    fn source(&self) -> Result<Option<Source<'_>>, ObjectModelError> {
        if let Some(converter) = &self.converter {
            return Ok(Some(Source::Converter(&**converter)));
        }
        if !self.definition.is_converted_by_webhook() {
            return Ok(None);
        }
        match (self.definition.conversion_webhook(), &self.caller) {
            (Some(webhook), Some(caller)) => {
                let (definition, caller) = (self.definition.name(), &**caller);
                Ok(Some(Source::Webhook(WebhookSource { definition, webhook, caller })))
            }
            _ => Err(format!(
                "the conversion webhook of {} cannot be called, and there is no other converter",
                self.definition.name()
            )
            .into()),
        }
    }

    fn conversion<'c>(
        &'c self,
        source: &'c Source<'c>,
        to: &'c GroupVersionKind,
    ) -> Conversion<'c> {
        Conversion { source, to, wording: self.definition.kubernetes().wording() }
    }

    /// Tells the observer how a conversion ended (CX-50).
    async fn observed(
        &self,
        subject: &Value,
        to: &GroupVersionKind,
        conversion: impl Future<Output = Result<DeepValue, Failed>>,
    ) -> Result<DeepValue, ObjectModelError> {
        let began = Instant::now();
        let converted = conversion.await;
        if let Some(observer) = &self.observer {
            let api_version = subject.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
            let (_, from) = split_api_version(api_version);
            let outcome = match &converted {
                Err(failed) => failed.outcome,
                Ok(_) if has_only_type(subject) => ConversionOutcome::OnlyType,
                Ok(_) => ConversionOutcome::Converted,
            };
            let (definition, took) = (self.definition.name(), began.elapsed());
            let end = ConversionEnd { definition, from, to: &to.version, took, outcome };
            observer.conversion_finished(&end);
        }
        converted.map_err(|failed| failed.message.into())
    }

    fn is_listed(&self, group: &str, version: &str) -> bool {
        group == self.definition.group() && self.definition.version(version).is_some()
    }

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
        let (direction, unknown) = match () {
            () if !self.is_listed(&to.group, &to.version) => ("to", to_version.as_str()),
            () if !self.is_listed(&from.group, &from.version) => ("from", from_version),
            () => return Ok(()),
        };
        Err(format!("request to convert CR {direction} an invalid group/version: {unknown}").into())
    }

    /// The version of a kind, if it is one of the definition.
    pub(crate) fn own_version(&self, kind: &GroupVersionKind) -> Option<CrdVersion> {
        let is_own = kind.group == self.definition.group() && kind.kind == self.definition.kind();
        self.definition.version(&kind.version).filter(|_| is_own)
    }

    /// Converts an object, or says who has to.
    fn begin(&self, object: &Value, to: &GroupVersionKind) -> Result<Begun<'_>, ObjectModelError> {
        self.check_versions(object, to)?;
        Ok(match self.source()? {
            None => Begun::Done(with_api_version(object, &to.api_version())),
            Some(source) => Begun::By(source),
        })
    }
}

/// A conversion that has begun.
enum Begun<'b> {
    Done(DeepValue),
    By(Source<'b>),
}

impl ObjectModel for CustomResources {
    fn convert<'a>(
        &'a self,
        object: &'a Value,
        to: &'a GroupVersionKind,
    ) -> BoxFuture<'a, Result<DeepValue, ObjectModelError>> {
        match self.begin(object, to) {
            Ok(Begun::Done(converted)) => Box::pin(ready(Ok(converted))),
            Err(error) => Box::pin(ready(Err(error))),
            Ok(Begun::By(source)) => Box::pin(async move {
                let conversion = self.conversion(&source, to);
                self.observed(object, to, conversion.of_object(object)).await
            }),
        }
    }

    fn apply_defaults(
        &self,
        object: &mut Value,
        kind: &GroupVersionKind,
    ) -> Result<(), ObjectModelError> {
        match self.own_version(kind) {
            Some(version) => {
                version.apply_defaults(object, &mut ()).map_err(|error| error.to_string().into())
            }
            None => Ok(()),
        }
    }

    fn complete_type(
        &self,
        object: &mut Value,
        kind: &GroupVersionKind,
    ) -> Result<(), ObjectModelError> {
        // Only a Scale has a type.
        if self.own_version(kind).is_none() {
            complete_type(object, kind);
        }
        Ok(())
    }

    fn merge_schema(&self, kind: &GroupVersionKind) -> Option<MergeSchema> {
        self.own_version(kind).map(|version| version.merge_schema().clone())
    }
}
