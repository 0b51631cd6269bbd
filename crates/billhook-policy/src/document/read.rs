//! Reading policies and bindings from documents, and writing them.

use std::fmt;

use billhook::ManifestError;
use billhook_apimachinery::metadata::ObjectMeta;
use billhook_apimachinery::record::{Record, RecordError, TypedRecord};
use billhook_apimachinery::value::DeepValue;
use billhook_apimachinery::{KubernetesVersion, split_api_version};
use serde_json::Value;

use super::{
    GROUP, MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding, ParamKind, PolicyParts,
    ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding,
};

use crate::edition::EDITIONS;

/// The four kinds of policies and bindings (PO-01).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PolicyKind {
    /// `ValidatingAdmissionPolicy`
    Validating,
    /// `ValidatingAdmissionPolicyBinding`
    ValidatingBinding,
    /// `MutatingAdmissionPolicy`
    Mutating,
    /// `MutatingAdmissionPolicyBinding`
    MutatingBinding,
}

impl PolicyKind {
    /// All kinds.
    pub const ALL: [PolicyKind; 4] = [
        PolicyKind::Validating,
        PolicyKind::ValidatingBinding,
        PolicyKind::Mutating,
        PolicyKind::MutatingBinding,
    ];

    /// Returns the kind with a name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns the name of the kind in documents.
    pub fn name(self) -> &'static str {
        match self {
            PolicyKind::Validating => "ValidatingAdmissionPolicy",
            PolicyKind::ValidatingBinding => "ValidatingAdmissionPolicyBinding",
            PolicyKind::Mutating => "MutatingAdmissionPolicy",
            PolicyKind::MutatingBinding => "MutatingAdmissionPolicyBinding",
        }
    }

    /// Returns the name of the resource in URLs.
    pub fn resource(self) -> &'static str {
        match self {
            PolicyKind::Validating => "validatingadmissionpolicies",
            PolicyKind::ValidatingBinding => "validatingadmissionpolicybindings",
            PolicyKind::Mutating => "mutatingadmissionpolicies",
            PolicyKind::MutatingBinding => "mutatingadmissionpolicybindings",
        }
    }

    /// Returns the versions that a server has, the newest first; all have the same fields (PO-01).
    pub fn versions(self, kubernetes: KubernetesVersion) -> &'static [&'static str] {
        let edition = EDITIONS.of(kubernetes);
        match self {
            PolicyKind::Validating | PolicyKind::ValidatingBinding => edition.validating_versions,
            PolicyKind::Mutating | PolicyKind::MutatingBinding => edition.mutating_versions,
        }
    }
}

impl fmt::Display for PolicyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A document that cannot be read as a policy or a binding.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// The text is neither YAML nor JSON.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The text holds no document, or more than one.
    #[error("expected one admission policy or binding, found {0} documents")]
    Count(usize),
    /// The document is something else.
    #[error(
        "not an admission policy or binding of admissionregistration.k8s.io: apiVersion \
         `{api_version}`, kind `{kind}`"
    )]
    Kind {
        /// The `apiVersion` found.
        api_version: String,
        /// The `kind` found.
        kind: String,
    },
    /// No server has the kind in this version.
    #[error("a {kind} of `{GROUP}/{version}` cannot be read: no server has it")]
    Version {
        /// The kind.
        kind: PolicyKind,
        /// The version found.
        version: String,
    },
    /// A field has the wrong type.
    #[error(transparent)]
    Field(#[from] RecordError),
}

/// The version of a document of the API group of policies.
fn version_of(value: &Value) -> Option<&str> {
    let (group, version) = split_api_version(value.get("apiVersion")?.as_str()?);
    (group == GROUP).then_some(version)
}

