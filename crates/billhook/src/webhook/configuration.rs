//! Mutating- and ValidatingWebhookConfigurations as data (WCF-01 to WCF-08).

use std::fmt;

use billhook_apimachinery::KubernetesVersion;
use billhook_apimachinery::label_selector::LabelSelector;
use billhook_apimachinery::record;
use billhook_apimachinery::record::{Field, FieldValue, Record, Type, TypedRecord};
use billhook_apimachinery::value::DeepValue;
use billhook_definition::ClientConfig;
use serde::{Serialize, Serializer};
use serde_json::Value;

/// The API group of webhook configurations.
pub(crate) const GROUP: &str = "admissionregistration.k8s.io";

/// The two kinds of configurations (WCF-01).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConfigurationKind {
    /// `MutatingWebhookConfiguration`: the webhooks may change objects.
    Mutating,
    /// `ValidatingWebhookConfiguration`: the webhooks only allow or refuse.
    Validating,
}

impl ConfigurationKind {
    /// The name of the kind in documents.
    pub fn name(self) -> &'static str {
        match self {
            ConfigurationKind::Mutating => "MutatingWebhookConfiguration",
            ConfigurationKind::Validating => "ValidatingWebhookConfiguration",
        }
    }

    /// Returns the kind with a name.
    pub fn of(name: &str) -> Option<Self> {
        [ConfigurationKind::Mutating, ConfigurationKind::Validating]
            .into_iter()
            .find(|kind| kind.name() == name)
    }
}

impl fmt::Display for ConfigurationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The versions of configurations that can be read (WCF-02). Their fields are the same, their
/// defaults are not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ConfigurationVersion {
    /// `admissionregistration.k8s.io/v1`.
    #[default]
    V1,
    /// `admissionregistration.k8s.io/v1beta1`, which no server serves since Kubernetes 1.22.
    V1beta1,
}

impl ConfigurationVersion {
    /// The name of the version, e.g. `v1`.
    pub fn name(self) -> &'static str {
        match self {
            ConfigurationVersion::V1 => "v1",
            ConfigurationVersion::V1beta1 => "v1beta1",
        }
    }
}

/// A Mutating- or ValidatingWebhookConfiguration. Reading one sets the defaults of its version
/// (WCF-11, WCF-12) and keeps the order of all lists (WCF-08).
///
/// ```
/// use billhook::webhook::WebhookConfiguration;
/// let configuration = WebhookConfiguration::from_yaml("
/// apiVersion: admissionregistration.k8s.io/v1
/// kind: ValidatingWebhookConfiguration
/// metadata: {name: policy}
/// webhooks:
/// - name: pods.policy.example.com
///   clientConfig: {service: {namespace: policy, name: hook}}
///   rules:
///   - {operations: [CREATE], apiGroups: ['']  , apiVersions: [v1], resources: [pods]}
///   admissionReviewVersions: [v1]
///   sideEffects: none
/// ")?;
/// assert_eq!(configuration.webhooks[0].timeout_seconds, Some(10));
/// let errors = configuration.validate();
/// assert_eq!(errors[0].to_string(), "webhooks[0].sideEffects: Unsupported value: \"none\": \
///     supported values: \"None\", \"NoneOnDryRun\"");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WebhookConfiguration {
    /// Which kind it is.
    pub kind: ConfigurationKind,
    /// The version it was written in.
    pub version: ConfigurationVersion,
    /// `metadata`, in normal form.
    pub metadata: DeepValue,
    /// The webhooks, in the order they are called.
    pub webhooks: Vec<Webhook>,
    /// The version of the server that it is for; the newest by default.
    pub kubernetes: KubernetesVersion,
}

impl WebhookConfiguration {
    /// Returns the configuration for a server of another version. Versions differ in the texts of
    /// errors and in the metadata that they write (KV-01, KV-91).
    #[must_use]
    pub fn kubernetes(mut self, kubernetes: KubernetesVersion) -> Self {
        self.kubernetes = kubernetes;
        self
    }

    /// `metadata.name`.
    pub fn name(&self) -> &str {
        self.metadata.get("name").and_then(Value::as_str).unwrap_or_default()
    }
}

record! {
    /// One webhook of a configuration. What may be absent in a document is optional; after
    /// defaulting only `side_effects` and `admission_review_versions` of v1 can be (WCF-13).
    #[derive(Clone, Debug, Default, PartialEq)]
    #[non_exhaustive]
    pub struct Webhook = "MutatingWebhook" {
        /// The name, a domain with at least three parts.
        pub name: String = "name" [1] @required,
        /// Where it is.
        pub client_config: ClientConfig = "clientConfig" [2],
        /// The requests it is for; any of the rules suffices.
        pub rules: Vec<Rule> = "rules" [3],
        /// The effect of an error of a call: `Fail` or `Ignore`.
        pub failure_policy: Option<String> = "failurePolicy" [4] of "v1.FailurePolicyType",
        /// Whether other versions of the resources in the rules count: `Equivalent` or `Exact`.
        pub match_policy: Option<String> = "matchPolicy" [9] of "v1.MatchPolicyType",
        /// Which namespaces; absent without defaulting, it selects nothing (WM-61).
        pub namespace_selector: Option<LabelSelector> = "namespaceSelector" [5],
        /// Which objects; absent without defaulting, it selects nothing (WM-61).
        pub object_selector: Option<LabelSelector> = "objectSelector" [11],
        /// The effects of calls besides answering: `None` or `NoneOnDryRun`, formerly also `Some`
        /// and `Unknown`.
        pub side_effects: Option<String> = "sideEffects" [6] of "v1.SideEffectClass" @required,
        /// How long to wait for an answer.
        pub timeout_seconds: Option<i32> = "timeoutSeconds" [7],
        /// The versions of AdmissionReview that it understands, the preferred one first.
        pub admission_review_versions: Option<Vec<String>> = "admissionReviewVersions" [8] @required,
        /// Whether it is called again after other mutating webhooks: `Never` or `IfNeeded`; only
        /// of mutating webhooks.
        pub reinvocation_policy: Option<String> =
            "reinvocationPolicy" [10] of "v1.ReinvocationPolicyType",
        /// Conditions that must all hold.
        pub match_conditions: Vec<MatchCondition> = "matchConditions" [12] merge "name",
    }

