//! The kinds of documents that can be checked.

use billhook::webhook::{
    ConfigurationError, ConfigurationKind, ValidationOptions, WebhookConfiguration,
};
use billhook::{
    CustomResourceDefinition, Definition, DefinitionError, DefinitionValidation, FieldError,
    KubernetesVersion, RuleCost, Status as Answer,
};
use billhook_apimachinery::split_api_version;
use billhook_policy::{PolicyDocument, PolicyError, PolicyKind};
use serde_json::Value;

use super::roles::{self, Role};
use crate::advice::Advice;
use crate::crds::list;
use crate::input::Document;
use crate::problem::Problem;

/// The findings of a server in a document.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) errors: Vec<FieldError>,
    pub(super) warnings: Vec<String>,
    /// The server's answer to a document that it refuses.
    pub(super) answer: Option<Answer>,
    /// Advice: a server accepts this, although it is likely to be wrong.
    pub(super) lints: Vec<Advice>,
    /// The costs of the rules of a definition, estimated.
    pub(super) rule_costs: Vec<RuleCost>,
}

/// A document of a kind that can be checked.
#[derive(Debug)]
pub(super) enum Subject {
    Definition(Box<Definition>),
    Webhooks(Box<WebhookConfiguration>),
    Policy(Box<PolicyDocument>),
    Role(Box<Role>),
}

impl Subject {
    /// Whether documents of this kind can be checked.
    pub(super) fn is_known(value: &Value) -> bool {
        CustomResourceDefinition::is_definition(value)
            || has_webhooks(value)
            || PolicyDocument::kind_of(value).is_some()
            || roles::kind_of(value).is_some()
    }

    /// Reads a document for a version of the server; also gives the fields that its kind does not
    /// have.
    pub(super) fn read(
        document: &Document,
        kubernetes: KubernetesVersion,
    ) -> Result<(Self, Vec<String>), Box<Problem>> {
        if has_webhooks(&document.value) {
            let read = WebhookConfiguration::from_value_reporting(&document.value);
            let (configuration, unknown) = read.map_err(|error| match error {
                ConfigurationError::Kind { .. } => unknown_version(document),
                error => unreadable(document, &error.to_string()),
            })?;
            let configuration = configuration.kubernetes(kubernetes);
            return Ok((Subject::Webhooks(Box::new(configuration)), unknown));
        }
        if PolicyDocument::kind_of(&document.value).is_some() {
            let read = PolicyDocument::from_value_reporting(&document.value);
            let (policy, unknown) = read.map_err(|error| match error {
                PolicyError::Kind { .. } | PolicyError::Version { .. } => unknown_version(document),
                error => unreadable(document, &error.to_string()),
            })?;
            if let Some(problem) = missing_version(document, policy.kind(), kubernetes) {
                return Err(problem);
            }
            return Ok((Subject::Policy(Box::new(policy)), unknown));
        }
        if let Some(kind) = roles::kind_of(&document.value) {
            let read = Role::read(kind, &document.value, kubernetes);
            let (role, unknown) = read.map_err(|error| unreadable(document, &error))?;
            return Ok((Subject::Role(Box::new(role)), unknown));
        }
        let read = Definition::new(document.value.clone(), kubernetes);
        let manifest = read.or_else(|error| match &document.body {
            // The text knows which of several errors is the first.
            Some(text) if text.bytes().starts_with(b"{") => {
                Definition::from_json(text.bytes(), kubernetes)
            }
            _ => Err(error),
        });
        let manifest = manifest.map_err(|error| match error {
            DefinitionError::Kind => unknown_version(document),
            error => unreadable(document, &error.to_string()),
        })?;
        let unknown = manifest.unknown_fields().to_vec();
        Ok((Subject::Definition(Box::new(manifest)), unknown))
    }

    pub(super) fn create(&self, kubernetes: KubernetesVersion) -> Findings {
        match self {
            Subject::Definition(manifest) => manifest.validate_create().into(),
            Subject::Webhooks(new) => findings(new, &ValidationOptions::default()),
            Subject::Policy(new) => policy_findings(new, None, kubernetes),
            Subject::Role(role) => {
                let errors = role.errors(kubernetes);
                let answer = (!errors.is_empty()).then(|| role.refusal(&errors));
                Findings { errors, answer, ..Findings::default() }
            }
        }
    }

