//! Advice about one configuration on its own.

use billhook_apimachinery::FieldPath;
use billhook_apimachinery::label_selector::LabelSelector;
use billhook_apimachinery::net::Url;
use billhook_apimachinery::{GroupVersionKind, GroupVersionResource};
use billhook_definition::ca_bundle::certificates;

use super::{Lint, LintCode};
use crate::webhook::attributes::{AdmissionAttributes, Operation};
use crate::webhook::configuration::{
    ConfigurationKind, GROUP, Rule, Webhook, WebhookConfiguration,
};
use crate::webhook::exempt::is_exempt_resource;
use crate::webhook::namespaces::NamespaceLabels;
use crate::webhook::rule::CompiledRule;

/// The label that every namespace has, with its name.
const NAME_LABEL: &str = "kubernetes.io/metadata.name";

/// Resources without which nothing starts, with a group and version that is served.
const VITAL: [(&str, &str, &str); 8] = [
    ("", "v1", "pods"),
    ("apps", "v1", "replicasets"),
    ("apps", "v1", "deployments"),
    ("apps", "v1", "daemonsets"),
    ("", "v1", "services"),
    ("", "v1", "endpoints"),
    ("discovery.k8s.io", "v1", "endpointslices"),
    ("coordination.k8s.io", "v1", "leases"),
];

impl WebhookConfiguration {
    /// Advice about the configuration, in the order of its fields.
    pub fn lints(&self) -> Vec<Lint> {
        let mut lints = Vec::new();
        if self.name().ends_with(".static.k8s.io") {
            let field = FieldPath::default().name("metadata").name("name");
            let message = "this name is reserved".to_owned();
            lints.push(self.lint(LintCode::ReservedName, field, message));
        }
        for (index, webhook) in self.webhooks.iter().enumerate() {
            let path = FieldPath::default().name("webhooks").index(index);
            let mut push = |code, field: &[&str], message: String| {
                let field = field.iter().fold(path.clone(), |path, name| path.name(*name));
                lints.push(self.lint(code, field, message));
            };
            check(self.kind, webhook, &mut push);
            for (number, rule) in webhook.rules.iter().enumerate() {
                let path = path.clone().name("rules").index(number);
                let mut push = |code, field: FieldPath, message| {
                    lints.push(self.lint(code, field, message));
                };
                check_rule(webhook, rule, &path, &mut push);
            }
        }
        lints
    }

    pub(super) fn lint(&self, code: LintCode, field: FieldPath, message: String) -> Lint {
        Lint { code, configuration: self.name().to_owned(), kind: self.kind, field, message }
    }
}

type Push<'p> = &'p mut dyn FnMut(LintCode, &[&str], String);

fn check(kind: ConfigurationKind, webhook: &Webhook, push: Push<'_>) {
    if webhook.rules.is_empty() {
        push(LintCode::NoRules, &["rules"], "there are no rules".to_owned());
    }
    check_client(webhook, push);
    check_namespaces(webhook, push);
    if kind == ConfigurationKind::Validating && selects_objects(webhook) {
        let message = "objects choose by their labels whether they are checked".to_owned();
        push(LintCode::ObjectSelectorOptOut, &["objectSelector"], message);
    }
    if let Some(seconds) = webhook.timeout_seconds.filter(|seconds| *seconds > 10) {
        let message = format!("a call may take {seconds} seconds");
        push(LintCode::LongTimeout, &["timeoutSeconds"], message);
    }
    if webhook.side_effects.as_deref() == Some("NoneOnDryRun") {
        let message = "the webhook has side effects".to_owned();
        push(LintCode::SideEffects, &["sideEffects"], message);
    }
    if webhook.reinvocation_policy.as_deref() == Some("IfNeeded") {
        let message = "the webhook may be called again for the same request".to_owned();
        push(LintCode::Reinvocation, &["reinvocationPolicy"], message);
    }
    if let Some([version]) = webhook.admission_review_versions.as_deref() {
        let message = format!("`{version}` is the only version");
        push(LintCode::SingleReviewVersion, &["admissionReviewVersions"], message);
    }
    if webhook.matches_equivalents() {
        for condition in &webhook.match_conditions {
            if mentions_resource(&condition.expression) {
                let message = format!("condition `{}` looks at `request.resource`", condition.name);
                push(LintCode::ConditionOnResource, &["matchConditions"], message);
            }
        }
    }
}

fn selects_objects(webhook: &Webhook) -> bool {
    webhook.object_selector.as_ref().is_some_and(|selector| !selector.is_empty())
}

/// WCF-L8, WCF-72.
fn check_client(webhook: &Webhook, push: Push<'_>) {
    let config = &webhook.client_config;
    if let Some(host) = config.url.as_deref().and_then(host)
        && is_local(&host)
    {
        let message = format!("`{host}` means something else to every API server, or nothing");
        push(LintCode::LocalUrl, &["clientConfig", "url"], message);
    }
    let bundle = &config.ca_bundle;
    if !bundle.is_empty() && certificates(bundle).is_err() {
        let message = "there is no certificate in it".to_owned();
        push(LintCode::CaBundle, &["clientConfig", "caBundle"], message);
    }
}

/// The host of a URL without its port.
fn host(url: &str) -> Option<String> {
    Url::parse(url).ok().map(|url| url.host_and_port().0.to_owned())
}

