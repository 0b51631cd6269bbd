//! The expressions of a stored definition (CV-91).

use std::collections::BTreeSet;
use std::sync::Arc;

use billhook_apimachinery::KubernetesVersion;
use billhook_regex::Patterns;

use crate::language::Libraries;

/// The texts of the rules and message expressions of a stored definition: wherever they stand in a
/// new one, they may use all libraries of the server (CV-91). Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredExpressions {
    rules: Arc<BTreeSet<Box<str>>>,
    message_expressions: Arc<BTreeSet<Box<str>>>,
}

impl StoredExpressions {
    /// Collects the texts of rules, each with its message expression.
    pub fn new<'t>(rules: impl IntoIterator<Item = (&'t str, &'t str)>) -> Self {
        let texts = rules.into_iter().map(|(rule, message)| (Box::from(rule), Box::from(message)));
        let (rules, message_expressions): (BTreeSet<_>, BTreeSet<_>) = texts.unzip();
        StoredExpressions {
            rules: Arc::new(rules),
            message_expressions: Arc::new(message_expressions),
        }
    }
}

/// How the rules of a schema are compiled.
#[derive(Clone, Copy)]
pub(crate) struct RuleOptions<'o> {
    pub(crate) kubernetes: KubernetesVersion,
    /// The expressions that are stored; all of them if it is none.
    pub(crate) stored: Option<&'o StoredExpressions>,
    /// The patterns of all rules, which share memory.
    pub(crate) patterns: &'o Patterns,
}

impl RuleOptions<'_> {
    pub(super) fn rule(&self, text: &str) -> Libraries {
        self.libraries(|stored| stored.rules.contains(text))
    }

    pub(super) fn message_expression(&self, text: &str) -> Libraries {
        self.libraries(|stored| stored.message_expressions.contains(text))
    }

    fn libraries(&self, is_stored: impl FnOnce(&StoredExpressions) -> bool) -> Libraries {
        match self.stored.is_none_or(is_stored) {
            true => Libraries::Full,
            false => Libraries::Compatible,
        }
    }
}
