//! Match conditions as they are watched: what each evaluation came to and how long it took
//! (OB-06, OB-08).

use std::cell::RefCell;

use billhook::webhook::{ConditionInput, ConditionResult, MatchCondition, MatchConditions};

/// What the conditions of one webhook came to.
pub(crate) type Results = Result<Vec<ConditionResult>, String>;

/// An evaluator whose results are remembered.
pub(crate) struct Remembering<'c> {
    inner: &'c dyn MatchConditions,
    results: RefCell<Option<Results>>,
}

impl<'c> Remembering<'c> {
    pub(crate) fn new(inner: &'c dyn MatchConditions) -> Self {
        Remembering { inner, results: RefCell::new(None) }
    }

    /// The last results, if there was an evaluation.
    pub(crate) fn into_results(self) -> Option<Results> {
        self.results.into_inner()
    }
}

impl MatchConditions for Remembering<'_> {
    fn evaluate(&self, conditions: &[MatchCondition], input: &ConditionInput<'_>) -> Results {
        let results = self.inner.evaluate(conditions, input);
        *self.results.borrow_mut() = Some(results.clone());
        results
    }
}