/// A policy or a binding.
///
/// ```
/// use billhook_policy::{PolicyDocument, PolicyKind};
/// let document = PolicyDocument::from_yaml("
/// apiVersion: admissionregistration.k8s.io/v1
/// kind: ValidatingAdmissionPolicy
/// metadata: {name: size}
/// spec:
///   matchConstraints:
///     resourceRules:
///     - {operations: [CREATE], apiGroups: [example.com], apiVersions: [v1], resources: [widgets]}
///   validations:
///   - expression: object.spec.size < 5
///     reason: Teapot
/// ")?;
/// assert_eq!(document.kind(), PolicyKind::Validating);
/// let errors = document.validate();
/// assert_eq!(errors[0].to_string(), "spec.validations[0].reason: Unsupported value: \"Teapot\": \
///     supported values: \"Forbidden\", \"Invalid\", \"RequestEntityTooLarge\"");
/// # Ok::<(), billhook_policy::PolicyError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum PolicyDocument {
    /// A ValidatingAdmissionPolicy.
    Validating(ValidatingAdmissionPolicy),
    /// A ValidatingAdmissionPolicyBinding.
    ValidatingBinding(ValidatingAdmissionPolicyBinding),
    /// A MutatingAdmissionPolicy.
    Mutating(MutatingAdmissionPolicy),
    /// A MutatingAdmissionPolicyBinding.
    MutatingBinding(MutatingAdmissionPolicyBinding),
}

impl PolicyKind {
    /// Returns the fields that documents of the kind have.
    pub fn record(self) -> &'static Record {
        match self {
            PolicyKind::Validating => ValidatingAdmissionPolicy::record(),
            PolicyKind::ValidatingBinding => ValidatingAdmissionPolicyBinding::record(),
            PolicyKind::Mutating => MutatingAdmissionPolicy::record(),
            PolicyKind::MutatingBinding => MutatingAdmissionPolicyBinding::record(),
        }
    }
}

impl PolicyDocument {
    /// Reads a policy or a binding and sets its defaults (PO-02). Fields that are not known are
    /// ignored.
    ///
    /// # Errors
    ///
    /// If the document is something else, or a field has the wrong type.
    pub fn from_value(value: &Value) -> Result<Self, PolicyError> {
        Self::from_value_reporting(value).map(|(document, _)| document)
    }

    /// [`PolicyDocument::from_value`] with the unknown fields listed, as strict field validation
    /// does: `unknown field "spec.rule"`.
    ///
    /// # Errors
    ///
    /// If the document is something else, or a field has the wrong type.
    pub fn from_value_reporting(value: &Value) -> Result<(Self, Vec<String>), PolicyError> {
        let Some(kind) = Self::kind_of(value) else {
            let text = |name| value.get(name).and_then(Value::as_str).unwrap_or_default();
            let (api_version, kind) = (text("apiVersion").to_owned(), text("kind").to_owned());
            return Err(PolicyError::Kind { api_version, kind });
        };
        let version = version_of(value).unwrap_or_default();
        if !kind.versions(KubernetesVersion::default()).contains(&version) {
            return Err(PolicyError::Version { kind, version: version.to_owned() });
        }
        let (mut document, unknown) = Self::read(kind, value)?;
        document.set_defaults();
        Ok((document, unknown))
    }

    fn read(kind: PolicyKind, value: &Value) -> Result<(Self, Vec<String>), RecordError> {
        fn read<T: TypedRecord>(
            value: &Value,
            document: impl Fn(T) -> PolicyDocument,
        ) -> Result<(PolicyDocument, Vec<String>), RecordError> {
            T::read(value).map(|(record, unknown)| (document(record), unknown))
        }
        match kind {
            PolicyKind::Validating => read(value, PolicyDocument::Validating),
            PolicyKind::ValidatingBinding => read(value, PolicyDocument::ValidatingBinding),
            PolicyKind::Mutating => read(value, PolicyDocument::Mutating),
            PolicyKind::MutatingBinding => read(value, PolicyDocument::MutatingBinding),
        }
    }

