//! Validation of configurations with the server's errors, in the server's order (WCF-20 to
//! WCF-95).

mod options;
mod rules;

use std::collections::BTreeSet;

use billhook_apimachinery::metadata::validate_create;
use billhook_apimachinery::names::{
    dns1035_label, dns1123_subdomain, path_segment, qualified_name,
};
use billhook_apimachinery::print::{compact_json, quote};
use billhook_apimachinery::{ErrorType, FieldError, FieldPath, KubernetesVersion};
use serde_json::Value;

pub use options::{ExpressionChecker, ExpressionError, ValidationOptions};

use super::condition_program::compile;
use super::configuration::{
    ConfigurationKind, MatchCondition, MatchResources, Webhook, WebhookConfiguration,
};
use crate::edition::EDITIONS;
use billhook_apimachinery::label_selector::push_invalid;
use billhook_apimachinery::metadata::validate_applied;
use billhook_cel::Libraries;
use billhook_definition::validate_client_config;
use options::Tolerance;

/// The classes of side effects that are accepted today (WCF-49).
const STRICT_SIDE_EFFECTS: [&str; 2] = ["None", "NoneOnDryRun"];
/// Those that were accepted once (WCF-15).
const ALL_SIDE_EFFECTS: [&str; 4] = ["None", "NoneOnDryRun", "Some", "Unknown"];
/// The versions of AdmissionReview that are known (WCF-83).
const RECOGNIZED_VERSIONS: [&str; 2] = ["v1", "v1beta1"];
/// How many conditions one webhook may have (WCF-73).
const MAX_CONDITIONS: usize = 64;

impl WebhookConfiguration {
    /// Returns the errors of a server when the configuration is created. Expressions are only
    /// checked not to be empty; see [`ValidationOptions::expressions`].
    pub fn validate(&self) -> Vec<FieldError> {
        self.validate_with(&ValidationOptions::default())
    }

    /// [`WebhookConfiguration::validate`] with options.
    pub fn validate_with(&self, options: &ValidationOptions<'_>) -> Vec<FieldError> {
        let wording = self.kubernetes.wording();
        let mut errors = validate_configuration_metadata(&self.metadata, self.kubernetes);
        if let Some(stored) = options.stored {
            errors.extend(validate_applied(&self.metadata, &stored.metadata, wording));
        }
        let tolerance = Tolerance::new(self, options);
        let mut names = BTreeSet::new();
        for (index, webhook) in self.webhooks.iter().enumerate() {
            let path = FieldPath::default().name("webhooks").index(index);
            let mut validation = Validation {
                webhook,
                path: &path,
                tolerance: &tolerance,
                kubernetes: self.kubernetes,
                errors: &mut errors,
            };
            validation.run(self.kind);
            let name = webhook.name.as_str();
            if !tolerance.repeated_names && !name.is_empty() && !names.insert(name) {
                errors.push(FieldError::duplicate(path.name("name"), name));
            }
        }
        errors.into_iter().map(|error| error.worded(wording)).collect()
    }
}

/// Returns the errors in the metadata of a configuration or a policy. A server makes a name from
/// `generateName` before it validates (WCF-27).
pub fn validate_configuration_metadata(
    metadata: &Value,
    kubernetes: KubernetesVersion,
) -> Vec<FieldError> {
    let mut errors = validate_create(metadata, false, kubernetes.wording());
    let prefix = metadata.get("generateName").and_then(Value::as_str);
    if prefix.is_some_and(|prefix| !prefix.is_empty()) {
        let name = FieldPath::default().name("metadata").name("name");
        errors.retain(|it| it.error_type() != ErrorType::Required || *it.field() != name);
    }
    errors
}

/// The end of names that are reserved for files of the server (WCF-97, PO-16).
const RESERVED_END: &str = ".static.k8s.io";

/// Returns what a server warns of when it stores a configuration or a policy of a name, if that is a
/// reserved one (WCF-97, PO-16, KV-95).
pub fn reserved_name_warning(name: &str, kubernetes: KubernetesVersion) -> Option<String> {
    let is_reserved = name.ends_with(RESERVED_END) && EDITIONS.of(kubernetes).reserves_names;
    is_reserved.then(|| {
        format!(
            "metadata.name: names ending with \"{RESERVED_END}\" are reserved for static \
             manifest-based configurations and cannot be managed via the API"
        )
    })
}

/// Returns the error of a value outside a fixed list; it is shown as JSON (WCF-22).
pub fn not_supported(path: FieldPath, value: &str, supported: &[&str]) -> FieldError {
    FieldError::not_supported(path, value, supported.iter().copied())
        .show_value_as(compact_json(&value.into()))
        .show_value_in_go_as(quote(value))
}

