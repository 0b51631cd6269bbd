//! The rules of definitions that are written (CV-01, CV-02, LC-03, LC-40, LC-41).

use billhook::definition::{Conversion, DefinitionDocument, DefinitionStatus};
use billhook::{Definition, DefinitionValidation, KubernetesVersion, Time};
use billhook_admission::{Findings, Strategy, StrategyContext, Subresource};
use billhook_apimachinery::record::{Record, RecordError, TypedRecord as _};
use billhook_apimachinery::value::{DeepValue, deep_clone};
use serde_json::{Map, Value};

use super::conditions::{TERMINATING, set};
use crate::edition::EDITIONS;

/// The finalizer that keeps a definition until its objects are gone.
pub(crate) const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

/// The rules of definitions.
#[derive(Debug)]
pub(super) struct DefinitionStrategy {
    pub(super) kubernetes: KubernetesVersion,
}

impl Strategy for DefinitionStrategy {
    fn read(&self, object: &mut Value) -> Result<Vec<String>, RecordError> {
        let read = DefinitionDocument::read_for(object, self.kubernetes);
        let (mut document, unknown) = read?;
        if !EDITIONS.of(self.kubernetes).keeps_observed_generations {
            // A server of 1.35 knows the field, and does not keep it (KV-02).
            let status = &mut document.status;
            status.observed_generation = 0;
            status.conditions.iter_mut().for_each(|condition| condition.observed_generation = 0);
        }
        complete(&mut document);
        write(&document, object);
        remove_unknown(object);
        Ok(unknown)
    }

    fn empty(&self) -> Option<Value> {
        let mut empty = Value::Object(Map::new());
        write(&DefinitionDocument::default(), &mut empty);
        Some(empty)
    }

    fn prepare(&self, object: &mut Value, old: Option<&Value>, context: &StrategyContext<'_>) {
        // A write of the status fills in what is missing only (LC-41).
        if context.subresource.is_some() && has_stored_versions(object) {
            return;
        }
        let Ok((mut document, _)) = DefinitionDocument::read(object) else { return };
        if old.is_none() {
            document.status = DefinitionStatus::default();
        }
        let storage = storage_version(&document).map(str::to_owned);
        let stored = &mut document.status.stored_versions;
        if let Some(storage) = storage.filter(|name| !stored.contains(name)) {
            stored.push(storage);
        }
        write(&document, object);
    }

    fn takes_metadata(&self, _: Subresource) -> bool {
        true
    }

    fn resets(&self, subresource: Option<Subresource>) -> Option<&'static [&'static str]> {
        (subresource == Some(Subresource::Status))
            .then(|| EDITIONS.of(self.kubernetes).definition_status_resets)
    }

    fn scheme(&self) -> &'static str {
        "k8s.io/apiextensions-apiserver/pkg/apiserver/apiserver.go:55"
    }

    fn record(&self) -> &'static Record {
        DefinitionDocument::record()
    }

    fn is_typed(&self) -> bool {
        false
    }

    fn has_plain_metadata(&self) -> bool {
        false
    }

    fn validate(
        &self,
        object: &Value,
        old: Option<&Value>,
        context: &StrategyContext<'_>,
    ) -> Findings {
        let subresource = context.subresource;
        let definition = |value: &Value| match subresource {
            None => Definition::new(deep_clone(value), self.kubernetes).ok(),
            // The spec is that of the stored definition.
            Some(_) => Definition::new(without_spec(value), self.kubernetes).ok(),
        };
        let Some(new) = definition(object) else { return Findings::default() };
        let validation = match (old.and_then(definition), subresource) {
            (None, _) => new.validate_create(),
            (Some(old), None) => new.validate_update(&old),
            (Some(old), Some(_)) => new.validate_status_update(&old),
        };
        findings(&validation)
    }

    fn marks_deletions(&self) -> bool {
        true
    }

    fn mark(&self, object: &mut Value, now: &str, _: Vec<Value>) {
        let Ok((mut document, _)) = DefinitionDocument::read(object) else { return };
        let message = "CustomResourceDefinition marked for deletion; CustomResource deletion will \
                       begin soon";
        let outcome = (true, "InstanceDeletionPending", message);
        let time = Time::parse(now).unwrap_or_default();
        set(&mut document.status, TERMINATING, outcome, time);
        write(&document, object);
        let Some(Value::Object(metadata)) = object.get_mut("metadata") else { return };
        metadata.insert("deletionTimestamp".to_owned(), now.into());
        let finalizers = metadata.entry("finalizers").or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(finalizers) = finalizers
            && !finalizers.iter().any(|finalizer| finalizer == CLEANUP)
        {
            finalizers.push(CLEANUP.into());
        }
    }

    fn is_kept(&self, _: &Value) -> bool {
        false
    }
}

