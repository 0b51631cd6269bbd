//! Reading configurations from documents: strict about types, a list of the unknown fields
//! (WCF-02 to WCF-05).

use billhook_apimachinery::metadata::{Invalid, decode_metadata, unknown_metadata_fields};
use billhook_apimachinery::print::quote;
use billhook_apimachinery::{Location, base64};
use serde_json::Value;

use super::configuration::{
    ConfigurationKind, ConfigurationVersion, GROUP, MatchCondition, Rule, Webhook,
    WebhookConfiguration,
};
use crate::ManifestError;
use billhook_apimachinery::label_selector::LabelSelector;
use billhook_apimachinery::record_reader::{ReadError, Reader};
use billhook_definition::{ClientConfig, ServiceReference};

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
    Field(#[from] ReadError),
}

type Result<T> = std::result::Result<T, ReadError>;

impl WebhookConfiguration {
    /// Reads a configuration and sets the defaults of its version. Fields that are not known are
    /// ignored.
    pub fn from_value(value: &Value) -> std::result::Result<Self, ConfigurationError> {
        Self::from_value_reporting(value).map(|(configuration, _)| configuration)
    }

    /// [`WebhookConfiguration::from_value`] with the unknown fields listed, as strict field
    /// validation does: `unknown field "webhooks[0].rule"`.
    pub fn from_value_reporting(
        value: &Value,
    ) -> std::result::Result<(Self, Vec<String>), ConfigurationError> {
        let Some((kind, version)) = kind_and_version(value) else {
            let text = |name| value.get(name).and_then(Value::as_str).unwrap_or_default();
            let (api_version, kind) = (text("apiVersion").to_owned(), text("kind").to_owned());
            return Err(ConfigurationError::Kind { api_version, kind });
        };
        let mut reader = Reader::default();
        let mut configuration = read(value, kind, version, &mut reader)?;
        configuration.set_defaults();
        Ok((configuration, reader.unknown))
    }

    /// Reads a configuration from YAML text that holds nothing else.
    pub fn from_yaml(text: &str) -> std::result::Result<Self, ConfigurationError> {
        Self::from_text(text.as_bytes())
    }

    /// Reads a configuration from JSON text.
    pub fn from_json(text: &[u8]) -> std::result::Result<Self, ConfigurationError> {
        Self::from_text(text)
    }

    fn from_text(text: &[u8]) -> std::result::Result<Self, ConfigurationError> {
        match crate::read_manifests(text)?.as_slice() {
            [manifest] => Self::from_value(manifest.value()),
            other => Err(ConfigurationError::Count(other.len())),
        }
    }

    /// Whether a document says that it is a webhook configuration of a version that can be read.
    pub fn is_configuration(value: &Value) -> bool {
        kind_and_version(value).is_some()
    }
}

fn kind_and_version(value: &Value) -> Option<(ConfigurationKind, ConfigurationVersion)> {
    let (group, version) = value.get("apiVersion")?.as_str()?.split_once('/')?;
    let version = [ConfigurationVersion::V1, ConfigurationVersion::V1beta1]
        .into_iter()
        .find(|known| known.name() == version && group == GROUP)?;
    Some((ConfigurationKind::of(value.get("kind")?.as_str()?)?, version))
}

