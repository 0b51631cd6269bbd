//! The rules in CEL that the defaults of a schema obey (DF-45).

use std::cell::LazyCell;

use billhook_apimachinery::FieldPath;
use billhook_cel::rules::{BUDGET, RuleFindings, Rules};
use billhook_schema::StructuralSchema;
use billhook_validation::Validator;
use serde_json::Value;

type Compile<'s> = Box<dyn FnOnce() -> Option<Rules> + 's>;

/// The rules of a schema for its own defaults, with one budget for all of them. They are compiled
/// when a default needs them.
pub(crate) struct DefaultRules<'s> {
    rules: LazyCell<Option<Rules>, Compile<'s>>,
    budget: u64,
}

impl<'s> DefaultRules<'s> {
    pub(crate) fn new(schema: &'s StructuralSchema) -> Self {
        let compile = || Rules::new(schema.root(), &Validator::new(schema.root()));
        DefaultRules { rules: LazyCell::new(Box::new(compile)), budget: BUDGET }
    }

    /// The errors of the rules at a node and below. `steps` lead from the top of the schema to the
    /// node: the name of a property, or none for the elements of a list.
    pub(crate) fn check(
        &mut self,
        steps: &[Option<&str>],
        default: &Value,
        at: &FieldPath,
    ) -> RuleFindings {
        let Some(rules) = &*self.rules else { return RuleFindings::default() };
        let found = rules.check_default(steps, default, at, self.budget);
        self.budget = self.budget.saturating_sub(found.cost);
        found
    }
}