fn has_stored_versions(object: &Value) -> bool {
    let versions = object.pointer("/status/storedVersions").and_then(Value::as_array);
    versions.is_some_and(|versions| !versions.is_empty())
}

fn without_spec(object: &Value) -> DeepValue {
    let members = object.as_object().into_iter().flatten().filter(|(name, _)| *name != "spec");
    let members = members.map(|(name, value)| (name.clone(), deep_clone(value)));
    DeepValue::from(members.collect::<Value>())
}

fn findings(validation: &DefinitionValidation) -> Findings {
    Findings::new(validation.errors().to_vec(), validation.warnings().to_vec())
}

/// Removes the members that a definition does not have.
fn remove_unknown(object: &mut Value) {
    let Value::Object(members) = object else { return };
    let record = DefinitionDocument::record();
    let unknown: Vec<String> =
        members.keys().filter(|name| record.field(name).is_none()).cloned().collect();
    for name in unknown {
        members.remove(&name).map(DeepValue::from);
    }
}

/// Fills in what a definition may leave out (CV-01).
fn complete(document: &mut DefinitionDocument) {
    let names = &mut document.spec.names;
    if names.singular.is_empty() {
        names.singular = names.kind.to_lowercase();
    }
    if names.list_kind.is_empty() && !names.kind.is_empty() {
        names.list_kind = format!("{}List", names.kind);
    }
    let conversion = document.spec.conversion.get_or_insert_with(|| {
        let mut conversion = Conversion::default();
        "None".clone_into(&mut conversion.strategy);
        conversion
    });
    let client = conversion.webhook.as_mut().and_then(|webhook| webhook.client_config.as_mut());
    if let Some(service) = client.and_then(|client| client.service.as_mut()) {
        service.port.get_or_insert(443);
    }
    if document.status.stored_versions.is_empty() {
        let storage = storage_version(document).map(str::to_owned);
        document.status.stored_versions.extend(storage);
    }
}

/// The name of the first version that objects are stored in.
fn storage_version(document: &DefinitionDocument) -> Option<&str> {
    let mut versions = document.spec.versions.iter();
    versions.find(|version| version.storage).map(|version| version.name.as_str())
}

/// Writes spec and status into an object, with what a server shows even if it is empty (LC-03).
fn write(document: &DefinitionDocument, object: &mut Value) {
    let has_versions = object.pointer("/spec/versions").is_some_and(Value::is_array);
    let mut spec = document.spec.to_document();
    if let Value::Object(spec) = &mut *spec
        && !has_versions
    {
        spec.insert("versions".to_owned(), Value::Null);
    }
    put(object, "spec", spec);
    write_status(&document.status, object);
}

/// Writes the status into an object, with what a server shows even if it is empty (LC-03). A list
/// that was sent stays one.
pub(crate) fn write_status(status: &DefinitionStatus, object: &mut Value) {
    let is_list = |name| {
        object.get("status").and_then(|status| status.get(name)).is_some_and(Value::is_array)
    };
    let empty = |name| if is_list(name) { Value::Array(Vec::new()) } else { Value::Null };
    let empty = ["conditions", "storedVersions"].map(|name| (name, empty(name)));
    let mut written = status.to_document();
    if let Value::Object(members) = &mut *written {
        members
            .entry("acceptedNames")
            .or_insert_with(|| status.accepted_names.to_document().into_inner());
        for (name, empty) in empty {
            members.entry(name).or_insert(empty);
        }
    }
    put(object, "status", written);
}

fn put(object: &mut Value, name: &str, value: DeepValue) {
    if let Value::Object(members) = object {
        members.insert(name.to_owned(), value.into_inner()).map(DeepValue::from);
    }
}