/// Returns the error of an expression that cannot be compiled. That a program cannot be made of one
/// that compiles counts as a failure of the server (WCF-74).
pub fn expression_error(path: FieldPath, expression: &str, detail: &str) -> FieldError {
    match detail.starts_with("program instantiation failed: ") {
        true => FieldError::internal(path, detail),
        false => FieldError::invalid(path, expression, detail),
    }
}

/// Returns the errors of a list of match conditions (WCF-73 to WCF-75). `check` compiles an
/// expression, as it is written and trimmed.
pub fn validate_conditions(
    conditions: &[MatchCondition],
    path: &FieldPath,
    kubernetes: KubernetesVersion,
    check: &dyn Fn(&str, &str) -> Result<(), ExpressionError>,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if conditions.len() > MAX_CONDITIONS {
        let max = MAX_CONDITIONS as i64;
        errors.push(FieldError::too_many(path.clone(), conditions.len(), max));
    }
    let mut names = BTreeSet::new();
    for (index, condition) in conditions.iter().enumerate() {
        let path = path.clone().index(index);
        let expression = path.clone().name("expression");
        match condition.expression.trim() {
            "" => errors.push(FieldError::required(expression, "")),
            trimmed => {
                if let Err(error) = check(&condition.expression, trimmed) {
                    errors.push(expression_error(expression, trimmed, &error.to_string()));
                }
            }
        }
        let (path, name) = (path.name("name"), condition.name.as_str());
        if name.is_empty() {
            errors.push(FieldError::required(path, ""));
            continue;
        }
        let messages = qualified_name(name, kubernetes.wording());
        push_invalid(&mut errors, &path, name, &messages);
        if !names.insert(name) {
            errors.push(FieldError::duplicate(path, name));
        }
    }
    errors
}

impl MatchCondition {
    /// Compiles a condition of a policy (PO-42).
    ///
    /// # Errors
    ///
    /// If it cannot be compiled or is not a condition (WCF-74).
    pub fn check_for_policy(
        expression: &str,
        kubernetes: KubernetesVersion,
        libraries: Libraries,
        has_params: bool,
    ) -> Result<(), ExpressionError> {
        compile(expression, kubernetes, libraries, has_params)?;
        Ok(())
    }
}

impl MatchResources {
    /// Returns the errors of a server (PO-10, PO-14), but that of a list of rules that must not be
    /// empty.
    pub fn validate(&self, path: &FieldPath) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let at = |name: &str| path.clone().name(name);
        match self.match_policy.as_deref() {
            None => errors.push(FieldError::required(at("matchPolicy"), "")),
            Some("Equivalent" | "Exact") => {}
            Some(other) => {
                let supported = ["Equivalent", "Exact"];
                errors.push(not_supported(at("matchPolicy"), other, &supported));
            }
        }
        for (name, selector) in [
            ("namespaceSelector", &self.namespace_selector),
            ("objectSelector", &self.object_selector),
        ] {
            match selector {
                None => errors.push(FieldError::required(at(name), "")),
                Some(selector) => errors.extend(selector.validate(&at(name))),
            }
        }
        for (name, list) in [
            ("resourceRules", &self.resource_rules),
            ("excludeResourceRules", &self.exclude_resource_rules),
        ] {
            for (index, named) in list.iter().enumerate() {
                let path = at(name).index(index);
                resource_names(
                    &named.resource_names,
                    &path.clone().name("resourceNames"),
                    &mut errors,
                );
                rules::validate(&named.rule, &path, &mut errors);
            }
        }
        errors
    }
}

fn resource_names(names: &[String], path: &FieldPath, errors: &mut Vec<FieldError>) {
    let mut seen = BTreeSet::new();
    for (index, name) in names.iter().enumerate() {
        let path = path.clone().index(index);
        for problem in path_segment(name, false) {
            errors.push(FieldError::invalid(path.clone(), name.as_str(), &problem));
        }
        if !seen.insert(name) {
            errors.push(FieldError::duplicate(path, name.as_str()));
        }
    }
}

/// The validation of one webhook.
struct Validation<'v> {
    webhook: &'v Webhook,
    path: &'v FieldPath,
    tolerance: &'v Tolerance<'v>,
    kubernetes: KubernetesVersion,
    errors: &'v mut Vec<FieldError>,
}