    /// The findings of a server when this replaces `old`.
    pub(super) fn update(&self, old: &Subject, kubernetes: KubernetesVersion) -> Findings {
        match (self, old) {
            (Subject::Definition(manifest), Subject::Definition(old)) => {
                manifest.validate_update(old).into()
            }
            (Subject::Webhooks(new), Subject::Webhooks(old)) => {
                findings(new, &ValidationOptions::default().stored(old))
            }
            (Subject::Policy(new), Subject::Policy(old)) => {
                policy_findings(new, Some(old), kubernetes)
            }
            // Found by their kinds, both are of the same one.
            (
                Subject::Definition(_)
                | Subject::Webhooks(_)
                | Subject::Policy(_)
                | Subject::Role(_),
                _,
            ) => self.create(kubernetes),
        }
    }
}

/// Whether a document says that it is a webhook configuration, of any version.
fn has_webhooks(value: &Value) -> bool {
    let text = |name| value.get(name).and_then(Value::as_str).unwrap_or_default();
    text("apiVersion").starts_with("admissionregistration.k8s.io/")
        && ConfigurationKind::of(text("kind")).is_some()
}

fn policy_findings(
    policy: &PolicyDocument,
    stored: Option<&PolicyDocument>,
    kubernetes: KubernetesVersion,
) -> Findings {
    let errors = policy.validate_for(kubernetes, stored);
    let is_refused = !errors.is_empty();
    Findings {
        answer: is_refused.then(|| policy.refusal(&errors)),
        errors,
        warnings: policy.warnings_for(kubernetes),
        ..Findings::default()
    }
}

fn findings(configuration: &WebhookConfiguration, options: &ValidationOptions<'_>) -> Findings {
    let check = configuration.check(options);
    let is_refused = !check.errors.is_empty();
    Findings {
        answer: is_refused.then(|| configuration.refusal(&check.errors)),
        errors: check.errors,
        warnings: check.warnings,
        lints: check.lints.iter().map(Advice::from).collect(),
        ..Findings::default()
    }
}

impl From<DefinitionValidation> for Findings {
    fn from(validation: DefinitionValidation) -> Self {
        Findings {
            errors: validation.errors().to_vec(),
            warnings: validation.warnings().to_vec(),
            answer: validation.status(),
            lints: Vec::new(),
            rule_costs: validation.rule_costs().to_vec(),
        }
    }
}

/// A document that a server refuses before it looks at what it says.
pub(super) fn unreadable(document: &Document, error: &str) -> Box<Problem> {
    let text = |name| document.value.get(name).and_then(Value::as_str).unwrap_or_default();
    let (kind, api_version) = (text("kind"), text("apiVersion"));
    let version = api_version.rsplit_once('/').map_or(api_version, |(_, version)| version);
    let message = format!("{kind} in version \"{version}\" cannot be handled as a {kind}: {error}");
    Problem::answered(document.place.clone(), Answer::bad_request(message))
}

/// A document of a version that no server has had.
fn unknown_version(document: &Document) -> Box<Problem> {
    let text = |name| document.value.get(name).and_then(Value::as_str).unwrap_or_default();
    let message = format!("a {} of `{}` cannot be checked", text("kind"), text("apiVersion"));
    let help = match PolicyDocument::kind_of(&document.value) {
        Some(kind) => known_versions(kind.versions(KubernetesVersion::default())),
        None if has_webhooks(&document.value) => known_versions(&["v1", "v1beta1"]),
        None => "the only version that servers have is `apiextensions.k8s.io/v1`".to_owned(),
    };
    Problem::unusable(document.place.clone(), message).help(help)
}

fn known_versions(versions: &[&str]) -> String {
    format!("the versions that are known: {}", list(versions))
}

/// A policy or a binding of a version that the server does not have yet.
fn missing_version(
    document: &Document,
    kind: PolicyKind,
    kubernetes: KubernetesVersion,
) -> Option<Box<Problem>> {
    let api_version = document.value.get("apiVersion").and_then(Value::as_str)?;
    let versions = kind.versions(kubernetes);
    if versions.contains(&split_api_version(api_version).1) {
        return None;
    }
    let message = format!("Kubernetes {kubernetes} has no {kind} of `{api_version}`");
    let help = format!("the versions that it has: {}", list(versions));
    Some(Problem::unusable(document.place.clone(), message).help(help))
}
