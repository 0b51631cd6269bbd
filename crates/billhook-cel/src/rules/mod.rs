//! The rules of a schema (`x-kubernetes-validations`), compiled, and their evaluation (CE-01 to
//! CE-51).

mod rule;
mod run;
mod tree;

use std::sync::Arc;

use billhook_apimachinery::{FieldError, FieldPath};
use billhook_schema::JsonSchemaProps;
use billhook_validation::Validator;
use serde_json::Value;

pub(crate) use rule::Rule;
use run::Run;
pub(crate) use tree::{NodeId, RuleTree, Types};

/// The limit of cost for all rules of an object (CE-35).
pub const BUDGET: u64 = 10_000_000;

/// The limit of cost for one evaluation (CE-35).
pub const CALL_LIMIT: u64 = 1_000_000;

/// The rules of a schema, ready to be evaluated. Immutable, cheap to clone, and free to share
/// between threads.
#[derive(Clone)]
pub struct Rules {
    tree: Arc<RuleTree>,
    validator: Validator,
}

/// What the rules found.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RuleFindings {
    /// What is wrong, in the server's order, with the members of an object in the order of their
    /// keys.
    pub errors: Vec<FieldError>,
    /// What was wrong before and has not changed: the server warns (CE-50).
    pub warnings: Vec<String>,
    /// What the evaluation cost (CE-35).
    pub cost: u64,
    /// Whether a limit of cost ended the evaluation before its end (CE-35).
    pub is_exhausted: bool,
}

impl Rules {
    /// Compiles the rules of a structural schema, of which `validator` is made too; none if it has
    /// no rules.
    pub fn new(schema: &JsonSchemaProps, validator: &Validator) -> Option<Self> {
        let tree = RuleTree::new(schema, Types::FromTop)?.into();
        Some(Rules { tree, validator: validator.clone() })
    }

    /// Evaluates the rules for an object, and for an update with the object it replaces.
    /// `budget` is what it may cost.
    pub fn check(&self, object: &Value, old: Option<&Value>, budget: u64) -> RuleFindings {
        let root = (self.tree.root(), &self.validator);
        Run::new(&self.tree, budget).top(root, object, old, &FieldPath::default())
    }
}

impl RuleTree {
    /// Evaluates the rules at and below a node for a default that stands there (DF-45): first as
    /// one that has not changed, then as a new one. `steps` leads to the node from the top: names
    /// of properties, or none for the elements of a list. There are no warnings; the cost is that
    /// of the more expensive evaluation.
    pub(crate) fn check_default(
        &self,
        (steps, validator): (&[Option<&str>], &Validator),
        default: &Value,
        at: &FieldPath,
        budget: u64,
    ) -> RuleFindings {
        let step = |id, step: &Option<&str>| match step {
            Some(name) => self.node(id).properties.get(*name).copied(),
            None => self.node(id).items,
        };
        let Some(id) = steps.iter().try_fold(self.root(), step) else {
            return RuleFindings::default();
        };
        let check = |old| Run::new(self, budget).strict().top((id, validator), default, old, at);
        let unchanged = check(Some(default));
        if !unchanged.errors.is_empty() {
            return unchanged;
        }
        let new = check(None);
        RuleFindings { cost: new.cost.max(unchanged.cost), ..new }
    }
}

impl std::fmt::Debug for Rules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rules").field("rules", &self.tree.rule_count()).finish_non_exhaustive()
    }
}