fn read(
    value: &Value,
    kind: ConfigurationKind,
    version: ConfigurationVersion,
    reader: &mut Reader,
) -> Result<WebhookConfiguration> {
    let metadata = Default::default();
    let mut configuration = WebhookConfiguration { kind, version, metadata, webhooks: Vec::new() };
    // An absent `metadata` is an empty object too.
    configuration.metadata = read_metadata(&Value::Null, &Location::TOP, reader)?;
    reader.record(value, &Location::TOP, |reader, name, value, at| {
        match name {
            "apiVersion" | "kind" => {}
            "metadata" => configuration.metadata = read_metadata(value, at, reader)?,
            "webhooks" => {
                configuration.webhooks = reader
                    .list(value, at, |value, at, reader| read_webhook(kind, value, at, reader))?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(configuration)
}

fn read_metadata(
    value: &Value,
    at: &Location<'_>,
    reader: &mut Reader,
) -> Result<billhook_apimachinery::value::DeepValue> {
    let metadata = decode_metadata(value, Invalid::Refuse)
        .map_err(|error| ReadError::new(at, error.to_string()))?;
    let unknown = unknown_metadata_fields(value, at);
    reader.unknown.extend(unknown.iter().map(|path| format!("unknown field {}", quote(path))));
    Ok(metadata)
}

fn read_webhook(
    kind: ConfigurationKind,
    value: &Value,
    at: &Location<'_>,
    reader: &mut Reader,
) -> Result<Webhook> {
    let mut webhook = Webhook::default();
    reader.record(value, at, |reader, name, value, at| {
        match name {
            "name" => webhook.name = reader.text(value, at)?,
            "clientConfig" => webhook.client_config = read_client_config(value, at, reader)?,
            "rules" => webhook.rules = reader.list(value, at, read_rule)?,
            "failurePolicy" => webhook.failure_policy = reader.optional_text(value, at)?,
            "matchPolicy" => webhook.match_policy = reader.optional_text(value, at)?,
            "namespaceSelector" => webhook.namespace_selector = selector(value, at, reader)?,
            "objectSelector" => webhook.object_selector = selector(value, at, reader)?,
            "sideEffects" => webhook.side_effects = reader.optional_text(value, at)?,
            "timeoutSeconds" => webhook.timeout_seconds = reader.optional_int32(value, at)?,
            "admissionReviewVersions" if value.is_null() => {}
            "admissionReviewVersions" => {
                webhook.admission_review_versions = Some(reader.texts(value, at)?);
            }
            "matchConditions" => {
                webhook.match_conditions = reader.list(value, at, read_condition)?;
            }
            "reinvocationPolicy" if kind == ConfigurationKind::Mutating => {
                webhook.reinvocation_policy = reader.optional_text(value, at)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(webhook)
}

fn selector(
    value: &Value,
    at: &Location<'_>,
    reader: &mut Reader,
) -> Result<Option<LabelSelector>> {
    if value.is_null() { Ok(None) } else { LabelSelector::read(value, at, reader).map(Some) }
}

fn read_client_config(
    value: &Value,
    at: &Location<'_>,
    reader: &mut Reader,
) -> Result<ClientConfig> {
    let mut config = ClientConfig::default();
    reader.record(value, at, |reader, name, value, at| {
        match name {
            "url" => config.url = reader.optional_text(value, at)?,
            "service" if value.is_null() => {}
            "service" => config.service = Some(read_service(value, at, reader)?),
            "caBundle" => config.ca_bundle = read_bytes(value, at, reader)?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(config)
}

fn read_bytes(value: &Value, at: &Location<'_>, reader: &Reader) -> Result<Vec<u8>> {
    let text = reader.text(value, at)?;
    base64::decode(&text)
        .map_err(|offset| ReadError::new(at, format!("illegal base64 data at input byte {offset}")))
}

fn read_service(value: &Value, at: &Location<'_>, reader: &mut Reader) -> Result<ServiceReference> {
    let mut service = ServiceReference::default();
    reader.record(value, at, |reader, name, value, at| {
        match name {
            "namespace" => service.namespace = reader.text(value, at)?,
            "name" => service.name = reader.text(value, at)?,
            "path" => service.path = reader.optional_text(value, at)?,
            "port" => service.port = reader.optional_int32(value, at)?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(service)
}

fn read_rule(value: &Value, at: &Location<'_>, reader: &mut Reader) -> Result<Rule> {
    let mut rule = Rule::default();
    reader.record(value, at, |reader, name, value, at| {
        match name {
            "operations" => rule.operations = reader.texts(value, at)?,
            "apiGroups" => rule.api_groups = reader.texts(value, at)?,
            "apiVersions" => rule.api_versions = reader.texts(value, at)?,
            "resources" => rule.resources = reader.texts(value, at)?,
            "scope" => rule.scope = reader.optional_text(value, at)?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(rule)
}

fn read_condition(value: &Value, at: &Location<'_>, reader: &mut Reader) -> Result<MatchCondition> {
    let mut condition = MatchCondition::default();
    reader.record(value, at, |reader, name, value, at| {
        match name {
            "name" => condition.name = reader.text(value, at)?,
            "expression" => condition.expression = reader.text(value, at)?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(condition)
}
