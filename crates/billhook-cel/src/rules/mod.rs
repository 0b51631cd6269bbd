//! The rules of a schema (`x-kubernetes-validations`), compiled, and their evaluation (CE-01 to
//! CE-51).

mod rule;
mod run;
mod stored;
mod tree;

use std::sync::Arc;

use billhook_apimachinery::{FieldError, FieldPath};
use billhook_schema::JsonSchemaProps;
use billhook_validation::Validator;
use serde_json::Value;

use crate::language::Branch;

pub(crate) use rule::Rule;
pub(crate) use run::Run;
pub use stored::StoredExpressions;
pub(crate) use tree::{Node, RuleTree, Types};

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
    notes_verdicts: bool,
}

/// The findings of the rules.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RuleFindings {
    /// The errors, in the server's order, with the members of an object in the order of their
    /// keys.
    pub errors: Vec<FieldError>,
    /// Errors of before in unchanged parts: the server warns (CE-50).
    pub warnings: Vec<String>,
    /// The cost of the evaluation (CE-35).
    pub cost: u64,
    /// Whether a limit of cost ended the evaluation before its end (CE-35).
    pub is_exhausted: bool,
    /// The verdicts of the rules that were evaluated, each once for all values of a schema, if they
    /// were asked for.
    pub verdicts: Vec<RuleVerdict>,
}

/// The verdict of a rule on values of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuleVerdict {
    /// The path of the schema that has the rule.
    pub schema_path: FieldPath,
    /// The position among the rules of the schema.
    pub rule: usize,
    /// Whether the values keep the rule.
    pub is_kept: bool,
    /// How often the branches of the rule were true and false on the way.
    pub branches: Vec<Branch>,
    /// How often the branches of the message expression were true and false; none if it never gave a
    /// message.
    pub message_branches: Option<Vec<Branch>>,
}

impl Rules {
    /// Compiles the rules of a structural schema, of which `validator` is made too; none if it has
    /// no rules.
    pub fn new(schema: &JsonSchemaProps, validator: &Validator) -> Option<Self> {
        let tree = RuleTree::new(validator.schema(), schema, Types::FromTop, None)?.into();
        Some(Rules { tree, validator: validator.clone(), notes_verdicts: false })
    }

    /// Returns the rules that also report their [`RuleFindings::verdicts`].
    #[must_use]
    pub fn with_verdicts(&self) -> Self {
        Rules { notes_verdicts: true, ..self.clone() }
    }

    fn run(&self, budget: u64) -> Run<'_> {
        let run = Run::new(&self.tree, &self.validator, budget);
        if self.notes_verdicts { run.noting_verdicts() } else { run }
    }

    /// Evaluates the rules for an object, and for an update with the object it replaces.
    /// `budget` is what it may cost.
    pub fn check(&self, object: &Value, old: Option<&Value>, budget: u64) -> RuleFindings {
        let root = self.tree.schema().root();
        self.run(budget).top(root, object, old, &FieldPath::default())
    }

    /// Like [`Rules::check`], but what was wrong before and has not changed is an error too, as for
    /// the status on old servers (KV-80).
    pub fn check_all(&self, object: &Value, old: Option<&Value>, budget: u64) -> RuleFindings {
        let root = self.tree.schema().root();
        self.run(budget).strict().top(root, object, old, &FieldPath::default())
    }
}

impl std::fmt::Debug for Rules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rules").field("rules", &self.tree.rule_count()).finish_non_exhaustive()
    }
}