    /// Sets what is absent (PO-02); all versions have the same fields, so that what is read is v1.
    fn set_defaults(&mut self) {
        let (api_version, failure_policy, resources) = match self {
            PolicyDocument::Validating(ValidatingAdmissionPolicy { api_version, spec, .. }) => {
                (api_version, Some(&mut spec.failure_policy), &mut spec.match_constraints)
            }
            PolicyDocument::Mutating(MutatingAdmissionPolicy { api_version, spec, .. }) => {
                (api_version, Some(&mut spec.failure_policy), &mut spec.match_constraints)
            }
            PolicyDocument::ValidatingBinding(binding) => {
                (&mut binding.api_version, None, &mut binding.spec.match_resources)
            }
            PolicyDocument::MutatingBinding(binding) => {
                (&mut binding.api_version, None, &mut binding.spec.match_resources)
            }
        };
        *api_version = format!("{GROUP}/v1");
        if let Some(failure_policy) = failure_policy {
            failure_policy.get_or_insert_with(|| "Fail".to_owned());
        }
        if let Some(resources) = resources {
            resources.set_defaults();
        }
    }

    /// Reads a policy or a binding from YAML or JSON text that holds nothing else.
    ///
    /// # Errors
    ///
    /// If the text holds something else, or a field has the wrong type.
    pub fn from_yaml(text: &str) -> Result<Self, PolicyError> {
        match billhook::read_manifests(text.as_bytes())?.as_slice() {
            [manifest] => Self::from_value(manifest.value()),
            other => Err(PolicyError::Count(other.len())),
        }
    }

    /// Returns the kind that a document says it is, of any version; none if it is not a policy
    /// or a binding.
    pub fn kind_of(value: &Value) -> Option<PolicyKind> {
        version_of(value)?;
        PolicyKind::of(value.get("kind")?.as_str()?)
    }

    /// Returns its kind.
    pub fn kind(&self) -> PolicyKind {
        match self {
            PolicyDocument::Validating(_) => PolicyKind::Validating,
            PolicyDocument::ValidatingBinding(_) => PolicyKind::ValidatingBinding,
            PolicyDocument::Mutating(_) => PolicyKind::Mutating,
            PolicyDocument::MutatingBinding(_) => PolicyKind::MutatingBinding,
        }
    }

    /// Returns its metadata.
    pub fn metadata(&self) -> &ObjectMeta {
        match self {
            PolicyDocument::Validating(policy) => &policy.metadata,
            PolicyDocument::ValidatingBinding(binding) => &binding.metadata,
            PolicyDocument::Mutating(policy) => &policy.metadata,
            PolicyDocument::MutatingBinding(binding) => &binding.metadata,
        }
    }

    /// Returns `metadata.name`.
    pub fn name(&self) -> &str {
        &self.metadata().name
    }

    /// Returns the kind of the parameters of a policy, if it has any.
    pub fn param_kind(&self) -> Option<&ParamKind> {
        self.parts()?.param_kind
    }

    /// Returns the fields that both kinds of policies have; none for a binding.
    pub(crate) fn parts(&self) -> Option<PolicyParts<'_>> {
        match self {
            PolicyDocument::Validating(policy) => Some(policy.spec.parts()),
            PolicyDocument::Mutating(policy) => Some(policy.spec.parts()),
            PolicyDocument::ValidatingBinding(_) | PolicyDocument::MutatingBinding(_) => None,
        }
    }

    /// Returns the document as v1, with its defaults.
    pub fn to_value(&self) -> DeepValue {
        let mut document = match self {
            PolicyDocument::Validating(policy) => policy.to_document(),
            PolicyDocument::ValidatingBinding(binding) => binding.to_document(),
            PolicyDocument::Mutating(policy) => policy.to_document(),
            PolicyDocument::MutatingBinding(binding) => binding.to_document(),
        };
        if let Some(members) = document.as_object_mut() {
            members.insert("apiVersion".to_owned(), format!("{GROUP}/v1").into());
            members.insert("kind".to_owned(), self.kind().name().into());
        }
        document
    }
}
