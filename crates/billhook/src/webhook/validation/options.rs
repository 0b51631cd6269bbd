//! The options of validation: the stored configuration, which
//! may be wrong already (WCF-90 to WCF-95), old versions (WCF-15), a checker of expressions.

use std::collections::BTreeSet;
use std::fmt;

use billhook_apimachinery::{FieldPath, KubernetesVersion, message_error};
use billhook_cel::Libraries;

use super::{RECOGNIZED_VERSIONS, STRICT_SIDE_EFFECTS};
use crate::webhook::condition_program::compile;
use crate::webhook::configuration::{ConfigurationVersion, Webhook, WebhookConfiguration};

message_error! {
    /// The error in an expression, e.g. `compilation failed: …` or `must evaluate to bool but
    /// got int` (WCF-74).
    pub struct ExpressionError;
}

/// Compiles the expressions of match conditions, to say whether they are legal. New methods will
/// have defaults.
pub trait ExpressionChecker {
    /// Checks an expression (WCF-74) that may use some libraries (WCF-76).
    fn check(&self, expression: &str, libraries: Libraries) -> Result<(), ExpressionError>;
}

/// How a configuration is validated.
#[derive(Clone, Copy, Default)]
#[non_exhaustive]
pub struct ValidationOptions<'o> {
    /// The stored configuration that this one replaces; what is wrong there already may stay.
    pub(crate) stored: Option<&'o WebhookConfiguration>,
    /// Whether the rules are those that servers had for v1beta1: all four classes of side effects
    /// and repeated names are accepted (WCF-15). By default they are for v1beta1 documents.
    pub(crate) legacy: Option<bool>,
    /// Compiles expressions, in place of what a server of this version does.
    pub(crate) expressions: Option<&'o dyn ExpressionChecker>,
}

impl<'o> ValidationOptions<'o> {
    /// The options for an update of a stored configuration.
    #[must_use]
    pub fn stored(mut self, stored: &'o WebhookConfiguration) -> Self {
        self.stored = Some(stored);
        self
    }

    /// The options with or without the rules for v1beta1.
    #[must_use]
    pub fn legacy(mut self, legacy: bool) -> Self {
        self.legacy = Some(legacy);
        self
    }

    /// The options with a checker of expressions.
    #[must_use]
    pub fn expressions(mut self, checker: &'o dyn ExpressionChecker) -> Self {
        self.expressions = Some(checker);
        self
    }
}

impl fmt::Debug for ValidationOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ValidationOptions")
            .field("stored", &self.stored)
            .field("legacy", &self.legacy)
            .field("expressions", &self.expressions.is_some())
            .finish()
    }
}

/// The effect of the options on one configuration.
pub(super) struct Tolerance<'o> {
    pub(super) any_side_effects: bool,
    pub(super) repeated_names: bool,
    pub(super) unknown_review_versions: bool,
    pub(super) label_values: bool,
    pub(super) all_conditions: bool,
    stored_expressions: BTreeSet<&'o str>,
    checker: Option<&'o dyn ExpressionChecker>,
    kubernetes: KubernetesVersion,
}

impl<'o> Tolerance<'o> {
    pub(super) fn new(new: &WebhookConfiguration, options: &ValidationOptions<'o>) -> Self {
        let legacy = options.legacy.unwrap_or(new.version == ConfigurationVersion::V1beta1);
        let stored = options.stored.map_or(&[][..], |stored| &stored.webhooks);
        let conditions = stored.iter().flat_map(|webhook| &webhook.match_conditions);
        Tolerance {
            any_side_effects: legacy || !stored.iter().all(has_strict_side_effects),
            repeated_names: legacy || has_repeated_names(stored),
            unknown_review_versions: !stored.iter().all(has_recognized_version),
            label_values: stored.iter().any(has_invalid_selector),
            all_conditions: options.stored.is_some() && same_conditions(stored, &new.webhooks),
            stored_expressions: conditions.map(|each| each.expression.as_str()).collect(),
            checker: options.expressions,
            kubernetes: new.kubernetes,
        }
    }

    /// Checks an expression.
    pub(super) fn check(&self, written: &str, trimmed: &str) -> Result<(), ExpressionError> {
        let libraries = match self.stored_expressions.contains(written) {
            true => Libraries::Full,
            false => Libraries::Compatible,
        };
        match self.checker {
            Some(checker) => checker.check(trimmed, libraries),
            None => Ok(compile(trimmed, self.kubernetes, libraries, false).map(|_| ())?),
        }
    }
}

/// WCF-91.
fn has_strict_side_effects(webhook: &Webhook) -> bool {
    let side_effects = webhook.side_effects.as_deref();
    side_effects.is_some_and(|class| STRICT_SIDE_EFFECTS.contains(&class))
}

/// WCF-92; an empty list is not a violation.
fn has_recognized_version(webhook: &Webhook) -> bool {
    let versions = webhook.admission_review_versions.as_deref().unwrap_or_default();
    versions.is_empty()
        || versions.iter().any(|version| RECOGNIZED_VERSIONS.contains(&version.as_str()))
}

/// WCF-93.
fn has_repeated_names(webhooks: &[Webhook]) -> bool {
    let mut seen = BTreeSet::new();
    let mut names = webhooks.iter().map(|webhook| webhook.name.as_str());
    !names.all(|name| name.is_empty() || seen.insert(name))
}

/// WCF-95.
fn has_invalid_selector(webhook: &Webhook) -> bool {
    let mut selectors = [&webhook.namespace_selector, &webhook.object_selector].into_iter();
    selectors.any(|selector| {
        let errors = selector.as_ref().map(|selector| selector.validate(&FieldPath::default()));
        errors.is_some_and(|errors| !errors.is_empty())
    })
}

/// WCF-90.
fn same_conditions(stored: &[Webhook], new: &[Webhook]) -> bool {
    let conditions = |webhooks: &'_ [Webhook]| -> Vec<_> {
        webhooks.iter().map(|webhook| webhook.match_conditions.clone()).collect()
    };
    conditions(stored) == conditions(new)
}
