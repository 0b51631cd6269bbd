//! The files with webhook configurations and admission policies that a suite names.

use std::path::Path;

use billhook::webhook::WebhookConfiguration;
use billhook::{CustomResourceDefinition, DeepValue, KubernetesVersion};
use billhook_apimachinery::split_api_version;
use billhook_policy::PolicyDocument;
use serde_json::Value;

use crate::files::{self, FoundDefinition, ReadFile, beside};
use crate::plan_error::PlanError;
use crate::suite::Suite;

/// The webhook configurations of a suite.
pub(crate) fn webhooks(
    path: &Path,
    suite: &Suite,
    kubernetes: KubernetesVersion,
    read: ReadFile,
) -> Result<Vec<WebhookConfiguration>, PlanError> {
    let mut found = Vec::new();
    for path in suite.webhooks.iter().map(|file| beside(path, file)) {
        let read = files::documents_below(&path, read).map_err(|error| {
            PlanError::of_file(&error).help("the paths of `webhooks` are seen from the suite")
        })?;
        let before = found.len();
        for document in &read {
            let Some(kind) = WebhookConfiguration::kind_of(&document.value) else { continue };
            let configuration = WebhookConfiguration::from_value(&document.value)
                .map_err(|error| PlanError::of_document(document, kind.record(), error))?;
            let configuration = configuration.kubernetes(kubernetes);
            if let Some(error) = configuration.validate().first() {
                return Err(PlanError::of_field(document, error));
            }
            found.push(configuration);
        }
        if found.len() == before {
            return Err(PlanError::new(&path, "no webhook configuration here"));
        }
    }
    Ok(found)
}

/// Policies and bindings, and the objects that they see.
#[derive(Debug, Default)]
pub(crate) struct Policies {
    /// The documents as they are written.
    pub(crate) found: Vec<FoundDefinition>,
    pub(crate) documents: Vec<PolicyDocument>,
    /// Parameters and namespaces.
    pub(crate) objects: Vec<DeepValue>,
}

impl Policies {
    /// Reads the files that a suite names. A server has to accept the policies.
    pub(crate) fn read(path: &Path, suite: &Suite, read: ReadFile) -> Result<Self, PlanError> {
        let mut policies = Policies::default();
        for path in suite.policies.iter().map(|file| beside(path, file)) {
            let found = files::documents_below(&path, read).map_err(|error| {
                PlanError::of_file(&error).help("the paths of `policies` are seen from the suite")
            })?;
            if !found.iter().any(|it| PolicyDocument::kind_of(&it.value).is_some()) {
                return Err(PlanError::new(&path, "no admission policy here"));
            }
            for document in found {
                policies.add(document)?;
            }
        }
        Ok(policies)
    }

    fn add(&mut self, found: FoundDefinition) -> Result<(), PlanError> {
        if let Some(kind) = PolicyDocument::kind_of(&found.value) {
            let policy = PolicyDocument::from_value(&found.value)
                .map_err(|error| PlanError::of_document(&found, kind.record(), error))?;
            if let Some(error) = policy.validate().first() {
                return Err(PlanError::of_field(&found, error));
            }
            self.documents.push(policy);
            self.found.push(found);
        } else if !CustomResourceDefinition::is_definition(&found.value) {
            self.objects.push(found.value);
        }
        Ok(())
    }

    /// Whether an object is of a definition.
    pub(crate) fn need(&self, definition: &Value) -> bool {
        self.objects.iter().any(|object| is_of(object, definition))
    }
}

/// Whether an object is of the group and kind of a definition.
pub(crate) fn is_of(object: &Value, definition: &Value) -> bool {
    let text = |value: &Value, path: &str| {
        value.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let api_version = text(object, "/apiVersion");
    split_api_version(&api_version).0 == text(definition, "/spec/group")
        && text(object, "/kind") == text(definition, "/spec/names/kind")
}
