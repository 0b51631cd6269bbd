//! Places without a proof.

use billhook::FieldPath;
use billhook_schema::JsonSchemaProps;
use billhook_schema::props::ValidationRule;

use super::attempt::Attempt;

/// The aspects that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Requests: values, pruning and defaults.
    Writes,
    /// Reads by clients that ignore unknown fields: values only.
    Reads,
}

/// The effect of an obstacle on stored objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoredEffect {
    /// Nothing that is stored is lost or refused.
    None,
    /// A violation is forgiven as long as it stays as it is (VV-80).
    Forgiven,
    /// It is not known.
    Open,
}

/// A place without a proof.
#[derive(Clone, Debug)]
pub(crate) struct Obstacle<'s> {
    pub(crate) path: FieldPath,
    pub(crate) keyword: &'static str,
    pub(crate) change: String,
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) stored: StoredEffect,
    /// The node that admits the value, and the one that may not.
    pub(crate) nodes: (&'s JsonSchemaProps, &'s JsonSchemaProps),
    /// The places of the nodes in their schemas.
    pub(crate) places: (FieldPath, FieldPath),
}

/// The keyword of an obstacle that stands for all that was not looked at.
const REST: &str = "";

impl<'s> Obstacle<'s> {
    /// Stands for the changes of two schemas beyond so many.
    pub(super) fn rest(nodes: (&'s JsonSchemaProps, &'s JsonSchemaProps), beyond: usize) -> Self {
        Obstacle {
            path: FieldPath::default(),
            keyword: REST,
            change: format!("more than {beyond} changes"),
            attempts: Vec::new(),
            stored: StoredEffect::Open,
            nodes,
            places: Default::default(),
        }
    }

    /// Whether it stands for all that was not looked at.
    pub(crate) fn is_rest(&self) -> bool {
        self.keyword == REST
    }

    /// The rule that may be violated, if it is about one.
    pub(crate) fn rule(&self) -> Option<&'s ValidationRule> {
        let Some(Attempt::Rule(index)) = self.attempts.first() else { return None };
        self.nodes.1.validations.as_ref()?.get(*index)
    }
}