fn is_local(host: &str) -> bool {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let is_loopback = host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    let ends = [".localhost", ".svc", ".cluster.local"];
    is_loopback || host == "localhost" || ends.iter().any(|end| host.ends_with(end))
}

/// WCF-L3; only where neither labels of objects nor conditions may make an exception.
fn check_namespaces(webhook: &Webhook, push: Push<'_>) {
    let mut conditions = webhook.match_conditions.iter();
    let has_exceptions = selects_objects(webhook)
        || conditions.any(|condition| condition.expression.contains("namespace"));
    if webhook.ignores_failures() || has_exceptions {
        return;
    }
    let own = webhook.client_config.service.as_ref().map(|service| service.namespace.as_str());
    let own = own.filter(|namespace| !namespace.is_empty() && *namespace != "kube-system");
    let namespaces = [(LintCode::OwnNamespace, own), (LintCode::KubeSystem, Some("kube-system"))];
    for (code, namespace) in namespaces {
        let Some(namespace) = namespace else { continue };
        if !certainly_selects(webhook.namespace_selector.as_ref(), namespace) {
            continue;
        }
        if let Some(resource) = vital_resource(webhook, namespace) {
            let whose =
                if code == LintCode::OwnNamespace { "its own namespace" } else { "namespace" };
            let message =
                format!("`{resource}` in {whose} `{namespace}` need the webhook's consent");
            push(code, &["namespaceSelector"], message);
        }
    }
}

/// Whether a selector selects a namespace of which nothing but the name is known.
fn certainly_selects(selector: Option<&LabelSelector>, namespace: &str) -> bool {
    let Some(Ok(selector)) = selector.map(LabelSelector::parse) else { return false };
    let labels = NamespaceLabels::from([(NAME_LABEL.to_owned(), namespace.to_owned())]);
    let mut keys = selector.requirements().iter().map(|requirement| requirement.key());
    keys.all(|key| key == NAME_LABEL) && selector.matches(&labels)
}

/// The first of the vital resources that the webhook is for.
fn vital_resource(webhook: &Webhook, namespace: &str) -> Option<&'static str> {
    let rules: Vec<_> = webhook.rules.iter().map(CompiledRule::new).collect();
    let is_covered = |group: &str, version: &str, resource: &str| {
        [Operation::Create, Operation::Update].into_iter().any(|operation| {
            let resource = GroupVersionResource::new(group, version, resource);
            let mut request = AdmissionAttributes::create(
                GroupVersionKind::default(),
                resource.clone(),
                serde_json::Value::Null,
            )
            .namespace(namespace);
            request.operation = operation;
            rules.iter().any(|rule| rule.mismatch(&request, &resource).is_none())
        })
    };
    let mut vital = VITAL.into_iter();
    vital
        .find(|(group, version, resource)| is_covered(group, version, resource))
        .map(|found| found.2)
}

/// Whether an expression looks at `request.resource`, and not at `request.resourceX`.
fn mentions_resource(expression: &str) -> bool {
    expression.match_indices("request.resource").any(|(at, found)| {
        let after = expression.get(at + found.len()..).and_then(|rest| rest.chars().next());
        let before = expression.get(..at).and_then(|before| before.chars().next_back());
        let continues = |c: char| c.is_ascii_alphanumeric() || c == '_';
        !after.is_some_and(continues) && !before.is_some_and(|c| continues(c) || c == '.')
    })
}

fn check_rule(
    webhook: &Webhook,
    rule: &Rule,
    path: &FieldPath,
    push: &mut dyn FnMut(LintCode, FieldPath, String),
) {
    let versions = &rule.api_versions;
    let is_any = versions.iter().any(|version| version == "*");
    let listed = || versions.iter().map(|version| format!("`{version}`")).collect::<Vec<_>>();
    if !webhook.matches_equivalents() && !is_any && !versions.is_empty() {
        let message = format!("only {} match, no other version does", listed().join(", "));
        push(LintCode::ExactMatchPolicy, path.clone().name("apiVersions"), message);
    }
    if !versions.is_empty() && versions.iter().all(|version| is_unstable(version)) {
        let message = format!("{} may be served no longer some day", listed().join(", "));
        push(LintCode::UnstableVersion, path.clone().name("apiVersions"), message);
    }
    for (index, resource) in rule.resources.iter().enumerate() {
        let field = path.clone().name("resources").index(index);
        let is_listed = |name: &str| rule.resources.iter().any(|it| it == name || it == "*");
        if let Some((name, "*")) = resource.split_once('/')
            && name != "*"
            && !is_listed(name)
        {
            let message = format!("`{resource}` matches `{name}` too");
            push(LintCode::SubresourceWildcard, field, message);
        } else if rule.api_groups.iter().all(|group| group == GROUP)
            && resource.split('/').next().is_some_and(is_exempt_resource)
        {
            let message = format!("no webhook is called for `{resource}`");
            push(LintCode::ExemptKind, field, message);
        }
    }
}

/// Whether a version is an alpha or a beta.
fn is_unstable(version: &str) -> bool {
    let Some(rest) = version.strip_prefix('v') else { return false };
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.starts_with("alpha") || rest.starts_with("beta")
}
