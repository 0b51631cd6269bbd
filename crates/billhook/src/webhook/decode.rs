//! Reading configurations from documents and writing them: strict about types, a list of the
//! unknown fields (WCF-02 to WCF-05).

use std::sync::LazyLock;

use billhook_apimachinery::KubernetesVersion;
use billhook_apimachinery::metadata::{ObjectMeta, write_unset_time};
use billhook_apimachinery::record;
use billhook_apimachinery::record::{Field, FieldValue, Record, RecordError, Type, TypedRecord};
use billhook_apimachinery::value::DeepValue;
use serde::Serializer;
use serde_json::Value;

use super::configuration::{
    ConfigurationKind, ConfigurationVersion, GROUP, Webhook, WebhookConfiguration,
};
use crate::ManifestError;

/// A document that cannot be read as a webhook configuration.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigurationError {
    /// The text is neither YAML nor JSON.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The text holds no document, or more than one.
    #[error("expected one webhook configuration, found {0} documents")]
    Count(usize),
    /// The document is something else.
    #[error(
        "not a webhook configuration of admissionregistration.k8s.io/v1 or v1beta1: apiVersion \
         `{api_version}`, kind `{kind}`"
    )]
    Kind {
        /// The `apiVersion` found.
        api_version: String,
        /// The `kind` found.
        kind: String,
    },
    /// A field has the wrong type.
    #[error(transparent)]
    Field(#[from] RecordError),
}

impl WebhookConfiguration {
    /// Reads a configuration and sets the defaults of its version. Fields that are not known are
    /// ignored.
    pub fn from_value(value: &Value) -> Result<Self, ConfigurationError> {
        Self::from_value_reporting(value).map(|(configuration, _)| configuration)
    }

    /// [`WebhookConfiguration::from_value`] with the unknown fields listed, as strict field
    /// validation does: `unknown field "webhooks[0].rule"`.
    pub fn from_value_reporting(value: &Value) -> Result<(Self, Vec<String>), ConfigurationError> {
        let Some((kind, version)) = kind_and_version(value) else {
            let text = |name| value.get(name).and_then(Value::as_str).unwrap_or_default();
            let (api_version, kind) = (text("apiVersion").to_owned(), text("kind").to_owned());
            return Err(ConfigurationError::Kind { api_version, kind });
        };
        let (mut configuration, unknown) = Self::read(value, kind, version)?;
        configuration.set_defaults();
        Ok((configuration, unknown))
    }

    /// Reads a configuration from YAML text that holds nothing else.
    pub fn from_yaml(text: &str) -> Result<Self, ConfigurationError> {
        Self::from_text(text.as_bytes())
    }

    /// Reads a configuration from JSON text.
    pub fn from_json(text: &[u8]) -> Result<Self, ConfigurationError> {
        Self::from_text(text)
    }

    fn from_text(text: &[u8]) -> Result<Self, ConfigurationError> {
        match crate::read_manifests(text)?.as_slice() {
            [manifest] => Self::from_value(manifest.value()),
            other => Err(ConfigurationError::Count(other.len())),
        }
    }

    /// Returns the kind that a document says it is; none if it is not a webhook configuration of a
    /// version that can be read.
    pub fn kind_of(value: &Value) -> Option<ConfigurationKind> {
        kind_and_version(value).map(|(kind, _)| kind)
    }
}

impl ConfigurationKind {
    /// Returns the fields that configurations of the kind have.
    pub fn record(self) -> &'static Record {
        match self {
            ConfigurationKind::Mutating => MutatingDocument::record(),
            ConfigurationKind::Validating => ValidatingDocument::record(),
        }
    }
}

fn kind_and_version(value: &Value) -> Option<(ConfigurationKind, ConfigurationVersion)> {
    let (group, version) = value.get("apiVersion")?.as_str()?.split_once('/')?;
    let version = [ConfigurationVersion::V1, ConfigurationVersion::V1beta1]
        .into_iter()
        .find(|known| known.name() == version && group == GROUP)?;
    Some((ConfigurationKind::of(value.get("kind")?.as_str()?)?, version))
}

record! {
    #[derive(Default)]
    struct MutatingDocument = "MutatingWebhookConfiguration" {
        kind: String = "kind",
        api_version: String = "apiVersion" as "APIVersion",
        metadata: ObjectMeta = "metadata" [1] as "ObjectMeta",
        webhooks: Vec<Webhook> = "webhooks" [2] merge "name",
    }

    #[derive(Default)]
    struct ValidatingDocument = "ValidatingWebhookConfiguration" {
        kind: String = "kind",
        api_version: String = "apiVersion" as "APIVersion",
        metadata: ObjectMeta = "metadata" [1] as "ObjectMeta",
        webhooks: Vec<ValidatingWebhook> = "webhooks" [2] merge "name",
    }
}

/// A webhook without its reinvocation policy, which only mutating ones have.
struct ValidatingWebhook(Webhook);

impl ValidatingWebhook {
    fn record() -> &'static Record {
        static FIELDS: LazyLock<Vec<Field>> = LazyLock::new(|| {
            let is_common = |field: &&Field| field.name != "reinvocationPolicy";
            let common = Webhook::FIELDS.iter().filter(is_common).copied();
            let numbered = common.map(|field| match field.name {
                "objectSelector" => field.numbered(&[10]),
                "matchConditions" => field.numbered(&[11]),
                _ => field,
            });
            numbered.collect()
        });
        static RECORD: LazyLock<Record> =
            LazyLock::new(|| Record::new("ValidatingWebhook", &FIELDS));
        &RECORD
    }
}

impl FieldValue for ValidatingWebhook {
    const TYPE: Type = Type::Record(Self::record);

    fn of(value: &Value) -> Self {
        ValidatingWebhook(Webhook { reinvocation_policy: None, ..Webhook::of(value) })
    }

    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.write(to)
    }
}

impl WebhookConfiguration {
    fn read(
        value: &Value,
        kind: ConfigurationKind,
        version: ConfigurationVersion,
    ) -> Result<(Self, Vec<String>), RecordError> {
        let (metadata, webhooks, unknown) = match kind {
            ConfigurationKind::Mutating => {
                let (document, unknown) = MutatingDocument::read(value)?;
                (document.metadata, document.webhooks, unknown)
            }
            ConfigurationKind::Validating => {
                let (document, unknown) = ValidatingDocument::read(value)?;
                let webhooks = document.webhooks.into_iter().map(|webhook| webhook.0).collect();
                (document.metadata, webhooks, unknown)
            }
        };
        let metadata = metadata.to_document();
        let kubernetes = KubernetesVersion::default();
        Ok((WebhookConfiguration { kind, version, metadata, webhooks, kubernetes }, unknown))
    }

    /// The configuration as a document of its version, defaults included.
    pub fn to_value(&self) -> DeepValue {
        let document = MutatingDocument {
            api_version: format!("{GROUP}/{}", self.version.name()),
            kind: self.kind.name().to_owned(),
            metadata: ObjectMeta::of(&self.metadata),
            webhooks: self.webhooks.clone(),
        };
        let mut document = document.to_document();
        if let Some(metadata) = document.get_mut("metadata")
            && self.kubernetes.writes_unset_time()
        {
            write_unset_time(metadata);
        }
        document
    }
}
