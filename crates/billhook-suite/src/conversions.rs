//! Conversion webhooks that answer as a suite says, or that are called because it says so.

use billhook::DeepValue;
use billhook_admission::{ConversionRequest, ConversionResponse, JsonPatch};
use billhook_apimachinery::split_api_version;
use billhook_apimachinery::value::deep_clone;
use serde_json::Value;

use crate::files::FoundDefinition;
use crate::object_case::{ConversionAnswer, patch_text};
use crate::suite::Suite;

/// The conversions of the kinds of a suite.
#[derive(Debug, Default)]
pub(crate) struct Conversions(Vec<Known>);

#[derive(Debug)]
struct Known {
    group: String,
    kind: String,
    conversion: ConversionAnswer,
}

impl Conversions {
    /// The conversions of a suite, whose definitions must be there.
    pub(crate) fn new(suite: &Suite, definitions: &[FoundDefinition]) -> Result<Self, String> {
        let known = suite.conversions.iter().map(|(name, conversion)| {
            let found = definitions.iter().find(|found| found.name() == Some(name));
            let found = found.ok_or_else(|| format!("conversions: no CRD named `{name}`"))?;
            let text = |path| {
                found.value.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned()
            };
            let (group, kind) = (text("/spec/group"), text("/spec/names/kind"));
            Ok(Known { group, kind, conversion: conversion.clone() })
        });
        known.collect::<Result<_, String>>().map(Conversions)
    }

    /// The conversion of the objects of a request.
    pub(crate) fn of(&self, request: &ConversionRequest) -> Option<&ConversionAnswer> {
        let (group, _) = split_api_version(&request.desired_api_version);
        let kind = request.objects.first()?.get("kind").and_then(Value::as_str)?;
        let known = self.0.iter().find(|known| known.group == group && known.kind == kind)?;
        Some(&known.conversion)
    }
}

impl ConversionAnswer {
    /// The answer of the webhook.
    pub(crate) fn answer(&self, request: &ConversionRequest) -> ConversionResponse {
        if let Some(message) = &self.fail {
            return ConversionResponse::failure(request, message);
        }
        let converted: Result<Vec<DeepValue>, String> =
            request.objects.iter().map(|object| self.convert(object, request)).collect();
        match converted {
            Ok(objects) => ConversionResponse::success(request, objects),
            Err(message) => ConversionResponse::failure(request, &message),
        }
    }

    fn convert(&self, object: &Value, request: &ConversionRequest) -> Result<DeepValue, String> {
        let mut object = DeepValue::from(deep_clone(object));
        let api_version = &request.desired_api_version;
        let (_, version) = split_api_version(api_version);
        if let Some(members) = object.as_object_mut() {
            members.insert("apiVersion".to_owned(), api_version.as_str().into());
        }
        let Some(operations) = self.patches.get(version) else { return Ok(object) };
        JsonPatch::from_slice(&patch_text(operations))
            .and_then(|patch| patch.apply(&object))
            .map_err(|error| format!("the patch to `{version}` in the suite: {error}"))
    }
}