    /// Which requests a webhook is for: all five dimensions must fit (WM-30).
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct Rule = "RuleWithOperations" {
        /// `CREATE`, `UPDATE`, `DELETE`, `CONNECT` or `*`.
        pub operations: Vec<String> = "operations" [1] of "[]v1.OperationType",
        /// API groups or `*`; the empty string is the core group.
        pub api_groups: Vec<String> = "apiGroups" [2 1] in "Rule",
        /// API versions or `*`.
        pub api_versions: Vec<String> = "apiVersions" [2 2] in "Rule",
        /// Resources: `pods`, `pods/status`, `pods/*`, `*`, `*/status` or `*/*`.
        pub resources: Vec<String> = "resources" [2 3] in "Rule",
        /// `Namespaced`, `Cluster` or `*`.
        pub scope: Option<String> = "scope" [2 4] in "Rule" of "v1.ScopeType",
    }

    /// Which requests a policy or a binding is for (PO-02, PO-26).
    #[derive(Clone, Debug, Default, PartialEq)]
    #[non_exhaustive]
    pub struct MatchResources = "MatchResources" @atomic {
        /// Which namespaces.
        pub namespace_selector: Option<LabelSelector> = "namespaceSelector" [1],
        /// Which objects.
        pub object_selector: Option<LabelSelector> = "objectSelector" [2],
        /// The requests it is for; any of the rules suffices.
        pub resource_rules: Vec<NamedRule> = "resourceRules" [3],
        /// The requests it is not for.
        pub exclude_resource_rules: Vec<NamedRule> = "excludeResourceRules" [4],
        /// Whether other versions of the resources in the rules count: `Equivalent` or `Exact`.
        pub match_policy: Option<String> = "matchPolicy" [7] of "v1.MatchPolicyType",
    }

    /// A condition on requests, in CEL.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct MatchCondition = "MatchCondition" {
        /// The name, for reports.
        pub name: String = "name" [1] @required,
        /// The expression.
        pub expression: String = "expression" [2] @required,
    }
}

/// A [`Rule`] that may be for objects of some names only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct NamedRule {
    /// The names of objects; all if empty.
    pub resource_names: Vec<String>,
    /// The rest of the rule.
    pub rule: Rule,
}

impl From<Rule> for NamedRule {
    fn from(rule: Rule) -> Self {
        NamedRule { resource_names: Vec::new(), rule }
    }
}

const RESOURCE_NAMES: &str = "resourceNames";

impl NamedRule {
    fn record() -> &'static Record {
        const NAMES: Field = Field::new(RESOURCE_NAMES, <Vec<String>>::TYPE).numbered(&[1]);
        // The rule is a message of its own, and in it another one.
        const INNER: &str = "RuleWithOperations.Rule";
        const FIELDS: &[Field] = match Rule::FIELDS {
            [operations, groups, versions, resources, scope] => &[
                NAMES,
                operations.numbered(&[2, 1]).embedded("RuleWithOperations"),
                groups.numbered(&[2, 2, 1]).embedded(INNER),
                versions.numbered(&[2, 2, 2]).embedded(INNER),
                resources.numbered(&[2, 2, 3]).embedded(INNER),
                scope.numbered(&[2, 2, 4]).embedded(INNER),
            ],
            _ => &[],
        };
        static RECORD: Record = Record::new("NamedRuleWithOperations", FIELDS).atomic();
        &RECORD
    }
}

impl FieldValue for NamedRule {
    const TYPE: Type = Type::Record(Self::record);

    fn of(value: &Value) -> Self {
        let names = value.get(RESOURCE_NAMES).unwrap_or(&Value::Null);
        NamedRule { resource_names: FieldValue::of(names), rule: Rule::of(value) }
    }

    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut members = self.rule.to_document();
        if let Value::Object(members) = &mut *members
            && !self.resource_names.is_empty()
        {
            members.insert(RESOURCE_NAMES.to_owned(), self.resource_names.clone().into());
        }
        members.serialize(to)
    }
}

impl MatchResources {
    /// Sets what is absent (PO-02).
    pub fn set_defaults(&mut self) {
        self.namespace_selector.get_or_insert_default();
        self.object_selector.get_or_insert_default();
        self.match_policy.get_or_insert_with(|| "Equivalent".to_owned());
        let rules = self.resource_rules.iter_mut().chain(&mut self.exclude_resource_rules);
        for named in rules {
            named.rule.scope.get_or_insert_with(|| "*".to_owned());
        }
    }
}

impl Webhook {
    /// Whether errors of a call are ignored; anything but `Ignore` means that they refuse the
    /// request.
    pub fn ignores_failures(&self) -> bool {
        self.failure_policy.as_deref() == Some("Ignore")
    }

    /// Whether requests to equivalent resources match too (WM-45).
    pub fn matches_equivalents(&self) -> bool {
        self.match_policy.as_deref() == Some("Equivalent")
    }
}