impl Validation<'_> {
    /// All checks, in the server's order (WCF-26).
    fn run(&mut self, kind: ConfigurationKind) {
        let webhook = self.webhook;
        self.name();
        for (index, rule) in webhook.rules.iter().enumerate() {
            rules::validate(rule, &self.at("rules").index(index), self.errors);
        }
        self.one_of("failurePolicy", webhook.failure_policy.as_deref(), &["Fail", "Ignore"]);
        self.one_of("matchPolicy", webhook.match_policy.as_deref(), &["Equivalent", "Exact"]);
        self.side_effects();
        if let Some(seconds) = webhook.timeout_seconds.filter(|it| !(1..=30).contains(it)) {
            let detail = "the timeout value must be between 1 and 30 seconds";
            self.errors.push(FieldError::invalid(self.at("timeoutSeconds"), seconds, detail));
        }
        for (name, selector) in [
            ("namespaceSelector", &webhook.namespace_selector),
            ("objectSelector", &webhook.object_selector),
        ] {
            if let Some(selector) = selector {
                let tolerates = self.tolerance.label_values;
                let errors = selector.validate_for(&self.at(name), self.kubernetes, tolerates);
                self.errors.extend(errors);
            }
        }
        if kind == ConfigurationKind::Mutating {
            let policy = webhook.reinvocation_policy.as_deref();
            self.one_of("reinvocationPolicy", policy, &["IfNeeded", "Never"]);
        }
        let wording = self.kubernetes.wording();
        let path = self.at("clientConfig");
        validate_client_config(&webhook.client_config, &path, wording, self.errors);
        if !self.tolerance.all_conditions {
            self.conditions();
        }
        self.review_versions();
    }

    fn at(&self, name: &str) -> FieldPath {
        self.path.clone().name(name)
    }

    /// WCF-30.
    fn name(&mut self) {
        let (path, name) = (self.at("name"), self.webhook.name.as_str());
        if name.is_empty() {
            self.errors.push(FieldError::required(path, ""));
            return;
        }
        let messages = dns1123_subdomain(name);
        if !messages.is_empty() {
            self.errors.push(FieldError::invalid(path, name, &messages.join(",")));
        } else if name.split('.').count() < 3 {
            let detail = "should be a domain with at least three segments separated by dots";
            self.errors.push(FieldError::invalid(path, name, detail));
        }
    }

    /// A text that is there must be one of a few.
    fn one_of(&mut self, name: &str, value: Option<&str>, supported: &[&str]) {
        if let Some(value) = value.filter(|value| !supported.contains(value)) {
            self.errors.push(not_supported(self.at(name), value, supported));
        }
    }

    /// WCF-48, WCF-49.
    fn side_effects(&mut self) {
        let supported = match self.tolerance.any_side_effects {
            true => ALL_SIDE_EFFECTS.as_slice(),
            false => &STRICT_SIDE_EFFECTS,
        };
        let side_effects = self.webhook.side_effects.as_deref();
        if side_effects.is_none() {
            let detail = format!("must specify one of {}", supported.join(", "));
            self.errors.push(FieldError::required(self.at("sideEffects"), &detail));
        }
        self.one_of("sideEffects", side_effects, supported);
    }

    /// WCF-73 to WCF-75.
    fn conditions(&mut self) {
        let check = |written: &str, trimmed: &str| self.tolerance.check(written, trimmed);
        let conditions = &self.webhook.match_conditions;
        let errors =
            validate_conditions(conditions, &self.at("matchConditions"), self.kubernetes, &check);
        self.errors.extend(errors);
    }

    /// WCF-80 to WCF-83.
    fn review_versions(&mut self) {
        let path = self.at("admissionReviewVersions");
        let versions = self.webhook.admission_review_versions.as_deref().unwrap_or_default();
        if versions.is_empty() {
            let detail = format!("must specify one of {}", RECOGNIZED_VERSIONS.join(", "));
            self.errors.push(FieldError::required(path, &detail));
            return;
        }
        let mut seen = BTreeSet::new();
        for (index, version) in versions.iter().enumerate() {
            let path = path.clone().index(index);
            let version = version.as_str();
            if seen.insert(version) {
                push_invalid(self.errors, &path, version, &dns1035_label(version));
            } else {
                self.errors.push(FieldError::invalid(path, version, "duplicate version"));
            }
        }
        let is_known = RECOGNIZED_VERSIONS.iter().any(|version| seen.contains(version));
        if !is_known && !self.tolerance.unknown_review_versions {
            let detail = format!("must include at least one of {}", RECOGNIZED_VERSIONS.join(", "));
            self.errors.push(FieldError::invalid(path, versions.to_vec(), &detail).of_strings());
        }
    }
}
